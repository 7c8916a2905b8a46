from __future__ import annotations

import datetime as dt
import io
import json
import math
import os
import threading
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import softmodes
from softmodes import BadModelFile, KModes, SoftModes
from softmodes._model.file import _sums
from softmodes.rounding import soft
from support import table

FRAME = pd.DataFrame(table(120, (2, 3, 9, 100), seed=1), columns=list("abcd")).assign(
    word=[["oui", "non", None][i % 3] for i in range(120)],
    flag=[bool(i % 2) for i in range(120)],
)

MODELS = {
    "softmodes": SoftModes(4, n_init=2, random_state=3),
    "infinite t": SoftModes(4, t=math.inf, n_init=2, random_state=3),
    "kmodes, ignoring": KModes(3, missing="ignore", n_init=2, random_state=1),
    "feature weights": SoftModes(3, feature_weight=[1, 2, 0.5, 1, 1, 1], random_state=1, n_init=1),
    "not refined": SoftModes(4, refine=None, n_init=2, random_state=3),
    "gini": SoftModes(4, refine="gini", n_init=2, random_state=3),
    "latent, ignoring": SoftModes(4, missing="ignore", n_init=2, random_state=3),
    "all defaults": SoftModes(3),
    "t in turn": SoftModes(3, t="auto", random_state=3),
    "given seeds": KModes(2, init=FRAME.iloc[[0, 7]].astype(object).to_numpy().tolist()),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_attribute_survives_a_round_trip(name, weighted, tmp_path):
    weight = np.random.default_rng(0).random(120) if weighted else None
    model = MODELS[name].fit(FRAME, sample_weight=weight)
    model.save(tmp_path / "m.softmodes")
    again = softmodes.load(tmp_path / "m.softmodes")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    for attribute in [a for a in vars(model) if a.endswith("_")]:
        expected, found = getattr(model, attribute), getattr(again, attribute)
        if isinstance(expected, list) and isinstance(expected[0], np.ndarray):
            for a, b in zip(found, expected, strict=True):
                assert_array_equal(a, b)
                assert a.dtype == b.dtype
        else:
            assert_array_equal(found, expected)
    assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    assert_array_equal(again.transform(FRAME), model.transform(FRAME))
    assert_array_equal(again.margin(FRAME), model.margin(FRAME))
    assert again.score(FRAME) == model.score(FRAME)
    assert again.profile().equals(model.profile())
    if hasattr(model, "predict_proba"):
        assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
        assert_array_equal(again.score_samples(FRAME), model.score_samples(FRAME))
    again.save(tmp_path / "again.softmodes")
    assert (tmp_path / "again.softmodes").read_bytes() == (tmp_path / "m.softmodes").read_bytes()


SEEDS = {
    "frame": FRAME.head(2),
    "dates": pd.DataFrame({"a": [1.5, np.inf], "b": pd.to_datetime(["2020-01-01", "2021-05-06"])}),
    "missing": np.array([["x", None], ["y", "z"]], object),
    "sparse": csr_array([[0, 1], [2, 0]]),
}


@pytest.mark.parametrize("kind", SEEDS)
def test_given_seeds_of_any_kind_survive_a_round_trip(kind, tmp_path):
    model = KModes(2, init=SEEDS[kind], n_init=1, random_state=0).fit(SEEDS[kind])
    model.save(tmp_path / "seeds.softmodes")
    again = softmodes.load(tmp_path / "seeds.softmodes")
    assert_array_equal(again.fit(SEEDS[kind]).labels_, model.labels_)


def test_the_packages_own_rounding_and_the_kind_of_frame_survive_a_round_trip(tmp_path):
    model = SoftModes(2, rounding=soft(2.0), n_init=1, random_state=0).fit(pl.from_pandas(FRAME))
    model.save(tmp_path / "m.softmodes")
    again = softmodes.load(tmp_path / "m.softmodes")
    assert again.rounding == soft(2.0)
    assert isinstance(again.profile(), pl.DataFrame)


def test_feature_weights_by_name_survive_a_round_trip(tmp_path):
    weight = {"a": 4, "word": 0.5}
    model = KModes(3, feature_weight=weight, n_init=1, random_state=0).fit(FRAME)
    model.save(tmp_path / "m.softmodes")
    again = softmodes.load(tmp_path / "m.softmodes")
    assert again.feature_weight == weight
    assert_array_equal(again.fit(FRAME).labels_, model.labels_)


@pytest.mark.parametrize("refine", ["latent", "gini", None])
def test_wide_features_survive_a_round_trip(refine, tmp_path):
    X = np.arange(900)[:, None] % np.array([300, 2])
    model = SoftModes(3, refine=refine, random_state=0, n_init=1).fit(X)
    model.save(tmp_path / "wide.softmodes")
    again = softmodes.load(tmp_path / "wide.softmodes")
    assert (again.cluster_counts_[0] != model.cluster_counts_[0]).nnz == 0
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.transform(X), model.transform(X))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.softmodes"
    KModes(2, random_state=0, n_init=1).fit(FRAME).save(path)
    return path


def rewrite(path, change, compression=zipfile.ZIP_STORED, resum=True):
    """Apply a change to the members of a saved file; checksums follow, as a forger's would."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["SHA256SUMS"]
    change(members)
    sums = _sums(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("SHA256SUMS", sums if resum else b"")


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=array.dtype == object)
    return buffer.getvalue()


def edit_json(**changes):
    def change(members):
        members["model.json"] = json.dumps(json.loads(members["model.json"]) | changes).encode()

    return change


def edit_params(**changes):
    def change(members):
        document = json.loads(members["model.json"])
        document["params"] |= changes
        members["model.json"] = json.dumps(document).encode()

    return change


def edit_round(**changes):
    def change(members):
        document = json.loads(members["model.json"])
        document["history"][document["best_round"]] |= changes
        members["model.json"] = json.dumps(document).encode()

    return change


def replace_member(name, data):
    return lambda members: members.update({name: data})


def edit_array(name, change_array):
    def change(members):
        array = np.load(io.BytesIO(members[name]))
        members[name] = npy(change_array(array))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit_json(version=99), "format version 99, and this softmodes reads up to 2"),
        (edit_json(version="x"), "format version 'x'"),
        (edit_json(format="other"), "not a softmodes model"),
        (edit_json(estimator="os.system"), "unknown estimator"),
        (edit_json(params={"n_clusters": 2, "evil": 1}), r"unknown parameters \['evil'\]"),
        (edit_json(best_round=10_000), "best_round"),
        (edit_json(history=[]), "best_round"),
        (edit_json(codebook={}), "not a codebook"),
        (replace_member("model.json", b"{"), "JSONDecodeError"),
        (replace_member("model.json", b"[]"), "not a softmodes model"),
        (replace_member("labels.npy", npy(np.array([5], np.int32))), "the labels"),
        (replace_member("labels.npy", npy(np.array([{}], object))), "the size of an array"),
        (replace_member("labels.npy", npy(np.zeros(0, np.int32))), "the labels"),
        (replace_member("extra.npy", npy(np.zeros(2))), "the list of members"),
        (replace_member("sizes.npy", npy(np.array([-5, 125]))), "the counts"),
        (edit_json(best_round=0.0), "best_round"),
        (edit_json(best_round=True), "best_round"),
        (edit_json(version=True), "format version True"),
        (edit_json(version=0), "format version 0"),
        (edit_json(converged="no"), "converged"),
        (edit_json(row_unit=0.0), "row_unit"),
        (edit_json(row_unit=float("nan")), "row_unit"),
        (edit_json(estimator=["x"]), "estimator"),
        (edit_json(params={"n_clusters": 99}), "n_clusters"),
        (replace_member("model.json", b"[" * 200_000), "not those of a model"),
        (
            replace_member("labels.npy", npy(np.zeros(3, np.int32)).replace(b"(3,)", b"(9,)")),
            "size",
        ),
        (replace_member("labels.npy", b"junk"), "not those of a model"),
        (replace_member("centers.npy", npy(np.full((2, 6), 999, np.int32))), "the centers"),
        (replace_member("cells.npy", npy(np.zeros((2, 3), np.int64))), r"counts of shape \(2, 3\)"),
        (replace_member("sizes.npy", npy(np.zeros(2))), "the array sizes"),
        (lambda members: members.pop("cells.npy"), "not those of a model"),
    ],
)
def test_a_file_that_is_not_exactly_a_model_is_refused(saved, change, message):
    rewrite(saved, change)
    assert_refused(saved, message)


LONG = "a" * 5_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit_json(version=LONG), "Update softmodes"),
        (edit_json(estimator=LONG), "unknown estimator"),
        (edit_params(**{LONG: 1}), "unknown parameters"),
        (edit_params(init=LONG), r"ValueError: init='aaaa.* Pass one of 'random'"),
        (edit_params(n_jobs=[0] * 5_000), r"n_jobs=\[0, 0.* Pass"),
        (edit_round(**{LONG: 0}), "TypeError"),
    ],
)
def test_a_refusal_is_short_whatever_the_file_holds(saved, change, message):
    rewrite(saved, change)
    assert_refused(saved, message)


def test_a_refusal_is_short_whatever_the_names_of_members_are(saved):
    rewrite(saved, replace_member(LONG, b""))
    saved.write_bytes(saved.read_bytes().replace(LONG.encode(), LONG[1:].encode() + b"b", 1))
    assert_refused(saved, "it is not a whole model file .File name in directory 'aaaa")


def assert_refused(path, message="cannot be loaded"):
    with pytest.raises(BadModelFile, match=message) as caught:
        softmodes.load(path)
    assert str(caught.value).startswith(f"{path} cannot be loaded: ")
    assert str(caught.value).endswith("Pass a file written by save().")
    assert len(str(caught.value)) < len(str(path)) + 400


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_clusters": 2.0}, "n_clusters=2.0 is not an int"),
        ({"n_clusters": 3}, "n_clusters=3 is not that of the fit"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": "many"}, "max_iter='many'"),
        ({"missing": ["ignore"]}, "missing="),
        ({"init": "nonsense"}, "init='nonsense' is not known"),
        ({"init": {}}, "codebook"),
        ({"init": {"codebook": {}, "codes": [[0]]}}, "not a codebook"),
        ({"init": [["x"]]}, "init"),
        ({"init": 5}, "init"),
        ({"feature_weight": "heavy"}, "feature_weight"),
        ({"feature_weight": [0] * 6}, "feature_weight is zero everywhere"),
        ({"feature_weight": {"nowhere": 1}}, "feature_weight names unknown columns"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": 1e9}, "n_jobs=1000000000.0"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": {}}, "random_state={}"),
        ({"verbose": -1}, "verbose=-1"),
        ({"rounding": {}, "t": 3.0}, "unknown parameters"),
    ],
)
def test_a_file_with_wrong_parameters_is_refused_by_their_names(saved, changes, message):
    rewrite(saved, edit_params(**changes))
    assert_refused(saved, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": "nan"}, "t='nan'"),
        ({"t": 10**400}, "is not a number >= 1"),
        ({"t": [3.0]}, "t="),
        ({"rounding": {}}, "soft"),
        ({"rounding": {"soft": 0.5}}, "t=0.5"),
        ({"rounding": {"soft": None}}, "t=None"),
        ({"select": "first"}, "select='first'"),
        ({"patience": None}, "patience=None"),
    ],
)
def test_a_file_with_a_wrong_rounding_is_refused(tmp_path, changes, message):
    path = tmp_path / "soft.softmodes"
    SoftModes(2, n_init=1, random_state=0).fit(FRAME).save(path)
    rewrite(path, edit_params(**changes))
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit_json(cost_units=-1), "cost_units"),
        (edit_json(cost_units=1), "cost_units"),
        (edit_json(cost_units=10**30), "cost_units"),
        (edit_json(cost_units="7"), "cost_units"),
        (edit_json(fingerprint=2**64), "fingerprint"),
        (edit_json(fingerprint=None), "fingerprint"),
        (edit_json(fingerprint=1.0), "fingerprint"),
        (edit_json(history={}), "history"),
        (edit_round(cost=True), "history"),
        (edit_round(cost=-1), "history"),
        (edit_round(cost=10**400), "OverflowError"),
        (edit_round(expected_cost="1"), "history"),
        (edit_round(expected_cost=math.inf), "history"),
        (
            edit_round(clusters=6),
            "history",
        ),  # three more may be to spare, in rounds of drawn centers
        (edit_round(clusters=1), "the clusters in use"),
        (edit_round(moved=0), "history"),
        (edit_round(evil=0), "evil"),
        (edit_json(converged=False), "converged"),
        (edit_json(row_unit=3.0), "row_unit"),
        (edit_json(row_unit=1), "row_unit"),
        (edit_json(feature_unit=0.5), "feature_unit"),
        (edit_json(feature_unit=math.inf), "feature_unit"),
        (edit_json(backend="os"), "backend"),
        (edit_json(backend=["pandas"]), "backend"),
        (edit_json(wide=["0"]), "the sparse features"),
        (edit_json(wide=None), "the sparse features"),
        (edit_json(params=[]), "params"),
        (edit_array("ignored.npy", np.zeros_like), "the ignored codes"),
        (edit_array("ignored.npy", lambda a: a - 1), "the ignored codes"),
        (edit_array("n_codes.npy", lambda a: a + 1), "the number of categories"),
        (edit_array("labels.npy", np.zeros_like), "the labels"),
        (edit_array("sizes.npy", lambda a: a * 2**56), "the counts"),
        (
            replace_member("feature_weight.npy", npy(np.zeros(6, np.uint32))),
            "the feature weights",
        ),
        (
            replace_member("feature_weight.npy", npy(np.full(6, 65536, np.uint32))),
            "the feature weights",
        ),
        (replace_member("feature_weight.npy", npy(np.ones(5, np.uint32))), "the feature weights"),
        (replace_member("feature_weight.npy", npy(np.ones(6))), "the array feature_weight"),
        (
            replace_member(
                "labels.npy", npy(np.zeros(3, np.int32)).replace(b"'descr'", b"'desc\n")
            ),
            "not those of a model",
        ),
    ],
)
def test_every_field_of_a_file_is_checked(saved, change, message):
    rewrite(saved, change)
    assert_refused(saved, message)


def drop(*names):
    return lambda members: [members.pop(name) for name in names]


@pytest.fixture
def refined(tmp_path):
    """A latent model of a wide column and others."""
    path = tmp_path / "refined.softmodes"
    X = np.hstack([np.arange(600)[:, None] % 300, table(600, (3, 5), seed=2)])
    SoftModes(3, n_init=1, random_state=0).fit(X).save(path)
    return path


FAR_APART = np.array([0, 1 << 29, 1 << 30], np.uint32)


def swap(array):
    return array[::-1].copy()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit_json(resolution=11), "resolution"),
        (edit_json(resolution=-65), "resolution"),
        (edit_json(resolution=True), "resolution"),
        (edit_json(resolution=None), "the stage of the best round"),
        (edit_json(log_sum=None), "the stage of the best round"),
        (edit_json(log_sum=1.5), "log_sum"),
        (edit_json(log_sum=-(2**128)), "log_sum"),
        (edit_json(tie_key=-1), "tie_key"),
        (edit_json(tie_key=2**64), "tie_key"),
        (edit_json(tie_key="x"), "tie_key"),
        (edit_json(names=["a"]), "names"),
        (edit_json(names="abc"), "names"),
        (edit_json(names=[1, 2, 3]), "names"),
        (edit_json(metadata=None), "metadata"),
        (edit_json(preparation=[]), "preparation"),
        (edit_round(stage="modes"), "a cost of the history"),
        (edit_round(stage="other"), "a stage of the history"),
        (edit_round(stage=["latent"]), "a stage of the history"),
        (edit_round(objective=None), "the history"),
        (edit_round(objective=math.inf), "the history"),
        (edit_round(cost=1), "a cost of the history"),
        (edit_json(cost_units=0), "cost_units"),
        (edit_array("loop_numbers.npy", np.zeros_like), "the numbers of the clusters"),
        (edit_array("loop_numbers.npy", lambda a: a + 1), "the numbers of the clusters"),
        (edit_array("loop_numbers.npy", lambda a: a.astype(np.int64)), "the array loop_numbers"),
        (edit_array("prices.npy", lambda a: a[:, 1:].copy()), "shape of prices"),
        (edit_array("prices.npy", lambda a: a[1:].copy()), "shape of prices"),
        (edit_array("prices.npy", lambda a: a.astype(np.int64)), "prices"),
        (edit_array("prices.npy", lambda a: a[0].copy()), "prices"),
        (edit_array("prices.npy", lambda a: a * np.uint32(1 << 14)), "size of prices"),
        (edit_array("base.npy", lambda a: a[1:].copy()), "shape of prices"),
        (edit_array("base.npy", lambda a: a.reshape(1, -1)), "base"),
        (edit_array("base.npy", lambda a: a + FAR_APART), "size of prices"),
        (edit_array("price_0_default.npy", lambda a: a[1:].copy()), "shape of prices"),
        (edit_array("price_0_default.npy", np.zeros_like), "bonuses"),
        (edit_array("price_0_default.npy", lambda a: a + FAR_APART), "size of prices"),
        (edit_array("price_0_shared.npy", lambda a: a[1:].copy()), "shape of prices"),
        (edit_array("price_0_shared.npy", lambda a: a + np.uint32(2**32 - 1 - a.max())), "prices"),
        (edit_array("price_0_indptr.npy", swap), "list of bonuses"),
        (edit_array("price_0_indptr.npy", lambda a: a[:-1].copy()), "list of bonuses"),
        (edit_array("price_0_indptr.npy", lambda a: a + 1), "list of bonuses"),
        (edit_array("price_0_indptr.npy", lambda a: a.astype(np.int32)), "price_0_indptr"),
        (edit_array("price_0_clusters.npy", swap), "clusters of bonuses"),
        (edit_array("price_0_clusters.npy", lambda a: a + 1), "clusters of bonuses"),
        (edit_array("price_0_clusters.npy", lambda a: a - 1), "clusters of bonuses"),
        (edit_array("price_0_clusters.npy", lambda a: a[1:].copy()), "list of bonuses"),
        (edit_array("price_0_bonus.npy", lambda a: a + np.uint32(2**20)), "bonuses"),
        (edit_array("price_0_bonus.npy", lambda a: a[1:].copy()), "list of bonuses"),
        (edit_array("soft_sizes.npy", lambda a: a + 1), "the soft counts"),
        (edit_array("soft_sizes.npy", lambda a: -a), "the soft counts"),
        (edit_array("soft_cells.npy", lambda a: a * 0), "the soft counts"),
        (edit_array("soft_wide_0_counts.npy", lambda a: a + 1), "the soft counts"),
        (drop("prices.npy"), "not those of a model"),
        (drop("price_0_bonus.npy"), "not those of a model"),
        (drop("soft_sizes.npy"), "not those of a model"),
        (drop("loop_numbers.npy"), "not those of a model"),
        (replace_member("price_1_bonus.npy", npy(np.zeros(2, np.uint32))), "the list of members"),
        (edit_params(refine="best"), "refine='best'"),
        (edit_params(n_init="many"), "n_init='many'"),
    ],
)
def test_every_field_of_a_refined_model_is_checked(refined, change, message):
    rewrite(refined, change)
    assert_refused(refined, message)


def test_twice_the_soft_counts_are_refused(refined):
    def change(members):
        for name in [name for name in members if name.startswith("soft_")]:
            if not name.endswith(("indptr.npy", "codes.npy")):
                edit_array(name, lambda a: 2 * a)(members)

    rewrite(refined, change)
    assert_refused(refined, "the soft counts")


def test_a_model_of_version_1_settles_ties_as_it_did(saved):
    def change(members):
        document = json.loads(members["model.json"])
        for new in ("tie_key", "resolution", "log_sum", "names", "metadata", "preparation"):
            del document[new]
        for round_ in document["history"]:
            del round_["stage"], round_["objective"]
        members["model.json"] = json.dumps(document | {"version": 1}).encode()
        del members["loop_numbers.npy"]

    rewrite(saved, change)
    model = softmodes.load(saved)
    distances = model.transform(FRAME)
    assert ((distances == distances.min(axis=1, keepdims=True)).sum(axis=1) > 1).any()
    assert_array_equal(model.predict(FRAME), distances.argmin(axis=1))
    model.save(saved)
    assert_array_equal(softmodes.load(saved).predict(FRAME), distances.argmin(axis=1))


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**600])
def test_units_whose_product_is_no_unit_are_refused(tmp_path, unit):
    path = tmp_path / "weighted.softmodes"
    MODELS["feature weights"].fit(FRAME).save(path)
    rewrite(path, edit_json(row_unit=unit, feature_unit=unit))
    assert_refused(path, "the product of the units")


def test_a_file_that_asks_for_a_million_threads_is_harmless(saved):
    expected = softmodes.load(saved).predict(FRAME)
    rewrite(saved, edit_params(n_jobs=536870912))
    assert_array_equal(softmodes.load(saved).predict(FRAME), expected)


@pytest.mark.parametrize("start", [0, 2000, -200, -60, -30])
@pytest.mark.parametrize("length", [1, 5, 300])
def test_a_file_that_has_lost_bytes_anywhere_is_refused(saved, start, length):
    data = saved.read_bytes()
    start %= len(data)
    saved.write_bytes(data[:start] + data[start + length :])
    assert_refused(saved)


def test_a_bad_name_in_the_directory_is_refused(saved):
    data = saved.read_bytes()
    entry = data.rindex(b"PK\x01\x02")
    flags = bytes([data[entry + 8], data[entry + 9] | 8])  # the name is said to be UTF-8
    name = b"\xff" * 10
    saved.write_bytes(
        data[: entry + 8] + flags + data[entry + 10 : entry + 46] + name + data[entry + 56 :]
    )
    assert_refused(saved)


def test_random_damage_never_raises_anything_else(saved):
    rng = np.random.default_rng(0)
    data = np.frombuffer(saved.read_bytes(), np.uint8)
    refusals = []
    for _ in range(300):
        broken = data.copy()
        if rng.random() < 0.5:  # the directory, at the end, is where zipfile stumbles
            where = len(data) - 1 - rng.integers(0, 1000, 3)
        else:
            where = rng.integers(0, len(data), 20)
        broken[where] = rng.integers(0, 256, len(where))
        saved.write_bytes(broken.tobytes())
        try:
            softmodes.load(saved)
        except BadModelFile as error:
            refusals.append(str(error))
    assert len(refusals) > 200
    assert all(text.startswith(str(saved)) for text in refusals)


def test_a_file_that_cannot_be_opened_is_no_bad_model(tmp_path):
    with pytest.raises(FileNotFoundError):
        softmodes.load(tmp_path / "nowhere.softmodes")
    with pytest.raises(IsADirectoryError):
        softmodes.load(tmp_path)


class Mine(KModes):
    pass


class SoftModesOfMine(SoftModes):
    pass


SoftModesOfMine.__name__ = "SoftModes"


@pytest.mark.parametrize("kind", [Mine, SoftModesOfMine])
def test_a_subclass_that_could_not_be_loaded_is_not_saved(kind, tmp_path):
    model = kind(2, random_state=0, n_init=1).fit(FRAME)
    with pytest.raises(ValueError, match=f"class {kind.__name__} cannot be saved.*Pickle"):
        model.save(tmp_path / "m.softmodes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_clusters": 5}, r"n_clusters=5 is not that of the fit.*set_params\(n_clusters=2\)"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"t": math.nan}, "t=nan"),
        ({"init": [["x"]]}, "init"),
        ({"random_state": np.random.default_rng(0)}, "random_state=Generator"),
    ],
)
def test_parameters_that_could_not_be_loaded_are_not_saved(changes, message, tmp_path):
    model = SoftModes(2, random_state=0, n_init=1).fit(FRAME).set_params(**changes)
    with pytest.raises(ValueError, match=message):
        model.save(tmp_path / "m.softmodes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("t", [Fraction(5, 2), np.float32(2.5), np.longdouble(2.5), 2])
def test_a_number_of_any_type_survives_a_round_trip(t, tmp_path):
    model = SoftModes(np.int8(2), t=t, random_state=np.uint64(2**63), n_init=1).fit(FRAME)
    model.save(tmp_path / "m.softmodes")
    again = softmodes.load(tmp_path / "m.softmodes")
    assert (again.t, again.n_clusters, again.random_state) == (float(t), 2, 2**63)


def test_saving_and_loading_draw_nothing_from_the_global_generator(tmp_path):
    model = KModes(2, n_init=1).fit(FRAME)
    before = np.random.get_state()[1].copy()  # noqa: NPY002  (the very thing that is tested)
    model.save(tmp_path / "m.softmodes")
    softmodes.load(tmp_path / "m.softmodes")
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_a_tampered_member_is_refused(saved):
    rewrite(saved, edit_json(converged=False), resum=False)
    with pytest.raises(ValueError, match="checksums do not match"):
        softmodes.load(saved)


def test_a_compressed_bomb_is_refused_before_it_is_unpacked(saved):
    rewrite(saved, replace_member("bomb.npy", bytes(50_000_000)), zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="more bytes than the file has"):
        softmodes.load(saved)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ValueError, match="not a whole model file"):
        softmodes.load(saved)


def test_every_flipped_byte_is_noticed_or_harmless(saved):
    data = bytearray(saved.read_bytes())
    expected = softmodes.load(saved)
    refused = 0
    for position in range(0, len(data), 97):
        broken = data.copy()
        broken[position] ^= 0xFF
        saved.write_bytes(broken)
        try:
            found = softmodes.load(saved)
        except ValueError:
            refused += 1
        else:
            assert_array_equal(found.labels_, expected.labels_)
            assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    assert refused > 10


def test_foreign_and_absent_files_are_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(ValueError, match=r"notes\.txt cannot be loaded"):
        softmodes.load(text)
    with pytest.raises(FileNotFoundError):
        softmodes.load(tmp_path / "nowhere.softmodes")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ValueError, match="not a softmodes model"):
        softmodes.load(tmp_path / "other.zip")


def test_what_cannot_be_saved_is_said_and_nothing_is_lost(saved):
    before = saved.read_bytes()
    model = SoftModes(2, rounding=lambda c: c / c.sum(axis=1, keepdims=True), n_init=1).fit(FRAME)
    with pytest.raises(ValueError, match=r"rounding=.*cannot be saved without pickle"):
        model.save(saved)
    model = KModes(2, random_state=np.random.RandomState(0), n_init=1).fit(FRAME)
    with pytest.raises(ValueError, match=r"random_state=.*set_params"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_a_folder_that_does_not_exist_is_named(saved):
    model = KModes(2, random_state=0, n_init=1).fit(FRAME)
    with pytest.raises(FileNotFoundError, match=r"path=.*nowhere.*Make the folder"):
        model.save(saved.parent / "nowhere" / "m.softmodes")
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("", ValueError, r"path='' is empty\. Pass the path of a file"),
        ("a\0b", ValueError, r"path='a\\x00b' holds a NUL byte\. Pass the path of a file"),
        (".", IsADirectoryError, r"path='\.' is a folder\. Pass the path of a file"),
    ],
)
def test_where_no_model_can_be_saved_is_said(path, kind, message):
    model = KModes(2, random_state=0, n_init=1).fit(FRAME)
    with pytest.raises(kind, match=message):
        model.save(path)


def test_saving_follows_a_link_and_keeps_the_mode(saved):
    link = saved.with_name("link")
    link.symlink_to(saved.name)
    saved.chmod(0o600)
    KModes(3, random_state=0, n_init=1).fit(FRAME).save(link)
    assert link.is_symlink()
    assert softmodes.load(saved).n_clusters == 3
    assert saved.stat().st_mode & 0o777 == 0o600


def test_a_model_saved_to_a_pipe_comes_out_whole(saved):
    pipe, copy = saved.with_name("pipe"), saved.with_name("copy")
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()), daemon=True)
    reader.start()
    model = softmodes.load(saved)
    model.save(pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert_array_equal(softmodes.load(copy).labels_, model.labels_)


@pytest.mark.parametrize("device", ["/dev/zero", os.devnull])
def test_a_device_is_no_model_and_is_not_read_to_an_end_that_it_has_not(device):
    with pytest.raises(BadModelFile, match=rf"^{device} cannot be loaded: it is not a regular fil"):
        softmodes.load(device)


def test_a_file_tells_version_time_and_notes_and_may_leave_out_the_labels(tmp_path):
    path = tmp_path / "m.softmodes"
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    model = KModes(2, random_state=0, n_init=1).fit(FRAME)
    model.save(path, labels=False, metadata={"wave": 3, "who": ["a", None]})
    again = softmodes.load(path)
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(FRAME), model.labels_)
    fitted = dt.datetime.fromisoformat(again.metadata_.pop("fitted"))
    assert before <= fitted <= dt.datetime.now(dt.UTC)
    assert again.metadata_ | {"fitted": None} == {
        "softmodes": softmodes.__version__,
        "fitted": None,
        "wave": 3,
        "who": ["a", None],
    }
    assert "wave" not in model.metadata_
    again.save(path, metadata={"wave": 4})
    assert softmodes.load(path).metadata_["wave"] == 4
    assert softmodes.load(path).metadata_["who"] == ["a", None]
    with zipfile.ZipFile(path) as archive:
        assert "labels.npy" not in archive.namelist()


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ([1], r"metadata=\[1\] is not a dict with texts for keys. Pass one."),
        ({1: 2}, "is not a dict with texts for keys"),
        ({"a": object()}, "metadata=.* cannot be saved: .* Pass what JSON can hold"),
        ({"a": math.nan}, "cannot be saved"),
        ({"fitted": "today"}, "has the key 'fitted', which is the model's own. Pass another."),
    ],
)
def test_metadata_that_a_file_cannot_hold_is_refused(metadata, text, tmp_path):
    model = KModes(2, random_state=0, n_init=1).fit(FRAME)
    with pytest.raises(ValueError, match=text):
        model.save(tmp_path / "m.softmodes", metadata=metadata)
    assert not list(tmp_path.iterdir())


def test_a_preparation_is_saved_with_the_model_and_refused_if_it_is_of_another(tmp_path):
    path = tmp_path / "m.softmodes"
    raw = FRAME.assign(number=np.arange(120) / 7)
    prepare = softmodes.Prepare().fit(raw)
    rows = prepare.transform(raw)
    model = KModes(2, random_state=0, n_init=1).fit(rows)
    assert model.preparation_ is None
    model.save(path, preparation=prepare)
    again = softmodes.load(path)
    assert_array_equal(again.predict(again.preparation_.transform(raw)), model.labels_)
    again.save(path)
    assert softmodes.load(path).preparation_.to_dict() == prepare.to_dict()
    other = KModes(2, random_state=0, n_init=1).fit(FRAME)
    with pytest.raises(ValueError, match=r"preparation makes the columns .* Pass the one"):
        other.save(path, preparation=prepare)
    rewrite(path, edit_json(preparation=softmodes.Prepare().fit(FRAME[["a", "b"]]).to_dict()))
    with pytest.raises(BadModelFile, match="preparation makes the columns"):
        softmodes.load(path)
