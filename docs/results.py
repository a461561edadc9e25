"""Write results.md, the papers' central claims next to what the studies find, by `make docs`.

`python docs/results.py NAME=FILE ...` first takes the claims tables of runs of studies,
results/<study>/<model>/tables/claims.csv, as claims/judged/NAME.csv. The sections are in
docs/claims/.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import yaml

from workflow_scripts.chapters import SOURCES
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import FILES, Claim, read
from workflow_scripts.claims.verdicts import JUDGED

DOCS = Path(__file__).parent
PAGE = DOCS / "results.md"
CLAIMS = DOCS.parent / "claims"
# In the order in which a claim's row is looked for: tested, or else measured.
NAMES = "base base-seeds seeds real multi30k default beyond smollm2 context gemma".split()
STUDIES = {name: CLAIMS / f"judged/{name}.csv" for name in NAMES}
SECTIONS = yaml.safe_load((DOCS / "claims/sections.yaml").read_text(encoding="utf-8"))
NOT_RUN = "not yet run"
OTHERS = ("base-seeds", "seeds", "gemma")  # whose numbers stand below the first one's


def page(*tables: pd.DataFrame) -> str:
    """The text of results.md, of the tables of STUDIES."""
    studies = dict(zip(STUDIES, tables, strict=True))
    names = (name for of_kind in FILES.values() for name in of_kind)
    claims = [claim for name in names for claim in read(CLAIMS / f"{name}.csv", MEASURES)]
    parts = [_text("head.txt").format(total=len(claims))]
    for paper, section in SECTIONS.items():
        parts += [f"\n## {paper}\n\n{section['scope'].strip()}\n"]
        parts += ["| setting | paper | ours |", "| --- | --- | --- |"]
        parts += [f"| {' | '.join(map(str, row))} |" for row in section["settings"]]
        parts.append("\n| claim | paper | ours | interval lies | verdict | what differs |")
        parts.append("| --- " * 6 + "|")
        central = [claim for claim in claims if claim.paper == paper and claim.central]
        for claim in sorted(central, key=lambda claim: claim.central):
            parts.append(row_of(claim, studies, section["differs"][claim.id]))
        parts += [f"\n![{paper}](../report/gallery/{name}.png)" for name in section["figures"]]
        if "differences" in section:
            parts += ["\nFurther differences:\n", *(f"* {one}" for one in section["differences"])]
        parts += [f"\nBeyond the paper: {section['beyond'].strip()}"]
        parts += [f"\n{_text(section['text'])}"] if "text" in section else []
    return "\n".join(parts).rstrip() + "\n"


def _text(name: str) -> str:
    return (DOCS / "claims" / name).read_text(encoding="utf-8").rstrip()


def shown(id_: str, studies: Mapping[str, pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """The study whose numbers the page shows for a claim, and its rows of the cases to show.

    The first that tests it, or else the first that measures it.
    """
    found = {name: table[table["id"] == id_] for name, table in studies.items()}
    for name, rows in found.items():
        if len(tested := rows[rows["verdict"].isin(JUDGED)]):
            return name, tested
    for name, rows in found.items():
        if len(measured := rows.dropna(subset=["ours"])):
            return name, measured
    return "", next((rows for rows in found.values() if len(rows)), pd.DataFrame())


def row_of(claim: Claim, studies: Mapping[str, pd.DataFrame], differs: str) -> str:
    """One line of a table: the claim, the paper's number and setting, ours, and the word."""
    study, rows = shown(claim.id, studies)
    where = "; ".join(filter(None, (claim.place, SOURCES[claim.source])))
    number = "" if claim.printed is None else f"{_number(claim.printed)}; "
    rule = claim.in_words() if rows.empty else rows["rule"].iloc[0]
    wanted = rule.replace(f" {claim.unit}", "")
    paper = f"{number}{claim.model or 'no model'}, {claim.data}<br>requires {wanted} ({claim.unit})"
    cases = [_case(row) for row in rows.to_dict("records")] or [(NOT_RUN, "", "", "")]
    for name in OTHERS:
        other = studies[name]
        other = other[(other["id"] == claim.id) & other["verdict"].isin(JUDGED)]
        for number, *rest in map(_case, other.to_dict("records") if name != study else ()):
            cases.append((f"{name}: {number}", *rest))
    numbers, sizes, lies, words = (
        list(parts) if len(set(parts)) > 1 else [parts[0]] for parts in zip(*cases, strict=True)
    )
    if len(sizes) > 1:
        numbers, sizes = [", ".join(parts[:2]) for parts in cases], []
    ours = "<br>".join([f"{study}: {numbers[0]}" if study else numbers[0], *numbers[1:]])
    ours = ", ".join(filter(None, (ours, *sizes)))
    text = f"{claim.statement} ({where}) `{claim.id}`"
    cells = (text, paper, ours, "<br>".join(lies), "<br>".join(words), differs)
    return f"| {' | '.join(cells)} |"


def _case(row: Mapping) -> tuple[str, str, str, str]:
    """Our number for a case with its interval, n, where the interval lies, and the word."""
    told = not isinstance(row["because"], str) or row["because"] == "interval too wide"
    word = row["verdict"] if told else f"{row['verdict']} ({row['because']})"
    if pd.isna(row["ours"]):
        return "–", "", "–", f"{row['verdict']} (in no study)"
    number = _number(row["ours"])
    if row["ci_low"] < row["ci_high"]:
        number += f" ({_number(row['ci_low'])} to {_number(row['ci_high'])})"
    if pd.notna(low := row.get("untrained_low")):
        number += f"; untrained: {_number(low)} to {_number(row['untrained_high'])}"
    case = f"{row['case']}: " if isinstance(row["case"], str) else ""
    n = f"n = {row['n']:.0f} {row['n_of']}" if pd.notna(row["n"]) else ""
    return f"{case}{number}", n, row["lies"] if isinstance(row["lies"], str) else "–", word


def _number(value: float) -> str:
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"


def main() -> None:
    """Take new claims tables, where they are given, and write the page."""
    for name, _, source in (given.partition("=") for given in sys.argv[1:]):
        shutil.copyfile(source, STUDIES[name])
    PAGE.write_text(page(*(pd.read_csv(kept) for kept in STUDIES.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
