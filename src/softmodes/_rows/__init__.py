"""Packed rows, and passes over them."""
