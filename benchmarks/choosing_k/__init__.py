"""How often the number of groups is found, and how often groups are seen where there are none."""
