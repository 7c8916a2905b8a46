"""The report as values: what it says agrees with the model, the rows and the sweep."""

import json
import re
from dataclasses import replace

import made_reports
import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyarrow.dataset import dataset
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

import softmodes
from softmodes import KModes, MiniBatchSoftModes, Prepare, SoftModes
from softmodes._choice.rule import Verdict
from softmodes._report.findings import Again, Swept, Tried, verdict_of
from softmodes._report.kept import KEY, findings_in
from softmodes._report.mapping import map_of
from softmodes._report.plain import from_plain, to_plain
from softmodes._report.shares import shares_of


@pytest.fixture(scope="module")
def report():
    return made_reports.survey_report()


@pytest.fixture(scope="module")
def model():
    return made_reports.survey()[-1]


# --- numbers -------------------------------------------------------------------------------------


def test_groups_have_the_sizes_names_and_stability_of_the_model(report, model):
    table, prepare, _, _ = made_reports.survey()
    groups = report.data.groups
    assert [group.rows for group in groups] == model.cluster_sizes_.tolist()
    assert [group.name for group in groups] == model.names_
    again = model.stability(prepare.transform(table))
    assert [group.found_again for group in groups] == again.by_cluster.tolist()


def test_marks_are_those_of_the_summary_and_of_the_profile(report, model):
    summary = model.summary(4).groups
    for group, told in zip(report.data.groups, summary, strict=True):
        assert [(m.column, m.value, m.share, m.overall) for m in group.marks] == [
            (m.feature, str(m.value), m.share, m.overall) for m in told.marks
        ]
    profile = model.profile()
    for group in report.data.groups:
        mine = profile[profile.cluster == group.number]
        for side, marks in (("more", group.more), ("less", group.less)):
            known = {
                (row.feature, row.value): (row.share, row.overall)
                for row in mine[mine.side == side].itertuples()
            }
            assert 0 < len(marks) <= 15
            assert all(known[m.column, m.value] == (m.share, m.overall) for m in marks)


def test_the_nearest_group_is_told_apart_by_the_largest_gaps(report, model):
    table, _, _, _ = made_reports.survey()
    labels = model.labels_
    for group in report.data.groups:
        gaps = []
        for row in group.differences:
            has = (table[row.column] == row.value).to_numpy()
            assert row.share == pytest.approx(has[labels == group.number].mean())
            assert row.other == pytest.approx(has[labels == group.nearest].mean())
            gaps.append(abs(row.share - row.other))
        assert gaps == sorted(gaps, reverse=True)
        assert len({row.column for row in group.differences}) == 5


def test_undecided_rows_are_those_of_a_small_margin_between_their_two_groups():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 6))
    model = SoftModes(3, random_state=0).fit(X)
    found = softmodes.report(model, X, sweep=False, small_cells=True).data
    margin, frame = model.margin(X), model.to_frame(X)
    unsure = margin < 0.1
    assert unsure.sum() > 20, "nothing tested"
    assert [bin.rows for bin in found.bins] == np.histogram(margin, np.arange(21) / 20)[0].tolist()
    for group in found.groups:
        mine = model.labels_ == group.number
        assert group.undecided == pytest.approx((unsure & mine).sum() / mine.sum())
    for pair in found.confused:
        both = {pair.group, pair.other}
        between = [{a, b} == both for a, b in zip(frame.group, frame.second, strict=True)]
        assert pair.rows == (unsure & np.array(between)).sum()
    assert sum(pair.rows for pair in found.confused) == unsure.sum()


def test_described_columns_are_counted_by_group_and_not_used(report, model):
    table, _, _, _ = made_reports.survey()
    described = {column.column: column.values for column in report.data.described}
    assert set(described) == {"age", "region"}
    assert len(described["age"]) == 5
    for row in described["region"]:
        has = (table.region == row.value).to_numpy()
        assert row.overall == pytest.approx(has.mean())
        assert row.shares == pytest.approx([has[model.labels_ == i].mean() for i in range(3)])
    assert not {"age", "region", "RespId"} & {row.column for row in report.data.importance}


def test_weights_count_everywhere():
    rng = np.random.default_rng(3)
    X, weight = rng.integers(0, 3, (200, 5)), rng.integers(1, 4, 200)
    weighed = SoftModes(2, random_state=0).fit(X, sample_weight=weight)
    repeated = np.repeat(X, weight, axis=0)
    again = SoftModes(2, random_state=0).fit(repeated)
    a = softmodes.report(weighed, X, sample_weight=weight, sweep=False, describe="x0").data
    b = softmodes.report(again, repeated, sweep=False, describe="x0").data
    assert a.findings.origin.weighted
    assert a.bins == b.bins
    assert a.confused == b.confused
    assert a.described == b.described
    assert a.values == b.values


def test_the_map_keeps_the_distances_between_groups_that_two_directions_can_show():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((900, 8)) < 0.7, rng.integers(0, 3, (3, 8))[np.arange(900) % 3], 0)
    model = SoftModes(3, random_state=0).fit(X)
    shares = shares_of(model._clustering, small_cells=True)
    found = map_of(model._clustering.tally.counts, shares)
    assert sum(found.shown) == pytest.approx(1)  # three groups lie in a plane
    scaled = shares.shares / np.sqrt(shares.overall * 8)
    for a in range(3):
        for b in range(3):
            there = np.linalg.norm(scaled[a] - scaled[b])
            assert np.linalg.norm(found.groups[a] - found.groups[b]) == pytest.approx(there)


def test_the_map_of_two_groups_is_a_line_and_of_equal_groups_nothing():
    X = [["a", "x"]] * 20 + [["b", "y"]] * 20
    two = softmodes.report(SoftModes(2, random_state=0).fit(X), X, sweep=False).data
    assert {place.y for place in two.map.places} == {0.0}
    same = SoftModes(2, random_state=0).fit([["a"]] * 20)
    assert softmodes.report(same, [["a"]] * 20, sweep=False).data.map is None


# --- words ---------------------------------------------------------------------------------------


def tried(k, verdict, other_80=0.9):
    numbers = dict.fromkeys(
        ("explained", "shuffled", "same_again", "smallest", "tied", "valley", "deciding_columns"),
        0.5,
    )
    return Tried(k=k, verdict=verdict, why="so.", other_80=other_80, **numbers)


@pytest.mark.parametrize("verdict", ["Solid", "Use with care", "Do not use"])
@pytest.mark.parametrize(
    ("again", "own"), [(0.9, "Solid"), (0.7, "Use with care"), (0.5, "Do not use")]
)
def test_a_model_is_trusted_as_its_number_of_groups_is_and_no_more_than_it_is_found(
    verdict, again, own
):
    found = Swept((tried(3, verdict),), 3, 3, 3, False, verdict, "so.", "So.")
    told = Again(again, (again,) * 3, 10)
    assert verdict_of(3, found, told, is_the_sweeps=True) == verdict
    order = ["Solid", "Use with care", "Do not use"]
    worse = max(verdict, own, key=order.index)
    assert verdict_of(3, found, told, is_the_sweeps=False) == worse
    assert verdict_of(3, None, told, is_the_sweeps=False) == max(
        "Use with care", own, key=order.index
    )


def test_a_model_of_more_groups_than_were_tried_is_judged_by_being_found_again():
    """The sweep fits it on demand, and knows nothing else of it."""
    X = np.random.default_rng(0).integers(0, 3, (120, 6))
    found = softmodes.sweep(X, k=(2, 3), random_state=0)
    assert softmodes.report(found.model(9), X, sweep=found).verdict == "Do not use"


def test_the_verdict_is_that_of_the_sweep(report):
    _, _, found, _ = made_reports.survey()
    assert found.pick == 3
    assert report.verdict == found.verdict == "Solid"
    assert report.headline == "3 groups among 400 people"
    assert [question.tone for question in report.data.questions] == ["good"] * 4


def test_a_table_without_groups_is_told_plainly():
    X = np.random.default_rng(0).integers(0, 3, (400, 8))
    found = softmodes.sweep(X, (2, 4), random_state=0)
    assert found.pick is None
    one = softmodes.report(found.model(1), X, sweep=found)
    assert one.headline == "No groups among 400 rows"
    assert one.verdict == "No groups"
    cut = softmodes.report(found.model(3), X, sweep=found)
    assert cut.headline == "No groups among 400 rows"
    assert cut.verdict == "Do not use"
    assert "cut into 3, as was asked for" in cut.sentence
    assert cut.data.questions[0].answer == "no"


def test_a_scale_is_told_plainly():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(800, 1)) + rng.normal(size=(800, 12)) > 0).astype(int)
    found = softmodes.sweep(X, (2, 4), random_state=0)
    cut = softmodes.report(found.model(2), X, sweep=found)
    assert cut.headline == "No separate groups among 800 rows"
    assert cut.verdict == "Do not use"
    assert "no: there is no gap" in [question.answer for question in cut.data.questions]


def test_without_a_sweep_the_report_makes_one_up_to_twenty_groups():
    X = made_reports.survey()[0][[f"Q{j}" for j in range(12)]]
    mine = softmodes.report(KModes(2, random_state=0).fit(X), X)
    assert [row.k for row in mine.data.swept.tried] == list(range(2, 9))
    none = softmodes.report(KModes(21, random_state=0, n_init=1).fit(X), X)
    assert none.data.swept is None
    assert none.verdict != "Solid"
    assert {"not tried"} < {question.answer for question in none.data.questions}


# --- frames and files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame)]
)
def test_all_of_it_is_there_as_frames_of_the_kind_that_came_in(make, kind):
    X = make({"a": ["x", "y", "y", "z"] * 20, "b": ["u", "v", "v", "u"] * 20})
    found = softmodes.report(SoftModes(2, random_state=0).fit(X), X, describe="b")
    frames = found.frames()
    assert {type(frame) for frame in frames.values()} == {kind}
    assert frames["groups"].shape[0] == 2
    assert list(frames["shares"].columns) == ["column", "value", "overall", "group_0", "group_1"]
    assert len(frames["sweep"]) == 7
    assert set(frames) == {
        "groups", "marks", "differences", "trust", "sweep", "importance", "shares", "map",
        "margins", "confused", "described", "columns",
    }  # fmt: skip


def test_a_saved_model_is_reported_without_its_rows(report, model, tmp_path):
    _, prepare, _, _ = made_reports.survey()
    path = tmp_path / "m.softmodes"
    model.save(path, labels=False, metadata=report.metadata, preparation=prepare)
    again = softmodes.report(softmodes.load(path), rows="people", columns="questions")
    assert again.data == report.data
    assert again.to_html() == report.to_html()
    named = softmodes.load(path).set_names({1: "Friends"})
    assert "Friends" in softmodes.report(named).to_html()


def test_a_model_that_keeps_nothing_asks_for_its_rows(model):
    with pytest.raises(ValueError, match=r"X=None: the model keeps nothing .* Pass X"):
        softmodes.report(model)


def damaged(plain, *path, value):
    plain = json.loads(json.dumps(plain))
    inner = plain
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return plain


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "Trust me"),
        (("margins", "undecided"), [1.0]),
        (("margins", "bins"), []),
        (("margins", "bins"), None),
        (("again", "by_group"), [1.0]),
        (("again", "whole"), "much"),
        (("swept", "verdict"), "Fine"),
        (("swept", "tried", 0, "verdict"), "Fine"),
        (("swept", "tried", 0, "k"), 2.5),
        (("described", 0, "counts"), [[1.0]]),
        (("described", 0, "values"), "ab"),
        (("origin", "n_rows"), 0),
        (("origin", "n_rows"), True),
        (("origin",), {}),
        (("columns", 0, "n_values"), "7"),
        (("more",), 1),
    ],
)
def test_what_a_file_keeps_is_checked(report, path, value):
    plain = report.metadata[KEY]
    assert findings_in({KEY: plain}, 3) == report.data.findings
    with pytest.raises(ValueError, match=r"cannot be read: .* Pass X"):
        findings_in({KEY: damaged(plain, *path, value=value)}, 3)


def test_findings_survive_json_with_what_nobody_has_measured(report):
    findings = report.data.findings
    odd = replace(findings, again=None, swept=None)
    assert from_plain(type(odd), json.loads(json.dumps(to_plain(odd)))) == odd
    unknown = replace(findings.swept.tried[0], shuffled=float("nan"))
    plain = json.dumps(to_plain(unknown), allow_nan=False)
    assert np.isnan(from_plain(Tried, json.loads(plain)).shuffled)


def test_the_digest_tells_tables_apart_and_not_containers():
    X = made_reports.survey()[0][["Q1", "Q2", "Q3"]]
    digests = {}
    for name, table in {
        "pandas": X,
        "polars": pl.DataFrame(dict(X)),
        "order": X.iloc[::-1],
        "value": X.assign(Q3=X.Q3.where(X.index != 7, "other")),
    }.items():
        model = SoftModes(2, random_state=0, n_init=1).fit(table)
        found = softmodes.report(model, table, sweep=False)
        digests[name] = found.data.findings.origin.digest
    assert digests["pandas"] == digests["polars"]
    assert len(set(digests.values())) == 3


def test_the_python_of_do_it_again_makes_the_same_groups(report, model):
    table, _, _, _ = made_reports.survey()
    code = report.data.python
    assert code.count("...") == 1
    names = {"table": table}
    to_fill_in = re.compile(r"table = |softmodes\.report")
    exec("\n".join(line for line in code.splitlines() if not to_fill_in.match(line)), names)
    assert np.array_equal(names["model"].labels_, model.labels_)
    made = softmodes.report(names["model"], table, prepare=names["prepare"], sweep=False)
    assert made.data.groups == report.data.groups


def test_a_pipeline_is_reported_as_its_parts_are(report, model):
    table, _, found, _ = made_reports.survey()
    pipe = make_pipeline(
        Prepare(id="RespId", describe=["age", "region"]), SoftModes(3, random_state=0)
    ).fit(table)
    mine = softmodes.report(pipe, table, sweep=found, rows="people", columns="questions")
    assert mine.data.groups == report.data.groups
    assert mine.data.described == report.data.described


# --- bad input -----------------------------------------------------------------------------------


def test_other_rows_than_those_of_the_fit_are_refused(model):
    table, prepare, _, _ = made_reports.survey()
    with pytest.raises(ValueError, match="X has 10 rows, and the model was fitted on 400"):
        softmodes.report(model, table[:10], prepare=prepare)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match=r"model='m.softmodes' is no model .* Pass a fitted"):
        softmodes.report("m.softmodes", [["a"]])


def test_a_missing_library_is_named(report, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "softmodes\[report\]"'):
        report.save(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_a_bad_path_is_refused_with_its_name(report, tmp_path):
    with pytest.raises(IsADirectoryError, match="path="):
        report.save(tmp_path)


def test_every_verdict_has_a_tone_and_a_sentence(report):
    from softmodes._report.words import verdict_sentence

    for verdict in Verdict:
        findings = replace(report.data.findings, verdict=str(verdict))
        told, tone, sentence = verdict_sentence(findings, 3, 0.2, report.data.words)
        assert told == verdict
        assert tone in ("good", "care", "bad", "none")
        assert sentence.endswith(".")


@pytest.mark.parametrize("kind", ["mini-batch", "sparse", "gini", "missing ignored"])
def test_every_kind_of_model_and_table_is_reported(kind, tmp_path):
    rng = np.random.default_rng(0)
    group = np.arange(300) % 3
    X = (rng.random((300, 9)) < np.where(np.arange(9) % 3 == group[:, None], 0.9, 0.1)).astype(int)
    model = {
        "mini-batch": MiniBatchSoftModes(3, random_state=0),
        "sparse": SoftModes(3, random_state=0),
        "gini": SoftModes(3, refine="gini", random_state=0),
        "missing ignored": SoftModes(3, missing="ignore", random_state=0),
    }[kind]
    if kind == "sparse":
        X = csr_array(X)
    if kind == "missing ignored":
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    report = softmodes.report(model.fit(X), X, sweep=False)
    assert sum(group.rows for group in report.data.groups) == 300
    assert all(group.marks for group in report.data.groups)
    report.save(tmp_path / "r.html")


def test_rows_of_a_file_are_reported_as_those_in_memory(tmp_path):
    table, _, _, _ = made_reports.survey()
    X = table[[f"Q{j}" for j in range(12)]].astype(object)
    X.iloc[::9, 3] = None
    path = tmp_path / "rows.parquet"
    X.to_parquet(path)
    rows = dataset(path)
    model = SoftModes(3, random_state=0).fit(rows)
    mine = softmodes.report(model, rows, describe=None)
    same = softmodes.report(SoftModes(3, random_state=0).fit(X), X)
    assert mine.data.findings.swept == same.data.findings.swept
    assert mine.data.groups == same.data.groups
    assert mine.data.bins == same.data.bins
    assert [(c.column, c.n_values, round(c.missing, 9)) for c in mine.data.columns] == [
        (c.column, c.n_values, round(c.missing, 9)) for c in same.data.columns
    ]
