import importlib
import os
import subprocess
import sys

import pytest

from command import softmodes
from softmodes import __version__

COMMAND = """
import sys
from softmodes._cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
FOR_EXPERIMENTS = {
    *("softmodes._paper", "softmodes._compare", "softmodes.baselines"),
    *("matplotlib", "jinja2"),
}


def loaded_by(*arguments):
    """Run the command in a process of its own; return all modules that it imported."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["predict", "--help"], ["paper", "--help"]]
)
def test_help_waits_for_no_library_but_its_own(arguments):
    heavy = {"numpy", "scipy", "sklearn", "pyarrow", "narwhals", "pandas", "softmodes._kernels"}
    assert loaded_by(*arguments) & (FOR_EXPERIMENTS | heavy) == set()


def test_a_fit_does_not_wait_for_the_paper(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n1,2\n3,4\n")
    loaded = loaded_by("fit", path, "-k", 2)
    assert "softmodes._estimators" in loaded
    assert loaded & FOR_EXPERIMENTS == set()


def test_a_command_of_the_paper_imports_it():
    assert "softmodes._paper" in loaded_by("paper", "list")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_libraries_it_says_how_to_install_them(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "softmodes._cli.main", raising=False)
    with pytest.raises(SystemExit) as stopped:
        importlib.import_module("softmodes._cli.main")
    assert str(stopped.value) == (
        f'The softmodes command needs {missing}. Install it with: pip install "softmodes[cli]"'
    )


def test_the_version_is_that_of_the_package():
    assert softmodes("--version").stdout == f"softmodes {__version__}\n"


def test_completion_is_there_for_bash():
    done = subprocess.run(
        [sys.executable, "-m", "softmodes", "--show-completion", "bash"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_SOFTMODES_COMPLETE" in done.stdout


def test_standard_input_is_read_as_a_file_is(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n1,2\n3,4\n" * 10)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with path.open() as rows:
        done = subprocess.run(
            [sys.executable, "-m", "softmodes", "look", "-"],
            stdin=rows,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == softmodes("look", path).stdout


def test_a_wrong_option_is_no_fault_of_the_data():
    for arguments in (["fit"], ["fit", "x.csv", "--nonsense"], ["sweep", "x.csv", "-k", "many"]):
        assert softmodes(*arguments).exit_code == 2
    assert "Pass 4, say." in softmodes("fit", "x.csv", "-k", "many").stderr
