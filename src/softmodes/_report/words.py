"""What a report says in sentences."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from softmodes._choice.rule import Thresholds, Verdict
from softmodes._report.findings import Findings, Tried
from softmodes._report.texts import agreement, count, percent

_LIMITS = Thresholds()
_NO_GROUPS = (Verdict.NOT_SEPARATE, Verdict.NONE)
_TONES = {
    Verdict.SOLID: "good",
    Verdict.CARE: "care",
    Verdict.DO_NOT_USE: "bad",
    Verdict.NOT_SEPARATE: "none",
    Verdict.NONE: "none",
}


@dataclass(frozen=True)
class Words:
    """What the rows and the columns of the table are called."""

    rows: str = "rows"
    columns: str = "columns"


@dataclass(frozen=True)
class Question:
    """A question of trust: what was measured, the answer, and what it means."""

    question: str
    measured: str
    answer: str
    tone: str  # good, care, bad or none
    meaning: str


def headline(findings: Findings, n_groups: int, words: Words) -> str:
    """Return the first line: how many groups there are among how many rows."""
    swept, among = findings.swept, f"among {count(findings.origin.n_rows)} {words.rows}"
    if swept is not None and swept.pick is None:
        return f"{swept.verdict} {among}"
    if n_groups == 1:
        return f"{count(findings.origin.n_rows)} {words.rows} as one group"
    return f"{n_groups} groups {among}"


def verdict_sentence(
    findings: Findings, n_groups: int, explained: float, words: Words
) -> tuple[str, str, str]:
    """Return the verdict, its tone, and why."""
    verdict = Verdict(findings.verdict)
    return (
        str(verdict),
        _TONES[verdict],
        " ".join(_why(findings, verdict, n_groups, explained, words)),
    )


def _why(
    findings: Findings, verdict: Verdict, n_groups: int, explained: float, words: Words
) -> list[str]:
    swept = findings.swept
    if n_groups == 1:
        if swept is None:
            return ["All are one group: nothing was compared."]
        return [_sentence(swept.why, words), _no_groups_means(Verdict(swept.verdict), words)]
    tried = None if swept is None else swept.of(n_groups)
    if swept is not None and swept.pick is None:
        means = _no_groups_means(Verdict(swept.verdict), words)
        cut = f"Below they are cut into {n_groups}, as was asked for."
        return [f"{_sentence(swept.why, words)} {means} {cut}", _structure(explained, tried)]
    said = [_structure(explained, tried)]
    if tried is None:
        said.append("Whether there are groups at all was not tried.")
    elif verdict is Verdict.SOLID:
        said.append(_clear(tried, words))
    elif verdict == tried.verdict:
        said.append(f"But {in_words(tried.why, words)}")
    again = findings.again
    if again is not None and (tried is None or verdict != tried.verdict):
        said.append(
            f"This model is found again {_how_well(again.whole)} in other parts of the "
            f"{words.rows} ({agreement(again.whole)} of 1)."
        )
    if swept is not None and verdict is Verdict.DO_NOT_USE and swept.pick != n_groups:
        said.append(f"{swept.pick} groups are more to be trusted.")
    return said


def _structure(explained: float, tried: Tried | None) -> str:
    said = f"The groups explain {percent(explained)} of the answers"
    if tried is None or math.isnan(tried.shuffled):
        return f"{said}."
    return f"{said}; with all answers shuffled they would explain {percent(tried.shuffled)}."


def _clear(tried: Tried, words: Words) -> str:
    return (
        f"They are apart from one another, and other parts of the {words.rows} give the same "
        f"groups ({agreement(tried.other_80)} of 1)."
    )


def _no_groups_means(verdict: Verdict, words: Words) -> str:
    if verdict is Verdict.NONE:
        return f"One description fits all {words.rows}."
    return f"The {words.rows} differ, but without gaps between them: any border is arbitrary."


def _how_well(found_again: float) -> str:
    if found_again >= _LIMITS.solid_found_again:
        return "well"
    return "in part" if found_again >= _LIMITS.found_again else "hardly"


def in_words(text: str, words: Words) -> str:
    """Return a sentence of the sweep in the reader's words.

    Examples
    --------
    >>> in_words("found again in other rows.", Words(rows="people"))
    'found again in other people.'
    """
    named = {"rows": words.rows, "columns": words.columns}
    return re.sub(r"\b(rows|columns)\b", lambda found: named[found[0]], text)


def _sentence(text: str, words: Words) -> str:
    return in_words(text[:1].upper() + text[1:], words)


# --- can I trust it? -----------------------------------------------------------------------------


def questions(
    findings: Findings,
    n_groups: int,
    explained: float,
    smallest: float,
    total: float,
    words: Words,
) -> tuple[Question, ...]:
    """Return the four questions of trust; none for a single group."""
    if n_groups == 1:
        return ()
    tried = None if findings.swept is None else findings.swept.of(n_groups)
    return (
        _is_there_structure(findings, n_groups, explained, tried, words),
        _is_it_found_again(findings, tried, words),
        _is_it_clear(findings, tried, total, words),
        _is_one_too_small(smallest, total, words),
    )


def _is_there_structure(
    findings: Findings, n_groups: int, explained: float, tried: Tried | None, words: Words
) -> Question:
    answer, tone = "not tried", "none"
    measured = f"The groups explain {percent(explained, 1)} of the answers"
    if tried is not None and findings.swept is not None:
        measured += f", and {percent(tried.shuffled, 1)} with all answers shuffled"
        pays = findings.swept.pays
        answer, tone = ("yes", "good") if n_groups <= pays else ("not so many groups", "bad")
        if pays == 1:
            answer, tone = "no", "bad"
        elif tried.deciding_columns < _LIMITS.solid_columns:
            n_columns = f"{tried.deciding_columns:.0f} {words.columns}"
            measured += f"; about {n_columns} tell the closest groups apart"
            answer, tone = ("only a little", "care") if tone == "good" else (answer, tone)
    return Question(
        "Is there any structure?",
        f"{measured}.",
        answer,
        tone,
        "Any table can be cut into groups. They mean something if they explain much more than they "
        f"would if the {words.columns} had nothing to do with each other.",
    )


def _is_it_found_again(findings: Findings, tried: Tried | None, words: Words) -> Question:
    measured, least = [], []
    if tried is not None and not math.isnan(tried.same_again):
        measured.append(f"{agreement(tried.same_again)} from another start")
        least.append(tried.same_again)
    if tried is not None and not math.isnan(tried.other_80):
        measured.append(f"{agreement(tried.other_80)} in other parts of the {words.rows}")
        least.append(tried.other_80)
    if findings.again is not None:
        measured.append(
            f"{agreement(findings.again.whole)} of this model with {findings.again.n_parts} others"
        )
        if tried is None:
            least.append(findings.again.whole)
    answer, tone = "not tried", "none"
    if least:
        answer, tone = _graded(min(least), ("yes", "in part", "no"))
    return Question(
        "Would we find the same again?",
        f"Agreement {', '.join(measured)}." if measured else "Not tried.",
        answer,
        tone,
        f"The search was repeated from other starts, and without a fifth of the {words.rows}. "
        "1 is the same groups, 0 is chance.",
    )


def _graded(found_again: float, answers: tuple[str, str, str]) -> tuple[str, str]:
    if found_again >= _LIMITS.solid_found_again:
        return answers[0], "good"
    return (answers[1], "care") if found_again >= _LIMITS.found_again else (answers[2], "bad")


def _is_it_clear(findings: Findings, tried: Tried | None, total: float, words: Words) -> Question:
    undecided = sum(findings.margins.undecided) / total
    measured = f"{percent(undecided)} of the {words.rows} could as well be in another group"
    answer, tone = "not tried", "none"
    if tried is not None and not math.isnan(tried.valley):
        between = percent(min(tried.valley, 9.99))
        measured += (
            f"; half-way between the two closest groups there are {between} as many as in their "
            "middles"
        )
        answer, tone = "yes", "good"
        if tried.valley >= _LIMITS.solid_valley:
            answer, tone = "mostly", "care"
        if tried.valley >= _LIMITS.valley:
            answer, tone = "no: there is no gap", "bad"
    return Question(
        f"Do {words.rows} belong clearly?",
        f"{measured}.",
        answer,
        tone,
        "Between real groups there is a gap. Without one, a border could as well run elsewhere.",
    )


def _is_one_too_small(smallest: float, total: float, words: Words) -> Question:
    fewest = max(_LIMITS.fewest_rows, _LIMITS.least_share * total)
    too_small = smallest < fewest
    shown = (
        f"under {_LIMITS.fewest_rows:.0f}" if smallest < _LIMITS.fewest_rows else count(smallest)
    )
    return Question(
        "Is a group too small?",
        f"The smallest has {shown} {words.rows} ({percent(smallest / total)}).",
        "yes" if too_small else "no",
        "bad" if too_small else "good",
        f"Groups of under {_LIMITS.fewest_rows:.0f} {words.rows}, or under "
        f"{percent(_LIMITS.least_share)} of all, may be chance.",
    )
