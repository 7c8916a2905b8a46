from __future__ import annotations

import io
import json
import math
import os
import threading
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import softmodes
from softmodes import KModes, SoftModes
from softmodes.result import _sums
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
    assert again.score(FRAME) == model.score(FRAME)
    assert again.profile().equals(model.profile())


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


def test_wide_features_survive_a_round_trip(tmp_path):
    X = np.arange(900)[:, None] % np.array([300, 2])
    model = KModes(3, random_state=0, n_init=1).fit(X)
    model.save(tmp_path / "wide.softmodes")
    again = softmodes.load(tmp_path / "wide.softmodes")
    assert (again.cluster_counts_[0] != model.cluster_counts_[0]).nnz == 0
    assert_array_equal(again.predict(X), model.predict(X))


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


def replace_member(name, data):
    return lambda members: members.update({name: data})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit_json(version=99), "format version 99, and this softmodes reads up to 1"),
        (edit_json(version="x"), "format version 'x'"),
        (edit_json(format="other"), "not a softmodes model"),
        (edit_json(estimator="os.system"), "unknown estimator"),
        (edit_json(params={"n_clusters": 2, "evil": 1}), "unknown estimator"),
        (edit_json(best_round=10_000), "best_round"),
        (edit_json(history=[]), "best_round"),
        (edit_json(codebook={}), "not a codebook"),
        (replace_member("model.json", b"{"), "cannot be read"),
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
        (replace_member("labels.npy", b"junk"), "cannot be read"),
        (replace_member("centers.npy", npy(np.full((2, 6), 999, np.int32))), "the centers"),
        (replace_member("cells.npy", npy(np.zeros((2, 3), np.int64))), "the shape of the counts"),
        (replace_member("sizes.npy", npy(np.zeros(2))), "the array sizes"),
        (lambda members: members.pop("cells.npy"), "not those of a model"),
    ],
)
def test_a_file_that_is_not_exactly_a_model_is_refused(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(ValueError, match=message):
        softmodes.load(saved)


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
