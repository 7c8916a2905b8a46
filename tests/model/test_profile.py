import time

import pandas as pd
import pytest

from softmodes import SoftModes


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
    assert f"f{shown}=a{shown} (100%, 2.0x)" in model.summary()
    assert f"f{shown}=b c (100%, 2.0x)" in model.summary()
    assert model.summary().replace("\n", "").isprintable()
    assert set(model.profile()["value"]) == {f"a{control}", "b c"}
    assert set(model.profile()["feature"]) == {f"f{control}"}


def test_a_line_of_a_summary_holds_a_hundred_characters_and_no_more():
    longest = set()
    for n in range(1, 101):
        X = pd.DataFrame([["a", "a"], ["b", "b"]], columns=["x" * n, "y"])
        lines = SoftModes(2, random_state=0, n_init=1).fit(X).summary().splitlines()
        longest.add(max(map(len, lines)))
    assert max(longest) == 100


def test_a_summary_shows_the_start_of_a_long_value_at_once(tmp_path):
    values = ["x" * 2_000_000 + "y", "z" * 200]
    model = SoftModes(2, random_state=0, n_init=1).fit([[value] for value in values])
    start = time.perf_counter()
    text = "".join(model.summary().split())
    assert time.perf_counter() - start < 2.0
    assert f"x0={'x' * 200}...(100%,2.0x)" in text
    assert f"x0={'z' * 200}(100%,2.0x)" in text
