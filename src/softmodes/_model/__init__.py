"""The outcome: a frozen value, its file, what marks a cluster."""
