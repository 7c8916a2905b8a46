"""How good partitions are, on labelled tables."""
