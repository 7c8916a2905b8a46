from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import softmodes

MODULES = [
    module.name
    for module in pkgutil.walk_packages(softmodes.__path__, "softmodes.")
    if not module.name.endswith("._core")
]


ENGINES = {"dask": "dask", "spark": "pyspark", "frames": "pyspark"}  # of modules that need one


@pytest.mark.parametrize("name", ["softmodes", *MODULES])
def test_examples_in_docstrings_run(name):
    if name.startswith("softmodes._rows.stores."):
        pytest.importorskip(ENGINES.get(name.rpartition(".")[2], "softmodes"))
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_public_classes_have_examples():
    finder = doctest.DocTestFinder(recurse=False)
    for name in softmodes.__all__:
        tests = finder.find(getattr(softmodes, name), name)
        assert name == "load" or tests[0].examples
