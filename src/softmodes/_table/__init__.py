"""Any table <-> codes."""
