"""How many clusters a table has, and whether to trust them."""
