import time

import pytest

from softmodes._paper import chosen
from softmodes._paper.results import ResultsFile, read_folder
from softmodes._paper.runner import pending, run


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The records of everything at small size, and the seconds of processors that it took."""
    folder = tmp_path_factory.mktemp("small")
    start = time.process_time()
    with ResultsFile(folder / "small.jsonl") as results:
        run(pending(chosen(["all"]), "small", results.done), results)
    return read_folder(folder, "small"), time.process_time() - start
