"""Where the rows live: every store runs the same tasks on its blocks and adds what they return."""

from softmodes.stores.base import RowStore
from softmodes.stores.memory import MemoryStore

__all__ = ["MemoryStore", "RowStore"]
