"""Imported once by the server that children are forked from."""

from tools.mutation.child import warm

warm()
