"""Where the rows live: every store runs the same tasks on its blocks and adds what they return."""

from softmodes._rows.stores.base import RowStore
from softmodes._rows.stores.memory import MemoryStore, some_rows
from softmodes._rows.stores.open import Opened, open_store

__all__ = ["MemoryStore", "Opened", "RowStore", "open_store", "some_rows"]
