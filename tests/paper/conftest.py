import time

import pytest

from softmodes._paper import chosen
from softmodes._paper.results import ResultsFile, read_folder
from softmodes._paper.runner import pending, run


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The records of everything at small size, and the seconds it took."""
    folder = tmp_path_factory.mktemp("small")
    start = time.perf_counter()
    with ResultsFile(folder / "small.jsonl") as results:
        run(pending(chosen(["all"]), "small", results.done), results)
    return read_folder(folder, "small"), time.perf_counter() - start
