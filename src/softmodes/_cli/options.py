"""The options that commands share: each is written once, in a group that a command takes whole."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from softmodes._cli.errors import plain_errors

_COLUMNS, _READING, _PRINTING = "Columns", "Reading the file", "Printing"
_SEVERAL = "A name, or several with commas between."

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Excel, SPSS, Parquet or Arrow, a row for each case; - is standard input.",
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A file that fit --save wrote.", show_default=False),
]
Seed = Annotated[int, typer.Option(help="Same seed, same answer.")]
Sharpness = Annotated[
    str,
    typer.Option("-t", "--t", help="Sharpness of the rounding: from 1 up to inf, or auto."),
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that exist.")]


def _columns(name: str, metavar: str | None = "COL", *, help: str) -> Any:
    return typer.Option(
        name, help=help, metavar=metavar, rich_help_panel=_COLUMNS, show_default=False
    )


def _reading(name: str, metavar: str | None, *, help: str) -> Any:
    return typer.Option(
        name, help=help, metavar=metavar, rich_help_panel=_READING, show_default=False
    )


def _printing(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PRINTING)


@dataclass(frozen=True)
class Columns:
    """What to do with columns, against the advice or beside it."""

    drop: Annotated[
        list[str] | None, _columns("--drop", "COL,...", help=f"Leave columns out. {_SEVERAL}")
    ] = None
    only: Annotated[
        list[str] | None, _columns("--only", "COL,...", help="Use these columns alone.")
    ] = None
    keep: Annotated[
        list[str] | None,
        _columns("--keep", "COL,...", help="Use columns that the advice leaves out."),
    ] = None
    id: Annotated[
        list[str] | None, _columns("--id", "COL,...", help="Carried to --out, never clustered.")
    ] = None
    weight: Annotated[
        str | None, _columns("--weight", help="How many cases a row stands for; not clustered.")
    ] = None
    describe: Annotated[
        list[str] | None, _columns("--describe", "COL,...", help="Shown by group, not clustered.")
    ] = None
    as_: Annotated[
        list[str] | None,
        _columns(
            "--as",
            "COL=WAY",
            help="What to do with a column: COL=category (as it is), =bands:5 (numbers in 5 "
            "bands), =multi:; (several answers, with ; between), =top:49 (rare ones as other) or "
            "=text (left out). Give it once for each column.",
        ),
    ] = None
    missing: Annotated[
        str | None,
        _columns(
            "--missing",
            "WAY",
            help="Cells without an answer: category (an answer of its own), ignore or error. By "
            "default category, and ignore where blocks of questions were not asked of all.",
        ),
    ] = None
    raw: Annotated[
        bool,
        _columns(
            "--raw",
            None,
            help="Follow no advice: every column is used as it is; large files are streamed.",
        ),
    ] = False


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a file where its own looks mislead."""

    na: Annotated[
        list[str] | None,
        _reading(
            "--na", "WORD", help='One more word for "no answer", such as -99. Repeat it for others.'
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _reading("--delimiter", "SIGN", help="What stands between cells, such as ; or tab."),
    ] = None
    encoding: Annotated[
        str | None, _reading("--encoding", "NAME", help="Of the text, such as utf-8 or latin-1.")
    ] = None
    header: Annotated[
        bool | None,
        _reading("--header/--no-header", None, help="Whether the first line has the names."),
    ] = None
    decimal: Annotated[
        str | None, _reading("--decimal", "SIGN", help="Before a fraction: . or , in all columns.")
    ] = None
    sheet: Annotated[
        str | None,
        _reading("--sheet", "NAME", help="Of a workbook: its name, or its number from 1."),
    ] = None


@dataclass(frozen=True)
class Printing:
    """What is printed, and how."""

    json: Annotated[bool, _printing("--json", help="Print the outcome as JSON.")] = False
    quiet: Annotated[
        bool, _printing("--quiet", "-q", help="No advice and no progress, the outcome alone.")
    ] = False
    debug: Annotated[
        bool, _printing("--debug", help="Show where in the program an error arose.")
    ] = False


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function: groups of options become options, errors become one line.

    Its help is the docstring and the examples, which tests run.
    """

    def made(function: Callable[..., None]) -> Callable[..., None]:
        parameters, groups = _flattened(function)

        def run(**given: Any) -> None:
            for name, group in groups.items():
                own = {field.name: given.pop(field.name) for field in fields(group)}
                given[name] = group(**own)
            printing = given.get("printing")
            with plain_errors(TypeError, debug=printing is not None and printing.debug):
                function(**given)

        run.__name__, run.__doc__ = function.__name__, _help(function.__doc__ or "", examples)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.examples = examples  # type: ignore[attr-defined]
        return run

    return made


def _help(text: str, examples: Sequence[str]) -> str:
    """Return a docstring as help: a line for each paragraph, and the examples."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    shown = "\n".join(["Examples:", *(f"  {example}" for example in examples)])
    return "\n\n".join([*paragraphs, shown] if examples else paragraphs)


def _flattened(
    function: Callable[..., None],
) -> tuple[list[inspect.Parameter], dict[str, type[Any]]]:
    """Return a function's parameters, those of its groups of options last, and the groups."""
    hints = get_type_hints(function, include_extras=True)
    own, shared, groups = list[inspect.Parameter](), list[inspect.Parameter](), {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if not is_dataclass(hint):
            own.append(parameter.replace(annotation=hint, kind=parameter.KEYWORD_ONLY))
            continue
        assert isinstance(hint, type)
        groups[parameter.name] = hint
        types = get_type_hints(hint, include_extras=True)
        shared += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=types[field.name],
            )
            for field in fields(hint)
        ]
    return own + shared, groups


def this_command(context: typer.Context) -> str:
    """Return the command that is running as a user may type it again."""
    words = ["softmodes", context.info_name or ""]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value in (None, (), [], parameter.get_default(context)):
            continue
        several = value if isinstance(value, list | tuple) else [value]
        for one in several:
            option = [parameter.opts[0]] if parameter.param_type_name == "option" else []
            words += option if one is True else [*option, str(one)]
    return shlex.join(words)


def names_in(given: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Return the columns that an option names; a comma separates them unless a name holds it.

    Examples
    --------
    >>> names_in(["a,b", "last, first"], ["a", "b", "last, first"])
    ['a', 'b', 'last, first']
    """
    if given is None:
        return None
    found: list[str] = []
    for text in given:
        found += [text] if text in names else [name.strip() for name in text.split(",")]
    return found


def treatments_in(given: Sequence[str] | None, names: Sequence[str]) -> dict[str, str] | None:
    """Return what to do with columns, from texts such as "age=bands:5".

    Examples
    --------
    >>> treatments_in(["age=bands:5", "a=b=category"], ["age", "a=b"])
    {'age': 'bands:5', 'a=b': 'category'}
    """
    if given is None:
        return None
    found: dict[str, str] = {}
    for text in given:
        ends = [i for i, sign in enumerate(text) if sign == "="]
        if not ends:
            raise typer.BadParameter(
                f"{text!r} names no treatment. Pass COLUMN=bands:5, say.", param_hint="--as"
            )
        end = next((i for i in reversed(ends) if text[:i] in names), ends[0])
        found[text[:end]] = text[end + 1 :]
    return found


def range_in(given: str, name: str = "-k") -> tuple[int, int]:
    """Return the least and the most number of groups, from a text such as "2:8".

    Examples
    --------
    >>> range_in("2:8"), range_in("5")
    ((2, 8), (5, 5))
    """
    least, _, most = given.partition(":")
    try:
        return int(least), int(most or least)
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is neither a number nor a range. Pass 2:8, say.", param_hint=name
        ) from None


def number_or_text(given: str) -> float | str:
    """Return a number, or what was given instead: the estimator knows what it may be."""
    try:
        return float(given)
    except ValueError:
        return given
