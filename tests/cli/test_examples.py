"""Every example that a command's help shows is run."""

import shlex

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from command import softmodes
from softmodes._cli.main import app
from softmodes.datasets import make_ccm


def examples():
    registered = [
        *app.registered_commands,
        *(
            one
            for group in app.registered_groups
            for one in group.typer_instance.registered_commands
        ),
    ]
    return [line for one in registered for line in getattr(one.callback, "examples", ())]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a survey and a model of it, as the examples call them."""
    folder = tmp_path_factory.mktemp("made")
    X, y = make_ccm(120, 10, 4, eps=0.05, random_state=1)
    table = pa.table(
        {
            "RespId": np.arange(120) + 1000,
            "weight": 0.5 + np.arange(120) / 119,
            "age": 20 + 37 * np.arange(120) % 50,
            "region": np.array(["north", "south", "east", "west"])[y],
            **{f"q{j}": column.astype(int) for j, column in enumerate(X.T)},
        }
    )
    csv.write_csv(table, folder / "survey.csv")
    csv.write_csv(table, folder / "new.csv")
    softmodes("fit", folder / "survey.csv", "--save", folder / "survey.softmodes")
    return folder


def test_every_command_shows_examples():
    shown = {line.split()[1] for line in examples()}
    commands = {one.name or one.callback.__name__ for one in app.registered_commands}
    assert shown == commands | {"generate"}


@pytest.mark.parametrize("line", examples())
def test_an_example_of_the_help_runs(line, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    program, *arguments = shlex.split(line)
    assert program == "softmodes"
    if "--save" in arguments:
        (tmp_path / "survey.softmodes").unlink()
    result = softmodes(*arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout
