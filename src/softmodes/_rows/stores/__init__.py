"""Where the rows live: every store runs the same tasks on its blocks and adds what they return."""

from softmodes._rows.stores.base import RowStore
from softmodes._rows.stores.memory import MemoryStore

__all__ = ["MemoryStore", "RowStore"]
