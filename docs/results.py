"""Write results.md, every claim next to what the studies find, by `make docs`.

`python docs/results.py DEFAULT REAL MULTI30K BEYOND SMOLLM2` first takes the claims tables of a run
of each study, results/<study>/<model>/tables/claims.csv, as docs/claims/default.csv, real.csv and
so on; an empty argument keeps the table that is there. With that of Multi30k come its Tables 1 and
2, with that of studies/beyond.yaml, which is the encoder's, all its models' tables of modes.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import yaml

from workflow_scripts.chapters import PAPERS
from workflow_scripts.claims.published import SOURCES

DOCS = Path(__file__).parent
PAGE = DOCS / "results.md"
NAMES = ("default", "real", "multi30k", "beyond", "smollm2")
STUDIES = {name: DOCS / f"claims/{name}.csv" for name in NAMES}
# The study that stands next to the default one in a section, as its column is called.
COLUMNS = {"real": "Real data", "multi30k": "Multi30k", "beyond": "Beyond"}
GALLERY = DOCS.parent / "report/gallery"
HEAD = (DOCS / "claims/head.txt").read_text(encoding="utf-8")
TRANSLATION = "Sections 3 to 6, translators"
OF_DECODERS = ("olsson2022-roles", "battery-sinks", "battery-causal")
# Tables 1 and 2 of the study of Multi30k, and what results.md states about them.
TABLES = {n: DOCS / f"claims/multi30k-table{n}.csv" for n in (1, 2)}
ON_MULTI30K = """
#### Multi30k in full

A Marian model of 4 + 4 layers, 128 wide, with 4 heads in each attention (2.5 million parameters),
trained on 29,000 captions with seed {run}. Effects of gates of 0 on the BLEU of test 2016,
{base:.1f} with all heads (n = {n} sentences, `{signature}`).
{times}

    snakemake --cores 2 --configfile studies/multi30k.yaml --config data=/data/multi30k

In its figures above a dot marks a head with p below 0.05, and *agreement* is Spearman's
correlation, over heads, of an epoch's importance with that after the last epoch.

Table 1, every head masked; bold where the corrected p is below 0.05 ({worse} of {heads} heads; the
paper's uncorrected test at 0.01 marks {paper}). Rows are layers, columns heads.
"""
ALONE = """
Table 2, the best head of a layer left alone, chosen on the validation set and measured on test,
with 95% intervals over sentences, not corrected for the {layers} layers; bold where the corrected
p is below 0.05.
"""
# Every two modes of disabling in studies/beyond.yaml, of each model.
MODES, PAIRS = "Modes of disabling", DOCS / "claims/beyond-modes.csv"
EVERY_TWO = """
Every two modes in `studies/beyond.yaml`, of effects on the loss: Spearman's correlation over heads
with its 95% interval (over examples, of SmolLM2 over documents); how many heads are in the
costliest tenth of both modes; of the heads with p below 0.05 in both, how many have opposite signs;
and how many heads have effects that differ (corrected for all heads and pairs). Independent noise
lowers correlations, noise that two modes share raises them. Correlations of one
mode's effects between halves of the examples:

{halves}."""
TIMES = """\
On one of two cores, while other work ran, training took 44 minutes, the sweep of 97 variants and
2,014 sentences 32, pruning (109 variants, 1,000 sentences) 25 and the epochs 25; a random order was
sampled once. Translations are searched with 5 beams."""
DECODERS = """
## Decoders

SmolLM2-135M-Instruct, its weights stored in 4 bits, in
[studies/smollm2.yaml](../studies/smollm2.yaml), without network:
`snakemake --cores 2 --configfile studies/smollm2.yaml`. Running text is English Wikipedia, which is
real; random tokens are sampled, and needles are sentences of the workflow's own. The claims, with
their rules, are in [claims/decoders.csv](../claims/decoders.csv), the table in full is
[smollm2.csv](claims/smollm2.csv), with the day of each rule. Of {n} statements {unread} were not
read in their papers. The rules of Olsson et al., Elhage et al., Gu et al. and Wu et al. were
corrected on 2026-11-23, after numbers of this model had been seen, and the interval of how often
induction heads copy on 2026-11-25.
"""
# Title, beginnings of the claims' ids, figures, and the study next to the default one.
Section = tuple[str, tuple[str, ...], tuple[str, ...], str]
SECTIONS: dict[str, list[Section]] = {
    paper: [
        (part["title"], tuple(part["claims"]), tuple(part["figures"]), part.get("study", "real"))
        for part in parts
    ]
    for paper, parts in yaml.safe_load((DOCS / "claims/sections.yaml").read_text("utf-8")).items()
}


def page(*claims: pd.DataFrame) -> str:
    """The text of results.md, of the tables of STUDIES; of the figures those of the gallery."""
    studies = dict(zip(STUDIES, claims, strict=True))
    default = studies["default"]
    of_papers = sections_of(default)
    parts = [
        head(*claims),
        *(f"* [{paper}](#{_anchor(paper)})" for paper in (*of_papers, "Decoders")),
    ]
    for paper, sections in of_papers.items():
        parts.append(f"\n## {paper}")
        for title, ids, figures, other in sections:
            parts.append(f"\n### {title}\n")
            chosen = [id_ for id_ in default["id"].unique() if _of(id_, ids)]
            if chosen:
                parts += [
                    f"| Published | Default study | {COLUMNS[other]} |",
                    "| --- | --- | --- |",
                ]
                parts += [_row(id_, default, studies[other]) for id_ in chosen]
            drawn = [figure for figure in figures if (GALLERY / f"{figure}.png").is_file()]
            parts += [f"\n![](../report/gallery/{figure}.png)" for figure in drawn]
            if title == TRANSLATION:
                parts += in_full(*map(pd.read_csv, TABLES.values()))
            if title == MODES:
                parts += every_two(pd.read_csv(PAIRS))
    return "\n".join([*parts, *decoders(studies["smollm2"])]).rstrip() + "\n"


def decoders(claims: pd.DataFrame) -> list[str]:
    """The section on decoders, with a table for each paper."""
    parts = [DECODERS.format(n=len(claims), unread=claims["source"].notna().sum())]
    for paper, rows in claims.groupby("paper", sort=False):
        parts += [f"### {paper}\n", "| Published | SmolLM2 (4-bit, instruct) |", "| --- | --- |"]
        parts += [_row(id_, claims) for id_ in rows["id"].unique()] + [""]
    drawn = [path for name in OF_DECODERS if (path := GALLERY / f"{name}.png").is_file()]
    return parts + [f"![](../report/gallery/{path.name})\n" for path in drawn]


def head(*studies: pd.DataFrame) -> str:
    """The page's beginning, with how many of the judged numbers rest on which model."""
    claims = pd.concat(studies)
    judged = claims[~claims["verdict"].isin(["not measured", "not comparable"])]
    counts = judged["rests_on"].value_counts()
    kinds = {"own": "the paper's model", "other": "another model"}
    kinds |= {"words": "a word model", "data": "the study's data"}
    numbers = {name: counts.get(kind, 0) for name, kind in kinds.items()}
    return HEAD.format(**numbers, judged=len(judged))


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


def sections_of(claims: pd.DataFrame) -> dict[str, list[Section]]:
    """The sections by paper; one without any has one with all its claims, if it has some."""
    others = {
        paper: [
            ("All claims", tuple(claims.loc[claims["paper"] == paper, "id"].unique()), (), "real")
        ]
        for paper in PAPERS.values()
        if paper not in SECTIONS and (claims["paper"] == paper).any()
    }
    return SECTIONS | others


def in_full(heads: pd.DataFrame, alone: pd.DataFrame) -> list[str]:
    """Tables 1 and 2 of the first translator of the study of Multi30k, on the test set."""
    heads, alone = (
        table[(table["split"] == "test") & (table["metric"] == "bleu") & (table["mode"] == "zero")]
        for table in (heads, alone)
    )
    heads, alone = (table[table["run"] == heads["run"].iloc[0]] for table in (heads, alone))
    base = heads.iloc[0]
    text = ON_MULTI30K.format(
        run=base["run"],
        base=base["baseline"],
        n=base["n"],
        signature=base["signature"],
        times=TIMES,
        worse=(heads["p_corrected"] < 0.05).sum(),
        paper=(heads["p_paper"] < 0.01).sum(),
        heads=len(heads),
    )
    parts, places = [text], heads["head"].str.split("-", expand=True).astype(int)
    heads = heads.assign(layer=places[0], head=places[1], cell=heads.apply(_effect, axis=1))
    for name in ("Enc-Enc", "Enc-Dec", "Dec-Dec"):
        grid = heads[heads["type"] == name].pivot(index="layer", columns="head", values="cell")
        parts += _grid(name, grid)
    parts.append(ALONE.format(layers=len(alone)))
    left = alone.assign(cell=alone.apply(_left_alone, axis=1))
    grid = left.pivot(index="layer", columns="type", values="cell")
    return parts + _grid("Layer", grid[["Enc-Enc", "Enc-Dec", "Dec-Dec"]])


def every_two(pairs: pd.DataFrame) -> list[str]:
    """How the effects of every two modes agree, with a column for each model."""
    pairs = pairs[pairs["of"] == "loss"]
    modes = [" and ".join(sorted(two)) for two in pairs[["one", "other"]].to_numpy()]
    pairs = pairs.assign(modes=modes, cell=pairs.apply(_agreement, axis=1))
    cells = pairs.pivot(index="modes", columns="model", values="cell")
    sides = [
        pairs[["model", side, f"halves_{side}"]].set_axis(["model", "mode", "rho"], axis=1)
        for side in ("one", "other")
    ]
    halves = pd.concat(sides).drop_duplicates()
    named = halves["mode"] + " " + halves["rho"].map("{:.2f}".format)
    of_models = named.groupby(halves["model"]).agg(", ".join)
    text = EVERY_TWO.format(halves=";\n".join(f"{model}: {of}" for model, of in of_models.items()))
    n = pairs.groupby("model")["n_documents"].first()
    cells.columns = [f"{model} (n = {n[model]})" for model in cells]
    return [text, *_grid("Modes", cells.loc[pairs["modes"].unique()])]


def _agreement(row: pd.Series) -> str:
    return (
        f"{row['rho']:.2f} ({row['rho_low']:.2f} to {row['rho_high']:.2f}); {row['shared']:.0f} of "
        f"{row['top']}; {row['opposite_nominal']} of {row['both_nominal']}; {row['differ']} of "
        f"{row['n_heads']}"
    )


def _grid(name: str, grid: pd.DataFrame) -> list[str]:
    head = [name, *map(str, grid.columns)]
    rows = [[str(layer), *cells] for layer, cells in zip(grid.index, grid.to_numpy(), strict=True)]
    lines = [head, ["---"] * len(head), *rows]
    return ["\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)]


def _effect(row: pd.Series) -> str:
    """A change of BLEU, bold where it is significant after correction."""
    return f"**{row['effect']:+.2f}**" if row["p_corrected"] < 0.05 else f"{row['effect']:+.2f}"


def _left_alone(row: pd.Series) -> str:
    return f"{_effect(row)} ({row['ci_low']:+.2f} to {row['ci_high']:+.2f}), head {row['head']}"


def unplaced(claims: pd.DataFrame) -> list[str]:
    """The claims that are not in exactly one section."""
    places = [ids for sections in sections_of(claims).values() for _, ids, _, _ in sections]
    return [id_ for id_ in claims["id"].unique() if sum(_of(id_, ids) for ids in places) != 1]


def _of(id_: str, beginnings: tuple[str, ...]) -> bool:
    return id_.startswith(beginnings)


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
    if row["verdict"] == "not measured":
        return ""
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
            if kept == STUDIES["beyond"]:
                found = sorted(Path(source).parents[2].glob("*/tables/*-modes.csv"))
                named = [pd.read_csv(path).assign(model=path.parts[-3]) for path in found]
                pd.concat(named).to_csv(PAIRS, index=False)
            if kept == STUDIES["multi30k"]:
                for number, table in TABLES.items():
                    folder = Path(source).parents[2] / "tables"
                    shutil.copyfile(folder / f"michel2019-translation-table{number}.csv", table)
    PAGE.write_text(page(*(pd.read_csv(kept) for kept in STUDIES.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
