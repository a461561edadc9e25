"""Claims counted once each, by what a study says of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workflow_scripts.report.pages import BADGES, VERDICTLESS

DIFFERS = "differs from case to case"
NOT_COMPARABLE, NOT_MEASURED = VERDICTLESS
JUDGED = (*(verdict for verdict in BADGES if verdict not in VERDICTLESS), DIFFERS)
RULE_MET = ("yes", "no", "undecided")


@dataclass(frozen=True)
class Counts:
    """How many claims of a study have a verdict, which; how many have none, and why."""

    verdicts: Counter[str]  # by JUDGED
    unjudged: int  # measured, on what cannot test the claim
    rule_met: Counter[str]  # those by RULE_MET; empty for a table that does not state it
    not_run: int

    @property
    def judged(self) -> int:
        """How many have a verdict."""
        return self.verdicts.total()


def counted(rows: Iterable[Mapping[str, str]]) -> Counts:
    """The claims of a table with a row for each claim and case.

    A claim with a verdict in some cases is counted by these alone.
    """
    by_id: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_id.setdefault(row["id"], []).append(row)
    verdicts, met, unjudged, not_run = Counter[str](), Counter[str](), 0, 0
    for cases in by_id.values():
        judged = {row["verdict"] for row in cases} - set(VERDICTLESS)
        measured = [row for row in cases if row["verdict"] == NOT_COMPARABLE]
        if judged:
            verdicts[judged.pop() if len(judged) == 1 else DIFFERS] += 1
        elif measured:
            unjudged += 1
            words = {row["rule_met"] for row in measured if row.get("rule_met")}
            met.update([words.pop()] if len(words) == 1 else ["undecided"] if words else [])
        else:
            not_run += 1
    return Counts(verdicts, unjudged, met, not_run)
