from __future__ import annotations

import itertools

import numpy as np
import pytest

from softmodes._compare import contenders
from softmodes._compare.contenders import (
    CONTENDERS,
    DEFAULT,
    chosen,
    how_to_install,
    similarity_of_neighbors,
)
from softmodes._compare.tables import LabelledTable, ReadyTable, some_rows
from softmodes.baselines import integer_codes, names, one_hot_codes
from softmodes.datasets import load_zoo
from support import table


def test_every_contender_runs_a_registered_method():
    assert {contender.method for contender in CONTENDERS.values()} <= set(names())
    assert CONTENDERS[DEFAULT].params == ()
    assert [c.name for c in CONTENDERS.values() if c.side == "rival"] == [
        "KMeans",
        "BIRCH",
        "Gaussian diagonal",
        "Gaussian full",
        "StepMix",
        "kmodes Huang",
        "kmodes Cao",
    ]


def test_contenders_are_chosen_by_name_with_parameters_of_their_own():
    plain, tuned = chosen(["KMeans", "SoftModes(t=2, refine='gini')"])
    assert plain is CONTENDERS["KMeans"]
    assert tuned.name == "SoftModes(t=2, refine='gini')"
    assert tuned.method == CONTENDERS["SoftModes"].method
    assert dict(tuned.params) == {"t": 2, "refine": "gini"}
    assert chosen() == list(CONTENDERS.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("KMean", "method='KMean' is not known. Pass some of 'SoftModes', "),
        ("KMean(a=1)", "is not known"),
        ("SoftModes(2)", "has parameters that cannot be read: a parameter has no name. Pass names"),
        ("SoftModes(t=open)", "has parameters that cannot be read"),
        ("SoftModes(t=)", "has parameters that cannot be read"),
    ],
)
def test_what_is_no_contender_is_refused(text, message):
    with pytest.raises(ValueError, match="method=") as refused:
        chosen([text])
    assert message in str(refused.value)


def test_packages_that_are_missing_are_named_with_what_to_install(monkeypatch):
    monkeypatch.setattr(contenders, "find_spec", lambda name: None)
    assert how_to_install(CONTENDERS.values()) == [
        "Not installed: StepMix. Install with: pip install stepmix",
        "Not installed: kmodes Huang and kmodes Cao. Install with: pip install kmodes",
    ]
    monkeypatch.undo()
    assert how_to_install([CONTENDERS["KMeans"]]) == []


def test_theta_is_the_similarity_that_one_of_2k_pairs_reaches():
    rows = table(40, (3, 4, 2, 5, 3), seed=3)
    similar = sorted(
        (a == b).sum() / (10 - (a == b).sum()) for a, b in itertools.combinations(rows, 2)
    )
    for k in (2, 5, 20):
        theta = similarity_of_neighbors(rows, k)["theta"]
        share = np.mean([s >= theta for s in similar])
        above = np.mean([s > theta for s in similar])
        assert share >= 1 / (2 * k) >= above
    assert similarity_of_neighbors(rows[:1], 1) == {"theta": 0.5}


# --- tables ---


def test_forms_are_those_that_methods_would_make():
    X, y = load_zoo(return_X_y=True)
    ready = ReadyTable(LabelledTable("zoo", X, y))
    assert (ready.form("codes").rows == integer_codes(X)).all()
    assert (ready.form("one-hot").rows == one_hot_codes(X)).all()
    assert (ready.form("integers").rows == integer_codes(X)).all()
    assert ready.form("integers").rows.dtype == np.uint8
    assert ready.form("table").rows is X
    assert ready.form("one-hot") is ready.form("one-hot")
    told = ready.describe()
    assert (told["rows"], told["columns"], told["values"], told["k"]) == (101, 16, 36, 7)
    assert told["largest_class"] == pytest.approx(41 / 101)


def test_fingerprints_tell_tables_apart():
    X, y = load_zoo(return_X_y=True, as_frame=False)
    prints = {
        ReadyTable(LabelledTable("zoo", rows, classes)).fingerprint
        for rows, classes in ((X, y), (X.astype(str), y), (X[::-1], y), (X, y % 3))
    }
    assert len(prints) == 3, "the same values as text have the same codes"


def test_some_rows_of_any_container():
    import pandas as pd
    import pyarrow as pa

    rows, index = [["a", 1], ["b", 2], ["c", 3]], np.array([0, 2])
    frame = pd.DataFrame(rows, columns=["x", "y"])
    for container in (rows, frame, pa.Table.from_pandas(frame), frame.to_numpy()):
        part = some_rows(container, index)
        got = part.to_pandas() if isinstance(part, pa.Table) else pd.DataFrame(part)
        assert got.to_numpy().tolist() == [["a", 1], ["c", 3]]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([1, 1, 1, 1], "The classes of 't' are all the same"),
        ([1, 2, 3, 3], "The 4 rows of 't' have 3 classes, fewer than 2 rows each."),
        ([1, 2], "The table 't' has 4 rows, but 2 classes were given."),
    ],
)
def test_classes_that_tell_nothing_are_refused(classes, message):
    with pytest.raises(ValueError, match="classes") as refused:
        ReadyTable(LabelledTable("t", [["a"], ["b"], ["a"], ["b"]], classes))
    assert message in str(refused.value)
