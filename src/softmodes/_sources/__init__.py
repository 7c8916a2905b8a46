"""Where tables come from that are not in memory: streams of Arrow batches in a fixed order."""

from softmodes._sources.open import is_in_memory, is_read_from, open_source
from softmodes._sources.source import Source

__all__ = ["Source", "is_in_memory", "is_read_from", "open_source"]
