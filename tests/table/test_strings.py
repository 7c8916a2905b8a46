from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmodes._table.column import code_column

texts = st.one_of(
    st.none(), st.text(max_size=20), st.sampled_from(["", "a", "aaaaaaaa", "aaaaaaaab"])
)


def obvious(cells):
    """Distinct strings in order, and the code of every cell; missing comes last."""
    values = sorted({cell for cell in cells if cell is not None})
    index = {value: code for code, value in enumerate(values)} | {None: len(values)}
    return values, [index[cell] for cell in cells]


@given(st.lists(texts, min_size=1), st.data(), st.sampled_from([pa.string(), pa.large_string()]))
def test_strings_get_the_codes_of_their_rank(cells, data, kind):
    cut = data.draw(st.integers(0, len(cells)))
    padded = pa.array(["x", *cells[:cut]], kind)[1:]  # a slice: offsets and bits do not start at 0
    column = pa.chunked_array([padded, pa.array(cells[cut:], kind)])
    coded = code_column(column)
    values, codes = obvious(cells)
    assert coded.values.array.tolist() == values
    assert coded.codes.tolist() == codes
    assert coded.values.has_missing == (None in cells)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 300, 5000, 65_536, 65_537, 70_000])
def test_any_number_of_strings_is_numbered_alike(n):
    rng = np.random.default_rng(n)
    cells = [f"value {i} with a long tail" if i % 3 else f"{i}" for i in rng.permutation(n)] * 2
    coded = code_column(pa.array(cells))
    values, codes = obvious(cells)
    assert coded.values.array.tolist() == values
    assert coded.codes.tolist() == codes


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 25, 40])
def test_strings_that_differ_in_one_byte_are_others(length):
    same = "a" * length
    cells = [same, *(same[:i] + "b" + same[i + 1 :] for i in range(length)), same[:-1], same + "a"]
    coded = code_column(pa.array(cells * 3))
    values, codes = obvious(cells * 3)
    assert len(values) == length + 3
    assert coded.values.array.tolist() == values
    assert coded.codes.tolist() == codes


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_values_that_come_up_in_later_chunks_are_found_there(kind):
    texts = [[], ["b", "a", "b"], [], ["a", "d", None], ["c", "e"], []]
    column = pa.chunked_array([pa.array(some, kind) for some in texts])
    coded = code_column(column, None)
    assert coded.values.array.tolist() == ["a", "b", "c", "d", "e"]
    assert coded.codes.tolist() == [1, 0, 1, 0, 3, 5, 2, 4]
