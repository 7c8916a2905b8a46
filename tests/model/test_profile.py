"""What marks clusters: the profile, the summary, the names."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import softmodes
from softmodes import KModes, MiniBatchSoftModes, SoftModes
from softmodes.datasets import load_zoo, make_ccm


@pytest.fixture(scope="module")
def zoo():
    return load_zoo(as_frame=True).data


@pytest.fixture(scope="module")
def model(zoo):
    return SoftModes(5, random_state=0, n_jobs=1).fit(zoo)


def naive_profile(X, labels, weight):
    """A row for each cluster and value, as (cluster, feature, value): numbers."""
    found = {}
    total = weight.sum()
    for cluster in np.unique(labels):
        inside = labels == cluster
        for feature in X:
            for value in X[feature].unique():
                has = (X[feature] == value).to_numpy()
                count, expected = weight[inside & has].sum(), weight[has].sum() / total
                expected *= weight[inside].sum()
                spread = expected * (1 - weight[inside].sum() / total)
                spread *= 1 - weight[has].sum() / total
                if count == 0 and expected < 1:
                    continue
                share, overall = count / weight[inside].sum(), weight[has].sum() / total
                residual = (count - expected) / np.sqrt(spread) if spread > 0 else 0.0
                found[cluster, feature, value] = (share, overall, count, residual)
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_a_profile_tells_what_a_naive_count_tells(zoo, weighted):
    weight = np.random.default_rng(0).uniform(0.2, 3, len(zoo)) if weighted else np.ones(len(zoo))
    model = KModes(4, random_state=0).fit(zoo, sample_weight=weight if weighted else None)
    profile = model.profile()
    expected = naive_profile(zoo, model.labels_, weight)
    rows = list(zip(profile.cluster, profile.feature, profile.value, strict=True))
    assert set(rows) == set(expected)
    assert len(rows) == len(expected)
    assert (profile["count"] == 0).any(), "no absent value: nothing tested"
    numbers = profile[["share", "overall", "count", "residual"]].to_numpy()
    assert_allclose(numbers, [expected[row] for row in rows], rtol=1e-6, atol=1e-9)
    assert_allclose(profile.lift, profile.share / profile.overall)
    more = np.where(profile.residual > 0, "more", np.where(profile.residual < 0, "less", "same"))
    assert profile.side.tolist() == more.tolist()


def test_a_profile_has_what_a_cluster_has_more_of_first_and_the_most_telling_of_it(model):
    for _, rows in model.profile().groupby("cluster"):
        sides = rows.side.tolist()
        assert sides == sorted(sides, key=["more", "less", "same"].index)
        for side in ("more", "less"):
            p, q = (rows.loc[rows.side == side, name].to_numpy() for name in ("share", "overall"))
            with np.errstate(divide="ignore", invalid="ignore"):
                yes, no = p * np.log(p / q), (1 - p) * np.log((1 - p) / (1 - q))
            telling = np.nan_to_num(yes) + np.nan_to_num(no)
            assert len(telling) > 3
            assert (np.diff(telling) <= 1e-9).all()


def test_an_absent_value_of_a_wide_column_is_listed_where_a_row_of_it_would_be_expected():
    rng = np.random.default_rng(0)
    wide = np.concatenate([np.repeat(0, 200), np.arange(1, 401), np.repeat(401, 200)])
    X = pd.DataFrame({"wide": wide, "side": np.repeat(["a", "b"], 400)})
    model = SoftModes(2, random_state=0).fit(X.sample(frac=1, random_state=rng.integers(9)))
    profile = model.profile()
    absent = profile[(profile["count"] == 0) & (profile.feature == "wide")]
    assert sorted(absent.value) == [0, 401]


def test_a_profile_is_a_frame_of_the_kind_that_came_in_and_has_the_names(model, zoo):
    named = KModes(3, random_state=0).fit(pl.from_pandas(zoo)).set_names(["a", "b", "c"])
    profile = named.profile()
    assert isinstance(profile, pl.DataFrame)
    assert set(zip(profile["cluster"], profile["name"], strict=True)) == {
        (0, "a"),
        (1, "b"),
        (2, "c"),
    }
    assert isinstance(KModes(3).fit(pa.Table.from_pandas(zoo)).profile(), pa.Table)
    assert isinstance(KModes(3).fit(zoo.to_numpy()).profile(), pd.DataFrame)


def test_marks_are_told_with_the_share_of_all_and_yes_before_no():
    X = pd.DataFrame(
        {
            "tv": ["yes"] * 6 + ["no"] * 14,
            "radio": ["no"] * 7 + ["yes"] * 13,
            "paper": (["daily"] * 5 + ["never"]) + ["never"] * 7 + ["weekly"] * 7,
        }
    )
    text = str(SoftModes(2, random_state=0).fit(X).summary())
    assert text.splitlines() == [
        "group 0: 14 rows (70 %): radio: yes  93 % (all 65 %); paper: weekly  50 % (all 35 %);",
        "    paper: never  50 % (all 40 %); tv: no  100 % (all 70 %)",
        "group 1: 6 rows (30 %): tv: yes  100 % (all 30 %); paper: daily  83 % (all 25 %);",
        "    radio: no  100 % (all 35 %)",
    ]


def test_marks_that_repeat_one_another_are_told_once():
    rng = np.random.default_rng(0)
    asked = np.repeat([True, False], [300, 500])
    X = pd.DataFrame({f"Q29_{i}": np.where(asked, rng.integers(1, 4, 800), None) for i in range(6)})
    X["other"] = np.where(asked, "a", "b")
    model = SoftModes(2, random_state=0, n_init=2).fit(X)
    (block,) = [m for m in model.summary().groups[0].marks if m.same_for]
    assert str(block) == (
        "other: b  100 % (all 62 %), the same for Q29_0: missing, Q29_1: missing, ... (one block)"
    )
    assert len(block.same_for) == 6
    assert model.names_[0] == "other: b"
    skipped = SoftModes(2, random_state=0, n_init=2).fit(X.drop(columns="other")).summary().groups
    text = "Q29_0: missing  100 % (all 62 %), the same for Q29_1, Q29_2, ... (one block)"
    assert str(skipped[0].marks[0]) == text


def test_marks_of_columns_that_only_look_alike_stay_apart():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 2000)
    X = np.where(rng.random((4000, 8)) < 0.1, 1 - group[:, None], group[:, None])
    groups = SoftModes(2, random_state=0, n_init=2).fit(X).summary(8).groups
    assert [len(group.marks) for group in groups] == [8, 8]


def test_a_value_that_looks_as_common_as_everywhere_is_no_mark():
    X = pd.DataFrame({"a": [0] * 502 + [1] * 498, "b": ([0] * 250 + [1] * 250) * 2})
    X["c"] = 1 - X["a"]
    marks = SoftModes(2, random_state=0).fit(X).summary().groups[0].marks
    assert {mark.feature for mark in marks} <= {"a", "c"}
    one = SoftModes(1, random_state=0).fit(X)
    assert str(one.summary()) == "group 0: 1,000 rows (100 %): nothing sets it apart"
    assert one.names_ == ["group 0"]


def test_no_line_of_a_summary_is_broken_inside_a_mark():
    rng = np.random.default_rng(0)
    columns = ["a column whose name has many words in it " * 3 + str(i) for i in range(12)]
    X = make_ccm(300, 12, 3, 0.2, random_state=0)[0]
    texts = np.array([["a value of some length", "-" * 200], ["b " * 50, "c"]])
    X = pd.DataFrame(texts[rng.integers(0, 2), X.astype(int)], columns=columns)
    summary = SoftModes(3, random_state=0).fit(X).summary(8)
    lines = str(summary).splitlines()
    assert max(map(len, lines)) <= 100
    for group in summary.groups:
        for mark in group.marks:
            assert any(f"{mark.name}  {mark.shares}" in line for line in lines)


def test_a_summary_in_a_notebook_is_a_table_without_tags_of_the_data():
    X = pd.DataFrame({"<b>": ["<script>alert(1)</script>"] * 3 + ["b"] * 3})
    html = SoftModes(2, random_state=0).fit(X).set_names({0: "<i>"}).summary()._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "&lt;i&gt;" in html
    assert html.count("<tr>") == 3


def test_a_summary_is_a_frame_of_the_kind_that_came_in(zoo):
    model = SoftModes(3, random_state=0).fit(pl.from_pandas(zoo))
    frame = model.summary(2).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["rows"].to_list() == model.cluster_sizes_.tolist()
    assert frame["name"].to_list() == model.names_
    assert frame["marks"][0] == "; ".join(map(str, model.summary(2).groups[0].marks))


def test_names_are_made_of_the_first_two_marks_of_different_columns(model):
    for name, group in zip(model.names_, model.summary().groups, strict=True):
        features = list(dict.fromkeys(mark.feature for mark in group.marks))[:2]
        first = [next(m.name for m in group.marks if m.feature == f) for f in features]
        assert name == ", ".join(first)


def test_no_two_clusters_have_one_name():
    X = [["a", "x"]] * 50 + [["b", "y"]] * 4
    model = SoftModes(4, random_state=0, n_init=1, refine=None).fit(X)
    assert len(set(model.names_)) == 4
    other = model.names_[0]
    assert len(set(model.set_names({1: other}).names_)) == 4
    assert model.names_[1] == other


def test_given_names_are_shown_saved_and_taken_back(model, zoo, tmp_path):
    named = SoftModes(5, random_state=0).fit(zoo)
    default = named.names_
    assert named.set_names({1: " Birds ", 2: "Fish"}) is named
    assert named.names_ == [default[0], "Birds", "Fish", *default[3:]]
    lines = [line for line in str(named.summary()).splitlines() if line.startswith("group")]
    sizes = named.cluster_sizes_
    assert lines[1].startswith(f"group 1, Birds: {sizes[1]} rows ({100 * sizes[1] / 101:.0f} %): ")
    assert lines[0].startswith(f"group 0: {sizes[0]} rows (")
    assert set(named.to_frame(zoo).name) == set(named.names_)
    assert named.stability(zoo, n_resamples=1).to_frame().name.tolist() == named.names_
    named.save(tmp_path / "named.softmodes")
    again = softmodes.load(tmp_path / "named.softmodes")
    assert again.names_ == named.names_
    assert again.set_names({1: None}).names_ == [*default[:2], "Fish", *default[3:]]
    assert again.set_names(None).names_ == default
    assert SoftModes(5, random_state=0).fit(zoo).set_names(list("abcde")).names_ == list("abcde")
    assert named.fit(zoo).names_ == default


def test_names_stay_with_a_stream():
    stream = MiniBatchSoftModes(2, random_state=0).partial_fit([["a", "x"], ["b", "y"]] * 10)
    stream.set_names(["one", "two"]).partial_fit([["a", "x"]] * 5)
    assert stream.names_ == ["one", "two"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (
            {5: "a"},
            r"names=\{5: 'a'\} has a name for 5, which is no cluster. Pass numbers from 0 to 4",
        ),
        ({"1": "a"}, "has a name for '1', which is no cluster"),
        ({0: ""}, r"names\[0\]='' is not a name. Pass a text of 1 to 100 characters"),
        ({0: "x" * 101}, r"names\[0\]='xxx.*is not a name"),
        ({0: 3}, r"names\[0\]=3 is not a name"),
        ({0: "a\nb"}, r"names\[0\]='a\\nb' holds control characters"),
        ({0: "a", 3: "a"}, "calls cluster 3 as cluster 0: 'a'. Pass names that tell them apart"),
        (["a"], "is not a name for each of 5 clusters. Pass a dict"),
        ("abcde", "is not a name for each of 5 clusters"),
    ],
)
def test_bad_names_are_refused_and_change_nothing(model, names, text):
    before = model.names_
    with pytest.raises(ValueError, match=text):
        model.set_names(names)
    assert model.names_ == before


@pytest.mark.parametrize(
    ("control", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202e", r"\u202e"),
        ("\r", r"\r"),
        ("\0", r"\x00"),
        ("\u2066", r"\u2066"),
    ],
)
def test_a_summary_spells_controls_out_and_a_profile_keeps_them(control, shown):
    table = [{f"f{control}": value} for value in (f"a{control}", f"a{control}", "b c", "b c")]
    model = SoftModes(2, random_state=0, n_init=1).fit(pd.DataFrame(table))
    assert f"f{shown}: a{shown}  100 % (all 50 %)" in str(model.summary())
    assert f"f{shown}: b c  100 % (all 50 %)" in str(model.summary())
    assert str(model.summary()).replace("\n", "").isprintable()
    assert set(model.profile()["value"]) == {f"a{control}", "b c"}
    assert set(model.profile()["feature"]) == {f"f{control}"}


def test_a_line_of_a_summary_holds_a_hundred_characters_and_no_more():
    longest = set()
    for n in range(1, 31):
        X = pd.DataFrame([["a", "a", "b"], ["b", "b", "a"]], columns=["x" * n, "y", "z"])
        lines = str(SoftModes(2, random_state=0, n_init=1).fit(X).summary()).splitlines()
        longest.add(max(map(len, lines)))
    assert max(longest) <= 100
    assert len(longest) > 10


def test_a_summary_shows_the_start_of_a_long_value_at_once(tmp_path):
    values = ["x" * 2_000_000 + "y", "z" * 36]
    model = SoftModes(2, random_state=0, n_init=1).fit([[value] for value in values])
    start = time.perf_counter()
    text = str(model.summary())
    assert time.perf_counter() - start < 2.0
    assert f"x0: {'x' * 33}...  100 % (all 50 %)" in text
    assert f"x0: {'z' * 36}  100 % (all 50 %)" in text
