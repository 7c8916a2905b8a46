"""`softmodes name`: names for the groups, kept in the model."""

from __future__ import annotations

from typing import Annotated

import typer

from softmodes._cli.options import Force, Model, Printing, command
from softmodes._cli.outputs import Outputs
from softmodes._cli.printing import plain_groups, print_json


@command(
    'softmodes name survey.softmodes 0="Likes reading" 1="Likes sport"',
    "softmodes name survey.softmodes 1= --out other.softmodes",
)
def name(
    model: Model,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="GROUP=NAME...",
            help="The number of a group and its name; without a name, what marks it.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Write the model there, and leave MODEL as it is."),
    ] = None,
    force: Force = False,
    *,
    printing: Printing,
) -> None:
    """Name groups. The names are kept in the model, and shown by predict, report and info."""
    from softmodes._estimators import load

    given = dict(_numbered(text) for text in names)
    outputs = Outputs(force=force, inputs=[model], out=out)
    named = load(model).set_names(given)
    named.save(outputs.path("out") if "out" in outputs else model)
    if printing.json:
        print_json(plain_groups(named))
    elif not printing.quiet:
        for group in named.summary().groups:
            print(f"group {group.number}: {group.name}")


def _numbered(text: str) -> tuple[int, str | None]:
    number, sign, name = text.partition("=")
    if not sign or not number.isdecimal():
        raise typer.BadParameter(
            f"{text!r} is not GROUP=NAME. Pass 0='Likes reading', say.", param_hint="GROUP=NAME"
        )
    return int(number), name or None
