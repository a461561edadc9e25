"""Write results.md, every claim next to what the studies find, by `make docs`.

`python docs/results.py DEFAULT REAL MULTI30K BEYOND SMOLLM2` first takes the claims tables of a run
of each study, results/<study>/<model>/tables/claims.csv, as claims/judged/default.csv, real.csv and
so on; an empty argument keeps the table that is there. The sections, and the texts that stand in
them, are in docs/claims/.
"""

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import yaml

from workflow_scripts.chapters import PAPERS
from workflow_scripts.claims.published import SOURCES

DOCS = Path(__file__).parent
PAGE = DOCS / "results.md"
CLAIMS = DOCS.parent / "claims"
NAMES = ("default", "real", "multi30k", "beyond", "smollm2")
STUDIES = {name: CLAIMS / f"judged/{name}.csv" for name in NAMES}
# The study that stands next to the default one in a section, as its column is called.
COLUMNS = {"real": "Real data", "multi30k": "Multi30k", "beyond": "Beyond"}
GALLERY = DOCS.parent / "report/gallery"
OF_DECODERS = ("olsson2022-roles", "battery-sinks", "battery-causal")
# By paper; each with a title, beginnings of its claims' ids and figures, and the study next to the
# default one or a text where they are given.
SECTIONS = yaml.safe_load((DOCS / "claims/sections.yaml").read_text(encoding="utf-8"))
NOT_RUN = "not yet run"


def page(*claims: pd.DataFrame) -> str:
    """The text of results.md, of the tables of STUDIES; of the figures those of the gallery."""
    studies = dict(zip(STUDIES, claims, strict=True))
    files = {*CLAIMS.glob("*.csv")} - {CLAIMS / "decoders.csv"}
    default = with_new(studies["default"], sorted(files))
    of_papers = sections_of(default)
    parts = [
        head(*claims),
        *(f"* [{paper}](#{_anchor(paper)})" for paper in (*of_papers, "Decoders")),
    ]
    for paper, sections in of_papers.items():
        parts.append(f"\n## {paper}")
        for section in sections:
            other = section.get("study", "real")
            parts.append(f"\n### {section['title']}\n")
            chosen = [id_ for id_ in default["id"].unique() if _of(id_, section)]
            if chosen:
                parts += [
                    f"| Published | Default study | {COLUMNS[other]} |",
                    "| --- | --- | --- |",
                ]
                parts += [_row(id_, default, studies[other]) for id_ in chosen]
            drawn = [name for name in section["figures"] if (GALLERY / f"{name}.png").is_file()]
            parts += [f"\n![](../report/gallery/{name}.png)" for name in drawn]
            if "text" in section:
                parts += ["", _text(section["text"])]
    return "\n".join([*parts, *decoders(studies["smollm2"])]).rstrip() + "\n"


def decoders(claims: pd.DataFrame) -> list[str]:
    """The section on decoders, with a table for each paper."""
    claims = with_new(claims, [CLAIMS / "decoders.csv"])
    parts = ["\n" + _text("decoders.txt")]
    for paper, rows in claims.groupby("paper", sort=False):
        parts += [f"\n### {paper}\n", "| Published | SmolLM2 (4-bit, instruct) |", "| --- | --- |"]
        parts += [_row(id_, claims) for id_ in rows["id"].unique()]
    drawn = [path for name in OF_DECODERS if (path := GALLERY / f"{name}.png").is_file()]
    return parts + [f"\n![](../report/gallery/{path.name})" for path in drawn]


def with_new(claims: pd.DataFrame, files: Iterable[Path]) -> pd.DataFrame:
    """A study's table, and the claims of `files` that were written after its run."""
    published = pd.concat(map(pd.read_csv, files))
    new = published[~published["id"].isin(claims["id"])]
    rule = new["rule"] + " " + new["value"].astype(str) + " " + new["unit"]
    return pd.concat([claims, new.assign(rule=rule, verdict=NOT_RUN)]) if len(new) else claims


def head(*studies: pd.DataFrame) -> str:
    """The page's beginning, with how many of the judged numbers rest on which model."""
    claims = pd.concat(studies)
    judged = claims[~claims["verdict"].isin(["not measured", "not comparable"])]
    counts = judged["rests_on"].value_counts()
    kinds = {"own": "the paper's model", "other": "another model"}
    kinds |= {"words": "a word model", "data": "the study's data"}
    numbers = {name: counts.get(kind, 0) for name, kind in kinds.items()}
    text = (DOCS / "claims/head.txt").read_text(encoding="utf-8")
    return text.format(**numbers, judged=len(judged))


def verdicts(id_: str, studies: Mapping[str, pd.DataFrame]) -> str:
    """Every verdict on a claim, with its cases, by study; what a study lacks is left out.

    Cases that are not comparable are counted.
    """
    parts = []
    for name, study in studies.items():
        rows = study[(study["id"] == id_) & (study["verdict"] != "not measured")]
        words = []
        for verdict, cases in rows.groupby("verdict", sort=False)["case"]:
            named = ", ".join(cases.dropna())
            if verdict == "not comparable" and len(cases) > 1:
                named = f"{len(cases)} cases"
            words.append(f"{verdict} ({named})" if named else str(verdict))
        if words:
            parts.append(f"{name}: {', '.join(words)}")
    return "; ".join(parts)


def sections_of(claims: pd.DataFrame) -> dict[str, list[dict]]:
    """The sections by paper; one without any has one with all its claims, if it has some."""
    found = dict(SECTIONS)
    for paper in PAPERS.values():
        ids = claims.loc[claims["paper"] == paper, "id"].unique()
        if paper not in SECTIONS and len(ids):
            found[paper] = [{"title": "All claims", "claims": list(ids), "figures": []}]
    return found


def unplaced(claims: pd.DataFrame) -> list[str]:
    """The claims that are not in exactly one section."""
    sections = [section for of_paper in sections_of(claims).values() for section in of_paper]
    return [id_ for id_ in claims["id"].unique() if sum(_of(id_, each) for each in sections) != 1]


def _of(id_: str, section: Mapping) -> bool:
    return id_.startswith(tuple(section["claims"]))


def _text(name: str) -> str:
    return (DOCS / "claims" / name).read_text(encoding="utf-8").rstrip()


def _anchor(title: str) -> str:
    return title.lower().replace(".", "").replace(" ", "-")


def _row(id_: str, *studies: pd.DataFrame) -> str:
    """One line of a table: the statement, and a study's cases in each of the other cells."""
    claim = studies[0].loc[studies[0]["id"] == id_].iloc[0]
    later = f"<br>*Note: {claim['later']}*" if isinstance(claim["later"], str) else ""
    if isinstance(claim["source"], str):
        later = f" ({SOURCES[claim['source']]}){later}"
    cells = ["<br>".join(_case(row) for _, row in s[s["id"] == id_].iterrows()) for s in studies]
    rule = f"Rule: {claim['rule']}." if claim["kind"] == "statement" else ""
    return f"| {claim['statement']} {rule}{later} `{id_}` | {' | '.join(cells)} |"


def _case(row: pd.Series) -> str:
    """Our number for a case with interval, n and verdict; nothing where it was not measured."""
    if row["verdict"] in ("not measured", NOT_RUN):
        return NOT_RUN if row["verdict"] == NOT_RUN else ""
    number = _number(row["ours"])
    if pd.notna(row["ci_low"]) and row["ci_low"] < row["ci_high"]:
        named = f": {row['interval']}" if isinstance(row["interval"], str) else ""
        number += f" ({_number(row['ci_low'])} to {_number(row['ci_high'])}{named})"
    parts = [f"{row['case']}: {number}" if isinstance(row["case"], str) else number]
    if pd.notna(row["n"]):
        parts.append(f"n = {row['n']:.0f} {row['n_of']}")
    if row["seeds"] == 1:
        parts.append("one seed")
    if isinstance(row["about"], str):
        parts.append(row["about"])
    verdict = f"**{row['verdict']}**"
    if row["verdict"] == "not comparable":
        verdict = f"*not comparable: {row['because']}*"
    return f"{', '.join(parts)}: {verdict}"


def _number(value: float) -> str:
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"


def main() -> None:
    """Take new claims tables, where they are given, and write the page."""
    for source, kept in zip(sys.argv[1:], STUDIES.values(), strict=len(sys.argv) > 1):
        if source:
            shutil.copyfile(source, kept)
    PAGE.write_text(page(*(pd.read_csv(kept) for kept in STUDIES.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
