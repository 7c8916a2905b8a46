"""The rows back with their groups, and how new rows differ from those of the fit."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from softmodes import KModes, SoftModes
from softmodes.datasets import load_zoo


@pytest.fixture(scope="module")
def zoo():
    return load_zoo(as_frame=True).data


@pytest.fixture(scope="module")
def model(zoo):
    return SoftModes(4, random_state=0, n_jobs=1).fit(zoo)


@pytest.mark.parametrize("refine", ["latent", "gini", None])
def test_rows_come_back_with_group_name_margin_and_second(zoo, refine):
    model = SoftModes(4, refine=refine, random_state=0).fit(zoo)
    table = zoo.set_axis(np.arange(len(zoo)) * 7 % 101)
    frame = model.to_frame(table)
    pd.testing.assert_frame_equal(frame[list(zoo)], table)
    assert_array_equal(frame["group"], model.labels_)
    assert frame["name"].tolist() == [model.names_[label] for label in model.labels_]
    assert_array_equal(frame["margin"], model.margin(zoo))
    distance = model.transform(zoo).astype(float)
    distance[np.arange(len(zoo)), model.labels_] = np.inf
    second = frame["second"].to_numpy()
    assert_array_equal(distance[np.arange(len(zoo)), second], distance.min(axis=1))
    assert (second != model.labels_).all()


def test_rows_come_back_in_a_frame_of_the_kind_that_came_in(model, zoo):
    expected = model.to_frame(zoo)
    polars, arrow = pl.from_pandas(zoo), pa.Table.from_pandas(zoo, preserve_index=False)
    assert isinstance(model.to_frame(polars), pl.DataFrame)
    assert isinstance(model.to_frame(arrow), pa.Table)
    for other in (model.to_frame(polars).to_pandas(), model.to_frame(arrow).to_pandas()):
        pd.testing.assert_frame_equal(other, expected, check_dtype=False)
    from_array = KModes(4, random_state=0).fit(zoo.to_numpy()).to_frame(zoo.to_numpy())
    assert isinstance(from_array, pd.DataFrame)
    assert list(from_array)[15:] == ["x15", "group", "name", "margin", "second"]


def test_of_sparse_rows_the_groups_alone_come_back():
    X = sp.csr_array(np.eye(6, dtype=int)[[0, 0, 1, 1, 1]])
    frame = SoftModes(2, random_state=0).fit(X).to_frame(X)
    assert list(frame) == ["group", "name", "margin", "second"]
    assert frame["group"].tolist() == [1, 1, 0, 0, 0]


def test_a_single_cluster_has_no_second():
    X = pd.DataFrame({"a": ["x", "y"]})
    frame = SoftModes(1, random_state=0).fit(X).to_frame(X)
    assert list(frame) == ["a", "group", "name", "margin"]
    assert frame["margin"].tolist() == [1.0, 1.0]


def test_columns_of_one_name_are_refused_until_there_is_a_prefix():
    X = pd.DataFrame({"group": ["x", "x", "y"], "name": ["a", "a", "b"]})
    model = SoftModes(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"X has columns \['group', 'name'\] of its own. Pass a"):
        model.to_frame(X)
    assert list(model.to_frame(X, prefix="my_"))[2:] == [
        "my_group",
        "my_name",
        "my_margin",
        "my_second",
    ]
    with pytest.raises(ValueError, match="prefix=3 is not a text"):
        model.to_frame(X, prefix=3)


def naive_drift(before, now):
    """Half the sum of the differences of all shares, missing among them."""
    shares = [column.value_counts(normalize=True, dropna=False) for column in (before, now)]
    p, q = shares[0].align(shares[1], fill_value=0.0)
    return (p - q).abs().sum() / 2


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_drift_is_the_share_of_rows_that_changed_missing_cells_among_them(missing):
    rng = np.random.default_rng(0)
    columns = {
        "few": rng.choice(["a", "b", None], 600),
        "wide": rng.integers(0, 400, 600).astype(str),
        "same": ["c", "d"] * 300,
        "full": rng.choice(["p", "q"], 600),
    }
    table = pd.DataFrame(columns)
    model = SoftModes(3, missing=missing, random_state=0, n_init=1).fit(table)
    new = table.sample(200, random_state=1).reset_index(drop=True)
    new["same"] = ["c"] * 150 + ["e"] * 30 + ["f"] * 20
    new.loc[:49, "full"] = None
    drift = model.drift(new).set_index("feature")
    for name in table:
        assert drift.changed[name] == pytest.approx(naive_drift(table[name], new[name])), name
    assert (np.diff(drift.changed) <= 0).all(), "what changed most comes first"
    assert drift.unseen["same"] == pytest.approx(0.25)
    assert drift.unseen_values["same"] == "e, f"
    # Where missing cells are ignored, they are no value that could be unseen.
    assert drift.unseen["full"] == pytest.approx(0.25 if missing == "category" else 0.0)
    assert (drift.note == "").all()


def test_the_rows_of_the_fit_have_not_changed_and_weights_weigh(model, zoo):
    same = model.drift(zoo)
    assert (same.changed.abs() < 1e-12).all()
    assert (same.unseen == 0).all()
    weight = np.arange(len(zoo)) % 3
    repeated = model.drift(zoo.loc[zoo.index.repeat(weight)])
    weighted = model.drift(zoo, sample_weight=weight)
    assert_allclose(weighted.changed, repeated.changed)


def test_chance_is_what_random_rows_of_the_fit_change_by(model, zoo):
    draws = [
        model.drift(zoo.sample(60, replace=True, random_state=seed)).set_index("feature")
        for seed in range(40)
    ]
    changed = pd.concat([draw.changed for draw in draws], axis=1).mean(axis=1)
    ratio = changed / draws[0].chance[changed.index]
    assert 0.9 < ratio.mean() < 1.1
    assert ratio.between(0.6, 1.5).all()
    assert draws[0].chance["legs"] > draws[0].chance["hair"]


def test_other_types_are_told_instead_of_unseen_values(model, zoo):
    as_text = zoo.astype(str)
    with pytest.warns(UserWarning, match="types differ") as caught:
        model.predict(as_text)
    assert str(caught[0].message) == (
        "Column types differ (numbers at fit, text now): column 0 ('hair'), column 1 ('feathers'), "
        "column 2 ('eggs') and 13 more. All of their cells are unseen: convert them."
    )
    drift = model.drift(as_text)
    assert set(drift.note) == {"column types differ: numbers at fit, text now"}
    assert (drift.unseen == 1).all()
    half = zoo.astype(object)
    half["hair"] = half["hair"].astype(str)
    half.loc[0, "legs"] = 17
    with pytest.warns(UserWarning, match="types differ") as caught:
        model.predict(half)
    assert str(caught[0].message) == (
        "Column types differ (numbers at fit, text now): column 0 ('hair'). All of their cells are "
        "unseen: convert them. Values unseen at fit differ from every center: column 12 ('legs'): "
        "17 in 1 cell."
    )


def test_drift_comes_in_a_frame_of_the_kind_that_came_in(model, zoo):
    expected = model.drift(zoo.head(9))
    polars = model.drift(pl.from_pandas(zoo.head(9)))
    assert isinstance(polars, pl.DataFrame)
    pd.testing.assert_frame_equal(polars.to_pandas(), expected)
    assert isinstance(model.drift(pa.Table.from_pandas(zoo.head(9))), pa.Table)
    unnamed = KModes(3, random_state=0).fit(zoo.to_numpy())
    assert isinstance(unnamed.drift(zoo.head(9).to_numpy()), pd.DataFrame)


def test_drift_and_types_are_told_for_files_as_for_tables(tmp_path, zoo):
    model = SoftModes(4, random_state=0, n_init=1).fit(zoo)
    new = zoo.assign(legs=zoo["legs"].astype(str), fins=zoo["fins"].replace(1, 7))
    path = tmp_path / "new.parquet"
    new.to_parquet(path)
    expected = model.drift(new)
    pd.testing.assert_frame_equal(model.drift(path), expected)
    assert expected.set_index("feature").note["legs"].startswith("column types differ")
    assert expected.set_index("feature").note["fins"] == ""
    with pytest.warns(UserWarning, match="types differ") as from_file:
        model.predict(path)
    with pytest.warns(UserWarning, match="types differ") as from_table:
        model.predict(new)
    assert str(from_file[0].message) == str(from_table[0].message)
