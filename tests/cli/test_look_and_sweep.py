import json

import pytest
from pyarrow import csv

from command import refused, softmodes
from softmodes import Prepare, advise, sweep
from softmodes.datasets import make_survey


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A file of a small survey, and the table in it."""
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    csv.write_csv(make_survey(200, 3, clarity=0.8, backend="pyarrow", random_state=0)[0], path)
    options = csv.ConvertOptions(strings_can_be_null=True, null_values=["NA"])
    return path, csv.read_csv(path, convert_options=options)


def test_look_tells_what_was_read_and_what_is_done(survey):
    path, table = survey
    first, *lines = softmodes("look", path).stdout.splitlines()
    assert first.startswith('200 rows, 119 columns. comma, utf-8. "NA" read as missing (')
    assert lines == str(advise(table, missing="ignore")).splitlines()[1:]
    assert any("such cells are ignored" in line for line in lines)


def test_look_follows_wishes(survey):
    path, _ = survey
    wishes = ["--id", "RespId", "--weight", "weight", "--as", "age=bands:3", "--drop", "A1,A2"]
    printed = softmodes("look", path, *wishes, "--missing", "category", "--describe", "region")
    lines = [" ".join(line.split()) for line in printed.stdout.splitlines()]
    assert "left out RespId carried along, not clustered" in lines
    assert "left out weight weighs the rows" in lines
    assert "left out A1 as asked" in lines
    assert "left out region shown by group, not clustered" in lines
    assert any(line.startswith("banded age") and "3 bands" in line for line in lines)
    assert not any("such cells are ignored" in line for line in lines)


def test_look_as_json_has_a_line_for_each_column(survey):
    path, table = survey
    found = json.loads(softmodes("look", path, "--json").stdout)
    assert found["rows"] == 200
    assert [line["column"] for line in found["columns"]] == table.column_names
    assert found["missing"] == "ignore"
    assert "RespId" not in found["used"]


def test_one_more_word_for_no_answer(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "refused,1\nyes,-99\nno,2\n" * 10)
    printed = softmodes("look", path, "--na", "refused", "--na", "-99").stdout
    assert '"-99" and "refused" read as missing (20 cells).' in printed


def test_names_with_commas_and_equal_signs_are_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"last, first","a=b",c\n' + "x,1,2\ny,2,1\n" * 10)
    printed = softmodes("look", path, "--drop", "last, first", "--as", "a=b=text").stdout
    assert "1 of 3 columns is used" in printed
    assert "left out   last, first   as asked" in printed
    assert "left out   a=b           text, as asked" in printed


def test_sweep_prints_the_sweep_of_python_under_the_advice(survey):
    path, table = survey
    printed = softmodes("sweep", path, "-k", "2:4", "--seed", 3).stdout
    prepare = Prepare(missing="ignore").fit(table)
    expected = sweep(
        prepare.transform(table),
        (2, 4),
        missing="ignore",
        feature_weight=prepare.feature_weight_,
        random_state=3,
    )
    advice, found = printed.split("\n\n")
    assert "left out   RespId" in advice
    assert found == f"{expected}\n"
    assert softmodes("sweep", path, "-k", "2:4", "--seed", 3, "--quiet").stdout == f"{expected}\n"


def test_sweep_takes_several_t_and_prints_json(survey):
    path, _ = survey
    arguments = ["sweep", path, "-k", 3, "-t", "2, inf", "--json"]
    found = json.loads(softmodes(*arguments).stdout)
    assert [one["t"] for one in found] == [2.0, None]  # infinity is no number of JSON
    assert [one["pick"] for one in found] == [3, 3]
    assert [row["k"] for row in found[0]["tried"]] == [3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "1:3"], "k=(1, 3) must hold numbers from 2 on"),
        (["-t", "0"], "t=0.0 is not a number >= 1."),
        (["--only", "nothing"], "only names column 'nothing', which the table does not have."),
        (["--delimiter", "ab"], "delimiter='ab' is not one ASCII sign"),
        (["--encoding", "nonsense"], "encoding='nonsense' is unknown."),
    ],
)
def test_mistakes_are_one_line_with_a_remedy(survey, arguments, message):
    assert message in refused("sweep", survey[0], *arguments)


@pytest.mark.parametrize("given", ["age", "bands:5"])
def test_a_treatment_without_a_column_is_a_wrong_option(survey, given):
    result = softmodes("look", survey[0], "--as", given)
    assert result.exit_code == 2
    assert "names no treatment" in " ".join(result.stderr.split())


def test_a_file_is_read_as_it_is_told_to_be(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,5;a\n" + "2,5;b\n3,5;a\n" * 10)
    told = ["--no-header", "--delimiter", "semicolon", "--decimal", ","]
    printed = softmodes("look", path, *told, "--keep", "column 1").stdout
    assert printed.startswith("21 rows, 2 columns. semicolon, utf-8.")
    assert '"column 1" to "column 2"' in printed
