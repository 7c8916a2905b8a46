"""Records of sweeps -> how often each criterion is right, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.choosing_k.measure import LABELLED, Record
from benchmarks.machine import in_words
from benchmarks.tables import markdown
from softmodes._choice.rule import Statistics, Thresholds, Verdict, choose

Rows = Sequence[Statistics]
Pick = Callable[[Rows], int | None]

OVERALL = [verdict for verdict in Verdict if verdict is not Verdict.DO_NOT_USE]  # of a table
# Groups count as recovered from this agreement with what was planted on.
RECOVERED = 0.8
NO_GROUPS = (
    "permuted",
    "one factor",
    "few factors",
    "blocks only",
    "repeated columns",
    "skip pattern",
)


def statistics_of(record: Record) -> list[Statistics]:
    """Return the statistics of a record, k = 1 first."""
    return [
        Statistics(**{name: math.nan if x is None else x for name, x in row.items()})
        for row in record["statistics"]
    ]


def rule(thresholds: Thresholds | None = None) -> Pick:
    return lambda rows: choose(rows, thresholds).pick


def least(name: str) -> Pick:
    return lambda rows: min(rows, key=lambda row: getattr(row, name)).k


def most(name: str) -> Pick:
    """Return the k of the highest value; 1 has none, or always the highest."""
    return lambda rows: max(rows[1:], key=lambda row: getattr(row, name)).k


def without_icl(rows: Rows) -> int | None:
    return choose([replace(row, icl=-row.k) for row in rows]).pick


CRITERIA: dict[str, Pick] = {
    "BIC": least("bic"),
    "AIC3": least("aic3"),
    "exact ICL": least("icl"),
    "silhouette (cannot say 1)": most("silhouette"),
    "found again (cannot say 1)": most("found_again"),
    "**the rule**": rule(),
    "- without valley": rule(Thresholds(valley=math.inf)),
    "- without ICL": without_icl,
    "- without found again": rule(Thresholds(found_again=-math.inf)),
}


def is_hit(record: Record, pick: int | None, off: int = 0) -> bool:
    """Tell whether the planted number was found; among noise, one more is the noise itself."""
    return pick is not None and record["k"] - off <= pick <= record["k"] + off + (
        record["noise"] > 0
    )


def summary(all_records: Sequence[Record]) -> dict[str, Any]:
    """Return all rates as numbers; of labelled tables, what is said of each."""
    records = [r for r in all_records if r["kind"] != LABELLED]
    planted = [r for r in records if r["kind"] == "groups"]
    recovered = [r for r in planted if r["ari"][r["k"] - 1] > RECOVERED]
    lost = [r for r in planted if r["ari"][r["k"] - 1] <= RECOVERED]
    empty = {kind: [r for r in records if r["kind"] == kind] for kind in NO_GROUPS}
    return {
        "tables": len(records),
        "planted": len(planted),
        "recovered": len(recovered),
        "no_groups": {kind: len(some) for kind, some in empty.items()},
        "criteria": {name: _rates(pick, recovered, empty) for name, pick in CRITERIA.items()},
        "hits_by": {
            part: _hits(recovered, of)
            for part, of in (("family", _family), ("groups", _size), ("noise", _noise))
        },
        "verdicts": _verdicts(records),
        "solid_right": _solid_right(planted),
        "lost": _lost(lost),
        "scale_told": {kind: _scales(some) for kind, some in empty.items() if kind != "permuted"},
        "missed": [_miss(r) for r in recovered if not is_hit(r, _pick(r))],
        "alarms_by_family": _alarms(empty),
        "alarms": [_miss(r) for some in empty.values() for r in some if _pick(r) is not None],
        "seconds": _seconds(records),
        "labelled": [_labelled(r) for r in all_records if r["kind"] == LABELLED],
    }


def _labelled(record: Record) -> dict[str, Any]:
    choice = choose(statistics_of(record))
    pick, aris = choice.pick, record["ari"]
    return {
        **{name: record[name] for name in ("role", "name", "n", "k", "seconds")},
        **{"pick": pick, "more": choice.more, "pays": choice.pays, "solid": choice.solid},
        "verdict": str(choice.verdict),
        "ari": None if pick is None else aris[pick - 1],
        "ari_at_k": aris[record["k"] - 1],
        "best_k": 1 + int(np.argmax(aris)),
        "best_ari": max(aris),
    }


def _pick(record: Record) -> int | None:
    return choose(statistics_of(record)).pick


def _rates(pick: Pick, recovered: Sequence[Record], empty: dict[str, list[Record]]) -> Any:
    picks = [pick(statistics_of(r)) for r in recovered]
    return {
        "hit": _share([is_hit(r, k) for r, k in zip(recovered, picks, strict=True)]),
        "within_1": _share([is_hit(r, k, 1) for r, k in zip(recovered, picks, strict=True)]),
        "alarm": {
            kind: _share([(pick(statistics_of(r)) or 1) > 1 for r in some])
            for kind, some in empty.items()
        },
    }


def _share(found: Sequence[bool]) -> tuple[int, int]:
    return int(sum(found)), len(found)


def _family(record: Record) -> str:
    return str(record["family"])


def _size(record: Record) -> str:
    return "2 to 5" if record["k"] <= 5 else "6 to 10" if record["k"] <= 10 else "12 to 25"


def _noise(record: Record) -> str:
    noise = record["noise"]
    return "none" if not noise else "10 to 30 %" if noise <= 0.3 else "30 to 50 %"


def _hits(records: Sequence[Record], of: Callable[[Record], str]) -> dict[str, tuple[int, int]]:
    in_order = sorted(
        records, key=lambda r: (r["k"], r["noise"]) if of is not _family else r["name"]
    )
    parts = {
        part: [r for r in records if of(r) == part] for part in dict.fromkeys(map(of, in_order))
    }
    return {part: _share([is_hit(r, _pick(r)) for r in some]) for part, some in parts.items()}


def _alarms(empty: dict[str, list[Record]]) -> dict[str, dict[str, int]]:
    """Return, by family without groups, how often there is a pick, and how often a solid one."""
    found: dict[str, dict[str, int]] = {}
    for kind, records in empty.items():
        for record in records:
            family = kind if kind == "permuted" else _family(record)
            row = found.setdefault(family, {"tables": 0, "care": 0, "solid": 0})
            verdict = choose(statistics_of(record)).verdict
            row["tables"] += 1
            row["care"] += verdict is Verdict.CARE
            row["solid"] += verdict is Verdict.SOLID
    return found


def _verdicts(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for record in records:
        row = found.setdefault(record["kind"], {str(verdict): 0 for verdict in OVERALL})
        row[str(choose(statistics_of(record)).verdict)] += 1
    return found


def _solid_right(planted: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """Return, by verdict, how many models of the pick agree with what was planted."""
    right: dict[str, list[bool]] = {}
    for record in planted:
        choice = choose(statistics_of(record))
        if choice.pick is not None:
            agrees = record["model_ari"] > RECOVERED
            right.setdefault(str(choice.verdict), []).append(agrees)
    return {verdict: _share(some) for verdict, some in right.items()}


def _lost(records: Sequence[Record]) -> dict[str, int]:
    """Return what is said of tables whose groups no fit finds."""
    picks = [(_pick(r) or 1) - r["k"] for r in records]
    signs = [(_pick(r) is None, off) for r, off in zip(records, picks, strict=True)]
    return {
        "none": sum(none for none, _ in signs),
        "fewer": sum(not none and off < 0 for none, off in signs),
        "as many or one more": sum(not none and 0 <= off <= 1 for none, off in signs),
        "more": sum(not none and off > 1 for none, off in signs),
    }


def _scales(records: Sequence[Record]) -> tuple[int, int]:
    return _share(["scale" in choose(statistics_of(r)).why for r in records])


def _miss(record: Record) -> dict[str, Any]:
    rows, choice = statistics_of(record), choose(statistics_of(record))
    at = rows[record["k"] - 1]
    return {
        "name": record["name"],
        "k": record["k"],
        "pick": choice.pick,
        "pays": choice.pays,
        "verdict": str(choice.verdict),
        "ari": record["ari"][record["k"] - 1],
        "at_k": None if record["k"] == 1 else {"valley": at.valley, "again": at.found_again},
    }


def _seconds(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    found = {}
    for end in sorted({len(r["statistics"]) for r in records}):
        times = [r["seconds"] for r in records if len(r["statistics"]) == end]
        found[f"k to {end}"] = {
            "median": round(float(np.median(times)), 3),
            "mean": round(float(np.mean(times)), 3),
            "most": round(max(times), 3),
            "tables": len(times),
        }
    return found


# ---------------------------------------------------------------------------------------- to read


def report(found: dict[str, Any]) -> str:
    """Return what a measurement tells, as Markdown."""
    tables = "to calibrate on" if found["set"] == "calibrate" else "to report"
    parts = [
        "# Choosing the number of groups",
        f"{found['tables']} random tables {tables}: {found['planted']} with planted groups (k 2 to "
        f"25, 0 to 50 % rows of noise, equal and unequal sizes), in {found['recovered']} of which "
        f"the fit at the planted k finds them (ARI above {RECOVERED}); and others without groups. "
        "A hit is the planted number (with rows of noise also one more: the noise) in the tables "
        "where it can be found, an alarm is any group where there is none.",
        _criteria_table(found),
        *(_hits_table(part, hits) for part, hits in found["hits_by"].items()),
        _verdict_table(found),
        _alarms_table(found),
        "Of tables whose groups the fit at the planted k does not find: "
        + ", ".join(f"{name} {n}" for name, n in found["lost"].items())
        + ". Told to lie on a scale: "
        + ", ".join(f"{kind} {_of(pair)}" for kind, pair in found["scale_told"].items())
        + ".",
        _seconds_table(found),
        *([labelled_section(found["labelled"])] if found["labelled"] else []),
        in_words(found["machine"]),
    ]
    return "\n\n".join(parts) + "\n"


def labelled_section(found: Sequence[dict[str, Any]]) -> str:
    """Return what the rule says of tables with known classes; their number is no truth."""
    parts = [
        "## Tables with known classes\n\nThe classes of a table need not be its groups, and their "
        "number is no truth to be hit. A + behind a pick: it is the largest k that was tried."
    ]
    for role in dict.fromkeys(row["role"] for row in found):
        rows = [row for row in found if row["role"] == role]
        parts.append(f"{_counts(role, rows)}\n\n{labelled_table(rows)}")
    return "\n\n".join(parts)


def _counts(role: str, rows: Sequence[dict[str, Any]]) -> str:
    told = {str(v): sum(row["verdict"] == str(v) for row in rows) for v in OVERALL}
    picked = [row for row in rows if row["pick"] is not None]
    same = sum(row["pick"] == row["k"] for row in picked)
    more = sum(row["pick"] > row["k"] for row in picked)
    return (
        f"Tables to {role}{' on' if role == 'tune' else ''}, {len(rows)}: "
        + ", ".join(f"{verdict} {n}" for verdict, n in told.items())
        + f". Of {len(picked)} picks {same} are the number of classes, {more} are more, "
        f"{len(picked) - same - more} fewer."
    )


def labelled_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each table with known classes."""
    lines = [
        [
            row["name"].partition(": ")[2] or row["name"],
            f"{row['n']:,}",
            str(row["k"]),
            "-" if row["pick"] is None else f"{row['pick']}{'+' * row['more']}",
            str(row["pays"]),
            "-" if row["solid"] is None else str(row["solid"]),
            row["verdict"],
            "-" if row["ari"] is None else f"{row['ari']:.2f}",
            f"{row['ari_at_k']:.2f}",
            f"{row['best_ari']:.2f} ({row['best_k']})",
            f"{row['seconds']:.2f} s",
        ]
        for row in rows
    ]
    header = ["table", "rows", "classes", "pick", "ICL", "largest solid", "verdict"]
    more = ["ARI of the pick", "at the classes' k", "highest (at k)", "CPU time"]
    return markdown([*header, *more], lines)


def _of(pair: Sequence[int]) -> str:
    return f"{pair[0]} of {pair[1]}"


def _ratio(pair: Sequence[int]) -> str:
    return f"{pair[0] / pair[1]:.2f}" if pair[1] else "-"


def _criteria_table(found: dict[str, Any]) -> str:
    kinds = [f"alarm: {kind} ({found['no_groups'][kind]})" for kind in NO_GROUPS]
    rows = [
        [name, _ratio(row["hit"]), _ratio(row["within_1"])]
        + [_ratio(row["alarm"][kind]) for kind in NO_GROUPS]
        for name, row in found["criteria"].items()
    ]
    return markdown(["criterion", f"hit ({found['recovered']})", "within 1", *kinds], rows)


def _hits_table(part: str, hits: dict[str, Sequence[int]]) -> str:
    rows = [[name, _of(pair), _ratio(pair)] for name, pair in hits.items()]
    return markdown([part, "hits", "rate"], rows)


def _verdict_table(found: dict[str, Any]) -> str:
    kinds = ["groups", *NO_GROUPS]
    rows = [
        [verdict]
        + [str(found["verdicts"].get(kind, {}).get(verdict, 0)) for kind in kinds]
        + [_of(found["solid_right"][verdict]) if verdict in found["solid_right"] else "-"]
        for verdict in map(str, OVERALL)
    ]
    return markdown(["verdict", *kinds, "right (ARI of the model above .8)"], rows)


def _alarms_table(found: dict[str, Any]) -> str:
    rows = [[name, *map(str, row.values())] for name, row in found["alarms_by_family"].items()]
    return markdown(["family without groups", "tables", "Use with care", "Solid"], rows)


def _seconds_table(found: dict[str, Any]) -> str:
    rows = [
        [name, str(row["tables"]), *(f"{row[x]:.2f} s" for x in ("median", "mean", "most"))]
        for name, row in found["seconds"].items()
    ]
    return markdown(["sweep, CPU time of one thread", "tables", "median", "mean", "most"], rows)
