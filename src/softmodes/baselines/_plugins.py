"""Methods of users: modules and files that register them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path

from softmodes.baselines._registry import names

_plugin_of: dict[str, str] = {}  # by the names of the methods that this process got from plugins


def load_methods(plugins: Iterable[str]) -> list[str]:
    """Import modules, or files ending in .py, and return the names of methods they registered."""
    before = set(names())
    for plugin in plugins:
        known = set(names())
        _import(plugin)
        _plugin_of.update(dict.fromkeys(set(names()) - known, plugin))
    return [name for name in names() if name not in before]


def plugin_failure(name: str, doing: str, error: Exception) -> ValueError | None:
    """Return what to say if a method failed that came from a plugin, None if it did not."""
    return _failure(_plugin_of[name], doing, error) if name in _plugin_of else None


def _failure(plugin: str, doing: str, error: Exception) -> ValueError:
    return ValueError(
        f"plugin={plugin!r} raised {type(error).__name__} {doing}: {error}. Mend the plugin and "
        "run again: what is done is kept."
    )


def _import(plugin: str) -> None:
    if plugin.endswith(".py") and not Path(plugin).is_file():
        raise ValueError(f"plugin={plugin!r} is not a file. Pass a .py file or a module's name.")
    try:
        if plugin.endswith(".py"):
            _run_file(Path(plugin))
        else:
            importlib.import_module(plugin)
    except Exception as error:
        raise _failure(plugin, "when imported", error) from error


def _run_file(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None  # a .py file always has a loader
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
