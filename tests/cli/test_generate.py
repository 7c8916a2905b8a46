import numpy as np
import pytest
from pyarrow import csv, parquet

from command import refused, softmodes
from softmodes.datasets import make_bbm, make_ccm, make_survey


def columns(table):
    return np.column_stack([column.to_numpy() for column in table.columns])


def test_files_hold_what_python_draws(tmp_path):
    out = tmp_path / "words.parquet"
    drawn = ["ccm", "-n", 30, "-d", 8, "-k", 3, "--eps", 0.1, "--seed", 4, "--planted", "y"]
    softmodes("generate", *drawn, "--out", out)
    X, y = make_ccm(30, 8, 3, eps=0.1, random_state=4)
    np.testing.assert_array_equal(columns(parquet.read_table(out)), np.column_stack([X, y]))
    drawn = ["bbm", "-n", 30, "-d", 8, "-k", 2, "--inside", 0.9, "--seed", 4]
    softmodes("generate", *drawn, "--force", "--out", out)
    X, _ = make_bbm(30, 8, [[0.9, 0.2], [0.2, 0.9]], random_state=4)
    np.testing.assert_array_equal(columns(parquet.read_table(out)), X)


def test_a_survey_has_what_surveys_have(tmp_path):
    out = tmp_path / "survey.csv"
    printed = softmodes("generate", "survey", "-n", 50, "--out", out).stdout
    assert printed == f"50 rows, 119 columns.\nWritten: {out}\n"
    X, _ = make_survey(50, backend="pyarrow", random_state=0)
    assert csv.read_csv(out).column_names == X.column_names
    assert "exists. Pass --force" in refused("generate", "survey", "-n", 50, "--out", out)


def test_standard_output_has_the_table_alone():
    result = softmodes("generate", "ccm", "-n", 5, "-d", 3, "-k", 2, "--out", "-")
    assert result.stdout.splitlines()[0] == '"x0","x1","x2"'
    assert len(result.stdout.splitlines()) == 6
    assert result.stderr == "5 rows, 3 columns.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ccm", "--eps", "2"], "eps=2.0 is not a number from 0 to 1"),
        (["bbm", "--inside", "-1"], "P[0, 0]=-1.0 is not a probability"),
        (["survey", "-n", "3", "-k", "4"], "n_clusters=4 is more than n_samples=3"),
    ],
)
def test_mistakes_are_one_line_with_a_remedy(tmp_path, arguments, message):
    assert message in refused("generate", *arguments, "--out", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
