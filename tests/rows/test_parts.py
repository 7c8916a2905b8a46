"""Parts of a table, coded alone and packed together: the rows of the table, wherever it is cut."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from softmodes._rows.parts import CodedPart, code_part, merged, merged_weights, packed_part
from softmodes._rows.stores import open_store
from softmodes._rows.weights import WeightFacts, row_units

N = 700
CUTS = [(), (1,), (0, 350, 350), (3, 64, 128, 500, 699), tuple(range(1, 20)), (N,)]


def made_table(missing: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "text": rng.choice(list("abcd"), N),
            "wide": rng.integers(0, 400, N),
            "number": rng.choice([0.5, 1.0, 2.0], N),
            "late": np.where(np.arange(N) < N - 1, "x", "y"),  # a value of the last row only
        }
    )
    if missing:
        frame.loc[5:8, "text"] = None
        frame.loc[600:, "number"] = np.nan
    return frame


def cut(frame: pd.DataFrame, cuts: tuple[int, ...], missing: str, weight=None) -> list[CodedPart]:
    edges = pairwise([0, *cuts, len(frame)])
    return [
        code_part(frame[a:b], missing, weight=None if weight is None else weight[a:b])
        for a, b in edges
    ]


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("missing", ["category", "ignore", "error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_packed_as_the_whole_table_wherever_it_is_cut(cuts, missing, weighted):
    frame = made_table(missing != "error")
    weight = np.random.default_rng(0).random(N) if weighted else None
    whole = open_store(frame, missing=missing, sample_weight=weight)
    parts = cut(frame, cuts, missing, weight)
    codebook = merged(part.codebook for part in parts)
    assert codebook == whole.codebook
    unit = merged_weights([part.weight_facts for part in parts], frame.shape[1])
    first_row, blocks = 0, []
    for index, part in enumerate(parts):
        blocks.append(packed_part(part, codebook, first_row, index, unit))
        assert (blocks[-1].index, blocks[-1].first_row) == (index, first_row)
        first_row += part.n_rows
    (expected,) = whole.store.map(lambda block, _: block)
    assert_array_equal(np.concatenate([block.packed for block in blocks]), expected.packed)
    if weighted:
        assert unit is not None
        assert (unit.size, unit.repeats) == (whole.rows.unit, whole.rows.repeats)
        found = np.concatenate([block.weight for block in blocks])
        assert_array_equal(found, expected.weight)
    else:
        assert unit is None


def test_a_digest_tells_rows_their_order_and_their_weights_from_others():
    rows = [["a", 1], ["b", 2], ["a", 2]]
    weight = [1.0, 2.0, 3.0]
    others = {
        "the same": code_part(rows),
        "another order": code_part([rows[1], rows[0], rows[2]]),
        "another value": code_part([["a", 1], ["c", 2], ["a", 2]]),
        "fewer rows": code_part(rows[:2]),
        "weights": code_part(rows, weight=weight),
        "other weights": code_part(rows, weight=weight[::-1]),
        "no rows": code_part(np.zeros((0, 2))),
        "names": code_part(pd.DataFrame(rows, columns=["x", "y"])),
    }
    digests = {name: part.digest for name, part in others.items()}
    assert len(set(digests.values())) == len(others)
    assert code_part([list(row) for row in rows]).digest == digests["the same"]
    frame = pd.DataFrame(rows, columns=["x", "y"])
    assert code_part(frame.convert_dtypes()).digest == digests["names"]


def test_a_part_travels():
    part = code_part(made_table()[:100], "ignore", weight=np.arange(100))
    there = pickle.loads(pickle.dumps(part))
    assert there.digest == part.digest
    assert there.weight_facts == part.weight_facts


def test_a_part_that_was_not_merged_is_refused():
    one, other = code_part([["a"]]), code_part([["b"]])
    with pytest.raises(ValueError, match=r"This part was not merged into the codebook: .*'b'"):
        packed_part(other, one.codebook, 0, 0, None)


def test_weights_for_some_parts_only_are_refused():
    facts = [WeightFacts.of(np.ones(2)), None]
    with pytest.raises(ValueError, match="1 of 2 parts have weights"):
        merged_weights(facts, 3)
    with pytest.raises(ValueError, match=r"sample_weight\[12\] is -1"):
        code_part([["a"], ["b"], ["c"]], weight=[1, 1, -1], first_row=10)
    with pytest.raises(ValueError, match="zero everywhere"):
        merged_weights([WeightFacts.of(np.zeros(2))] * 2, 3)


sizes = st.floats(0, 1e300) | st.floats(0, 4) | st.integers(0, 5).map(float)


@given(st.lists(sizes, min_size=1, max_size=40).filter(any), st.data())
def test_the_unit_of_weights_does_not_depend_on_cut_or_order(weights, data):
    weight = np.array(weights)
    whole = row_units(weight, len(weight), 50)
    shuffled = weight[data.draw(st.permutations(range(len(weight))))]
    at = sorted(data.draw(st.lists(st.integers(0, len(weight)), max_size=4)))
    facts = [WeightFacts.of(shuffled[a:b]) for a, b in pairwise([0, *at, len(weight)])]
    assert reduce(add, facts).total == sum(map(Fraction, weights))
    unit = merged_weights(facts, 50)
    assert (unit.size, unit.repeats) == (whole.unit, whole.repeats)
    assert_array_equal(unit.counts(weight), whole.counts)


def test_weights_are_summed_exactly_over_pieces_of_a_long_table():
    few = np.random.default_rng(0).random(997) * 1e-3 + 1e9
    weight = np.tile(few, 2300)
    assert len(weight) > 2 * 2**20
    assert WeightFacts.of(weight).total == 2300 * sum(map(Fraction, few.tolist()))
