"""`softmodes info`: what is installed here, or what a model file holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from softmodes._cli.options import Printing, command
from softmodes._cli.printing import print_json

_EXTRAS = {
    "pandas": "frames in Python",
    "polars": "frames in Python",
    "fastexcel": "Excel files",
    "pyreadstat": "SPSS files",
    "charset_normalizer": "files of unknown encoding",
    "matplotlib": "plots",
    "jinja2": "reports",
    "dask": "clusters of machines",
    "pyspark": "clusters of machines",
    "duckdb": "queries as tables",
    "kmodes": "a rival in compare",
    "stepmix": "a rival in compare",
}


@command("softmodes info", "softmodes info survey.softmodes")
def info(
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="A file that fit --save wrote.", show_default=False),
    ] = None,
    *,
    printing: Printing,
) -> None:
    """Versions, machine and what is installed; with a model file, what it holds."""
    found = _here() if model is None else _of_model(model)
    if printing.json:
        print_json(found)
        return
    from softmodes._text import harmless

    width = max(map(len, found))
    for name, value in found.items():
        shown = value if isinstance(value, list) else [value]
        for i, line in enumerate(shown or ["-"]):
            print(harmless(f"{'' if i else name:<{width}}  {line}"))


def _here() -> dict[str, Any]:
    from importlib.util import find_spec

    from softmodes import _kernels
    from softmodes._parameters import usable_cores
    from softmodes._provenance import machine, versions

    there = [name for name in _EXTRAS if find_spec(name) is not None]
    lacking = [name for name in _EXTRAS if name not in there]
    return {
        **versions("narwhals", "pyarrow", *there),
        "machine": machine(),
        "instructions": _kernels.instruction_set(),
        "threads": usable_cores(),
        "not installed": [f"{name}: {_EXTRAS[name]}" for name in lacking],
    }


def _of_model(path: str) -> dict[str, Any]:
    from softmodes._estimators import load
    from softmodes._model.marks import percent
    from softmodes._report.kept import KEY  # too long to be printed

    model = load(path)
    preparation = model.preparation_
    sizes = model.cluster_sizes_
    total = max(float(sizes.sum()), 1.0)
    groups = [
        f"{i}: {name} ({percent(float(size) / total)})"
        for i, (name, size) in enumerate(zip(model.names_, sizes, strict=True))
    ]
    params = {name: value for name, value in model.get_params().items() if value is not None}
    return {
        "estimator": type(model).__name__,
        "groups": groups,
        "rows": round(float(sizes.sum()), 1),
        "columns": model.n_features_in_,
        "preparation": "-" if preparation is None else preparation.advice_.to_text().splitlines(),
        "parameters": [f"{name}={value}" for name, value in params.items()],
        "kept": [f"{name}={value}" for name, value in model.metadata_.items() if name != KEY],
    }
