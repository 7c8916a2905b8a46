"""`softmodes fit`: the groups of a file's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from softmodes._cli.errors import MENDABLE
from softmodes._cli.grouped import beside, groups_of, ids_of
from softmodes._cli.look import as_plain as plain_advice
from softmodes._cli.options import (
    Columns,
    File,
    Force,
    Printing,
    ReadingOptions,
    Seed,
    Sharpness,
    command,
    number_or_text,
    this_command,
)
from softmodes._cli.outputs import Outputs
from softmodes._cli.prepared import Prepared
from softmodes._cli.printing import plain_groups, print_json
from softmodes._cli.streamed import Streamed
from softmodes._cli.sweep import as_plain as plain_sweep
from softmodes._cli.sweep import rows_to_cluster, swept
from softmodes._cli.waiting import Waiting

if TYPE_CHECKING:
    from softmodes._choice import Sweep
    from softmodes._estimators import SoftModes
    from softmodes._report import Report

_MOST_TRIED = 8
_METHOD = "Method"
_DEFAULTS = {"init": "d1-greedy", "n_init": "auto", "refine": "latent"}


@command(
    "softmodes fit survey.csv",
    "softmodes fit survey.csv -k 4 --weight weight --out groups.csv",
    "softmodes fit survey.csv --save survey.softmodes --report survey.html",
)
def fit(
    context: typer.Context,
    file: File,
    k: Annotated[
        str, typer.Option("-k", "--n-clusters", help="Groups: a number, or auto: as sweep picks.")
    ] = "auto",
    t: Sharpness = "auto",
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The group of every row: a .csv, .tsv or .parquet file; - is standard output.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All columns of the file in --out, not only ids.")
    ] = False,
    save: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model, for predict, name and report.")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="A page to read and to send: one .html file.")
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    init: Annotated[
        str,
        typer.Option(
            help="First centers: d1-greedy, d1-parallel, d1, random, huang or cao.",
            rich_help_panel=_METHOD,
        ),
    ] = _DEFAULTS["init"],
    n_init: Annotated[
        str,
        typer.Option(
            help="Restarts, of which the best is kept: a number, or auto.", rich_help_panel=_METHOD
        ),
    ] = _DEFAULTS["n_init"],
    refine: Annotated[
        str,
        typer.Option(
            help="What follows the rounds: latent, gini or none.", rich_help_panel=_METHOD
        ),
    ] = _DEFAULTS["refine"],
    *,
    columns: Columns,
    reading: ReadingOptions,
    printing: Printing,
) -> None:
    """Find the groups, tell what marks each and whether to trust them; write what you ask for.

    The number of groups is that which sweep picks, unless -k gives one. Columns are prepared as
    look tells; each line of the advice is printed, with the option that has it done otherwise.
    """
    from softmodes._parameters import check_seed

    check_seed(seed, "seed")
    asked = _number_of_groups(k)
    outputs = Outputs(force=force, inputs=[file], out=out, save=save, report=report)
    outputs.check_table("out")
    if "report" in outputs:
        from softmodes._report.page import require_jinja

        require_jinja()
    method = {"init": init, "n_init": n_init, "refine": refine}
    with Waiting(printing.quiet) as waiting:
        waiting.say(f"Reading {file}")
        rows = rows_to_cluster(file, columns, reading)
        waiting.say("Trying numbers of groups")
        found = _tried(rows, asked, number_or_text(t), seed)
        number = asked if asked is not None else None if found is None else found.pick
        if number is not None:
            waiting.say(f"Fitting {number} groups")
            model = _model(rows, found, number, number_or_text(t), method, seed)
            if "save" in outputs or "report" in outputs:
                waiting.say("Writing the report")
                page = _reported(model, rows, found, file, save, this_command(context))
    if number is None:
        assert found is not None
        _tell_no_groups(rows, found, printing)
        raise typer.Exit(MENDABLE)
    if "out" in outputs:
        _write_groups(model, rows, outputs, full)
    if "save" in outputs:
        preparation = rows.preparation if isinstance(rows, Prepared) else None
        path = outputs.path("save")
        model.save(path, labels=False, metadata=page.metadata, preparation=preparation)
        outputs.written.append(path)
    if "report" in outputs:
        outputs.write("report", page.to_html().encode())
    _tell(rows, found, model, outputs, printing)


def _number_of_groups(given: str) -> int | None:
    """Return the number that was asked for, None for auto."""
    if given == "auto":
        return None
    try:
        return int(given)
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is neither a number nor auto. Pass 4, say.", param_hint="-k"
        ) from None


def _tried(rows: Prepared | Streamed, asked: int | None, t: float | str, seed: int) -> Sweep | None:
    """Try numbers of groups, up to the one that was asked for; None where none can be tried.

    One that is too large to be tried in seconds is not tried itself.
    """
    if asked is None:
        _check_columns(rows.names)
        return swept(rows, (2, _MOST_TRIED), t, seed)
    from softmodes._model.parts import part_size
    from softmodes._report.rows import MOST_SWEPT

    few = isinstance(rows, Prepared) and asked > part_size(rows.table.num_rows)
    if asked < 2 or few:
        return None  # nothing to compare, or refused by the fit
    most = asked if asked <= MOST_SWEPT else 0
    return swept(rows, (2, max(_MOST_TRIED, most)), t, seed)


def _check_columns(names: list[str]) -> None:
    """Refuse a single column: what goes together cannot be found in it."""
    if len(names) == 1:
        raise ValueError(
            f"One column is used, {names[0]!r}, and groups are answers that go together. Pass a "
            "file with more columns, or --keep some; or -k, to cut the rows by it anyway."
        )


def _model(
    rows: Prepared | Streamed,
    found: Sweep | None,
    k: int,
    t: float | str,
    method: dict[str, str],
    seed: int,
) -> SoftModes:
    if found is not None and method == _DEFAULTS:
        return found.model(k)  # the same as below: the sweep may have fitted it already
    from softmodes._estimators import SoftModes

    n_init, refine = method["n_init"], method["refine"]
    given: dict[str, Any] = {  # the estimator knows what each may be
        "t": t,
        "missing": rows.missing,
        "feature_weight": rows.feature_weight,
        "init": method["init"],
        "n_init": int(n_init) if n_init.removeprefix("-").isdecimal() else n_init,
        "refine": None if refine.lower() == "none" else refine,
        "random_state": seed,
    }
    return SoftModes(k, **given).fit(rows.table, sample_weight=rows.sample_weight)


def _write_groups(
    model: SoftModes, rows: Prepared | Streamed, outputs: Outputs, full: bool
) -> None:
    """Write the group of every row; of rows that are a stream, the number of the group alone."""
    if isinstance(rows, Streamed):
        path = outputs.path("out")
        model.predict_to(rows.table, path, column="group")
        outputs.written.append(path)
        return
    ids = ids_of(rows.preparation, rows.rows.table.column_names)
    outputs.write_table("out", beside(rows.rows.table, ids, full, groups_of(model, rows.table)))


def _reported(
    model: SoftModes,
    rows: Prepared | Streamed,
    found: Sweep | None,
    file: str,
    save: str | None,
    command: str,
) -> Report:
    from softmodes._report import report

    told: dict[str, Any] = {"source": file, "command": command, "model_file": save}
    if isinstance(rows, Streamed):
        return report(model, rows.table, sweep=found or False, **told)
    return report(
        model,
        rows.rows.table,
        sweep=found or False,
        prepare=rows.preparation,
        read_as=" ".join(rows.rows.told),
        **told,
    )


# --- what is printed -----------------------------------------------------------------------------


def _tell_no_groups(rows: Prepared | Streamed, found: Sweep, printing: Printing) -> None:
    if printing.json:
        print_json({"k": None, "sweep": plain_sweep(found)})
    else:
        if not printing.quiet:
            print(rows.told, end="\n\n")
        print(found)
    remedy = "Pass -k with a number of groups to cut the rows anyway."
    typer.secho(f"Error: {found.verdict} among {found.n_rows:,} rows. {remedy}", err=True, fg="red")


def _tell(
    rows: Prepared | Streamed,
    found: Sweep | None,
    model: SoftModes,
    outputs: Outputs,
    printing: Printing,
) -> None:
    if printing.json:
        print_json(_plain(rows, found, model, outputs))
        return
    stream = outputs.text_to
    if not printing.quiet:
        print(rows.told, end="\n\n", file=stream)
    print(_headline(rows, found, model), file=stream)
    print(model.summary(), file=stream)
    outputs.tell_written()


def _headline(rows: Prepared | Streamed, found: Sweep | None, model: SoftModes) -> str:
    """Return how many groups there are, and whether to trust them."""
    from softmodes._model.marks import percent

    k = model.n_clusters
    n_rows = rows.table.num_rows if isinstance(rows, Prepared) else int(sum(model.cluster_sizes_))
    groups = f"{k:,} group{'' if k == 1 else 's'} among {n_rows:,} rows."
    row = None if found is None else next((r for r in found.statistics if r.k == k), None)
    if row is None:
        told = [groups] if k == 1 else [groups, "Whether to trust so many was not tried."]
    else:
        told = [
            f"{groups} {_verdict(found, k)}: found again {row.found_again:.2f} in other rows; "
            f"{percent(row.tied)} could as well be in another group."
        ]
    if found is None:
        return " ".join(told)
    if found.pick != k:
        told.append(f"What sweep says: {found.sentence()}")
    elif found.verdict != "Solid":
        told.append(found.why)
    return " ".join(told)


def _verdict(found: Sweep | None, k: int) -> str | None:
    """Return what a sweep makes of k groups; None where it has not tried so many."""
    verdict = None if found is None else found.choice.verdicts.get(k)
    return None if verdict is None else str(verdict)


def _plain(
    rows: Prepared | Streamed, found: Sweep | None, model: SoftModes, outputs: Outputs
) -> dict[str, Any]:
    """Return the outcome as values that JSON can hold."""
    return {
        "k": model.n_clusters,
        "verdict": _verdict(found, model.n_clusters),
        "groups": plain_groups(model),
        "sweep": None if found is None else plain_sweep(found),
        "advice": plain_advice(rows.preparation.advice_, rows.rows)
        if isinstance(rows, Prepared)
        else None,
        "written": outputs.written,
    }
