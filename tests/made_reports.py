"""Reports to test with: of a survey, of hostile cells, of the largest table that is promised."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import softmodes
from softmodes import KModes, Prepare, Report, SoftModes, sweep

HOSTILE = {
    "script": "<script>window.ran = 1</script>",
    "image": '<img src=x onerror="window.ran = 1">',
    "attribute": '" onmouseover="window.ran = 1" x=\'',
    "style": "</style><style>body{display:none}</style>",
    "formula": "=cmd()",
    "template": "{{ 7 * 7 }}{% raw %}",
    "long": "a" * 10_000,
    "right to left": "\u202egnorw\u202c אבג",
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "null": "nothing\x00here",
    "lines": "one\r\ntwo\u2028three",
    "comment": "<!-- -->]]>",
    "url": "javascript:window.ran=1",
}
HALF = "half \ud800 letter"  # which no frame takes, but a path may hold


@cache
def survey() -> tuple[Any, Prepare, softmodes.Sweep, SoftModes]:
    """Rows with two questions that are not used, their preparation, a sweep and its model."""
    rng = np.random.default_rng(0)
    n, d = 400, 12
    group = rng.integers(0, 3, n)
    words = np.array(["never", "sometimes", "often"], dtype=object)
    own = rng.integers(0, 3, (3, d))
    answers = np.where(rng.random((n, d)) < 0.75, own[group], rng.integers(0, 3, (n, d)))
    columns: dict[str, Any] = {f"Q{j}": words[answers[:, j]] for j in range(d)}
    columns["uses"] = np.array(["no", "yes"], dtype=object)[(rng.random(n) < 0.2 + 0.3 * group) * 1]
    columns["RespId"] = np.arange(100_000, 100_000 + n)
    columns["age"] = rng.integers(18, 90, n)
    columns["region"] = np.array(["north", "south"], dtype=object)[rng.integers(0, 2, n)]
    import pandas as pd

    table = pd.DataFrame(columns)
    prepare = Prepare(id="RespId", describe=["age", "region"]).fit(table)
    found = sweep(prepare.transform(table), (2, 5), random_state=0)
    return table, prepare, found, found.model(3)


@cache
def survey_report() -> Report:
    table, prepare, found, model = survey()
    return softmodes.report(
        model,
        table,
        prepare=prepare,
        sweep=found,
        rows="people",
        columns="questions",
        source="survey.csv",
        read_as="comma, utf-8",
        command="softmodes fit survey.csv --id RespId --describe age,region --report survey.html",
    )


@cache
def hostile_report() -> Report:
    """Of a table whose names and values all are hostile, with hostile names, title and source."""
    import pandas as pd

    texts = list(HOSTILE.values())
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 300)
    columns = {}
    for j, name in enumerate(texts):
        pair = np.array([texts[j - 1], texts[j - 2]], dtype=object)
        columns[name] = pair[np.where(rng.random(300) < 0.8, group, 1 - group)]
    table = pd.DataFrame(columns)
    described = texts[0]
    model = SoftModes(2, random_state=0).fit(table)
    model.set_names([HOSTILE["script"], HOSTILE["attribute"]])
    return softmodes.report(
        model,
        table,
        sweep=False,
        describe=described,
        title=HOSTILE["script"],
        rows=HOSTILE["image"],
        columns=HOSTILE["attribute"],
        source=HALF,
        read_as=HOSTILE["style"],
        command=HOSTILE["comment"] + HALF,
        model_file=HOSTILE["null"],
    )


@cache
def largest_report() -> Report:
    """Of 500 columns and 50 groups, with names and values as long as letters of three bytes go."""
    rng = np.random.default_rng(0)
    k, d, n, s = 50, 500, 2500, 6
    group = np.arange(n) % k
    own = rng.integers(0, s, (k, d))
    codes = np.where(rng.random((n, d)) < 0.7, own[group], rng.integers(0, s, (n, d)))
    values = [f"{v}{'答え' * 60}" for v in range(s)]
    columns = [pa.DictionaryArray.from_arrays(codes[:, j], values) for j in range(d)]
    table = pa.table(columns, names=[f"{j}{'質問' * 60}" for j in range(d)])
    model = KModes(k, init=table.slice(0, k), n_init=1, max_iter=2, random_state=0).fit(table)
    return softmodes.report(model, table, sweep=False)
