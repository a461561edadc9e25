"""The findings that the page begins with, in sentences that are filled from the tables."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from workflow_scripts.core.measures.shown_claims import BADGES, VERDICTLESS

Row = Mapping[str, str]  # of a CSV file, as text
MOST = 5


@dataclass(frozen=True)
class Finding:
    """A sentence with its numbers, and what the atlas shows of it.

    That is `view`, or the view of the `claim` behind it, in the `case` that it is of.
    """

    sentence: str
    numbers: str
    verdict: str = ""
    view: str = ""
    claim: str = ""
    case: str = ""


@dataclass(frozen=True)
class OnClaim:
    """A candidate that rests on a claim: its words where it holds, where not, and else.

    `{ours}` stands for the number, `{about}` for what the claims' table adds to it: in `measured`,
    and in `fails` of a claim with one case.
    """

    id: str
    holds: str
    fails: str
    open: str  # begins with "whether"
    measured: str = "{ours}"  # the number in words


def positional(rows: Iterable[Row]) -> Finding | None:
    """The head with most attention on the next or previous token; of clark2019-position."""
    best = max(rows, key=lambda row: float(row["attention"]), default=None)
    if best is None or not best["ci_low"]:  # one document has no interval
        return None
    low, high = float(best["ci_low"]), float(best["ci_high"])
    head, target = best["head"], best["target"]
    sentence = f"It is inconclusive whether head {head} attends mostly to the {target} token."
    if low > 0.5:
        sentence = f"Head {head} gives most of its attention to the {target} token."
    elif high <= 0.5:
        sentence = "No head gives most of its attention to the next or the previous token."
    numbers = f"{100 * float(best['attention']):.1f}%"
    numbers += f" to the {target} token by head {head}" if high <= 0.5 else ""
    numbers += f" ({100 * low:.1f} to {100 * high:.1f}; n = {best['n']} segments)"
    return Finding(sentence, numbers, view=f"view=head&head={head}")


def syntactic(rows: Iterable[Row]) -> Finding | None:
    """On how many relations a head beats the best fixed offset; of either table.

    Head and offset are chosen on one half of the documents and compared on the other; a relation
    of which one half has none is not shown to be better.
    """
    relations = [row for row in rows if not row["relation"].startswith("all")]
    compared = [row for row in relations if row["held_out_gain_low"]]
    if not compared or any(row["annotation"] == "generated" for row in relations):
        return None
    better = [row for row in compared if float(row["held_out_gain_low"]) > 0]
    best = max(better or compared, key=lambda row: float(row["held_out_gain"]))
    sentence = f"On {len(better)} of {len(relations)} syntactic relations some head"
    sentence += " is more accurate than the best fixed offset."
    gain, low, high = (float(best[f"held_out_gain{end}"]) for end in ("", "_low", "_high"))
    numbers = f"most on {best['relation']}, by head {best['held_out_head']}: {gain:+.1f} points"
    numbers += f" ({low:.1f} to {high:.1f}; n = {best['held_out_n']} words of other documents)"
    numbers += "; trees from a parser (silver)" if best["annotation"] == "silver" else ""
    view = f"view=head&head={best['held_out_head']}"
    return Finding(sentence, numbers, view=view)


# In order of interest. A table's candidate names it, and what of the data must not be generated.
OnTable = tuple[str, str, Callable[[Iterable[Row]], Finding | None]]
CANDIDATES: tuple[OnTable | OnClaim, ...] = (
    ("clark2019-position", "text", positional),
    ("clark2019-table1", "trees", syntactic),
    ("dependency-heads", "trees", syntactic),
    OnClaim(
        "context-duo-half",
        "The loss rises by less than 1% where the cheapest half of the key-value heads stream.",
        "The loss rises by 1% or more where the cheapest half of the key-value heads stream.",
        "whether the cheapest half of the key-value heads can stream",
    ),
    OnClaim(
        "clark-sep-attention",
        "Over half of the attention of the middle layers goes to [SEP], as in BERT-base.",
        "[SEP] gets {ours} of the attention of the middle layers; in BERT-base it gets over half.",
        "whether over half of the attention of the middle layers goes to [SEP]",
    ),
    OnClaim(
        "kovaleva-last-layers",
        "Fine-tuning changes the attention of the last layers more than that of any other.",
        "Fine-tuning does not change the attention of the last layers most.",
        "whether fine-tuning changes the attention of the last layers most",
        "cosine similarity (× 100) to the maps before fine-tuning {about}; difference {ours}",
    ),
    OnClaim(
        "michel-prune-40",
        "Pruning 40% of the heads by importance costs less than 2 points.",
        "Pruning 40% of the heads by importance costs 2 points or more.",
        "whether pruning 40% of the heads by importance costs less than 2 points",
        "the score changes by {ours}",
    ),
    OnClaim(
        "michel-translation-cross-alone",
        "Encoder-decoder attention loses most where one head is left in a layer.",
        "Encoder-decoder attention does not lose most where one head is left in a layer.",
        "whether encoder-decoder attention loses most where one head is left in a layer",
    ),
    OnClaim(
        "clark-layers-alike",
        "Heads of one layer are closer to each other than to heads of other layers.",
        "Heads of one layer are no closer to each other than to heads of other layers.",
        "whether heads of one layer are closer to each other than to others",
    ),
    OnClaim(
        "niven-adversarial",
        "Trained on the adversarial arguments, models stay at chance.",
        "Trained on the adversarial arguments, models do not stay at chance.",
        "whether models trained on the adversarial arguments stay at chance",
    ),
    OnClaim(
        "michel-most-heads",
        "Most heads can be removed one at a time without a significant loss.",
        "Most heads cannot be removed one at a time without a significant loss.",
        "whether most heads can be removed one at a time without a loss",
    ),
    OnClaim(
        "kovaleva-head-gain",
        "Disabling one head, chosen on held-out examples, improves the score.",
        "Disabling one head, chosen on held-out examples, does not improve the score.",
        "whether disabling some head improves the score",
    ),
)


def chosen(
    claims: Iterable[Row], tables: Mapping[str, Iterable[Row]], origins: Mapping[str, str]
) -> list[Finding]:
    """The first findings, at most MOST, whose data the study has, and has not generated.

    Inconclusive ones stand last. `tables` are printed ones by name, `origins` what the study's data
    are, by kind.
    """
    by_id: dict[str, list[Row]] = {}
    for row in claims:
        by_id.setdefault(row["id"], []).append(row)
    found = []
    for candidate in CANDIDATES:
        if isinstance(candidate, OnClaim):
            finding = _on_claim(candidate, by_id.get(candidate.id, []))
        else:
            name, kind, state = candidate
            generated = origins.get(kind) == "generated"
            finding = None if generated or name not in tables else state(tables[name])
        found += [finding] if finding else []
    return sorted(found, key=lambda finding: " is inconclusive " in finding.sentence)[:MOST]


def number(row: Row, measured: str = "{ours}") -> str:
    """A case's number in its unit, put in words by `measured`, with interval, n and seeds."""
    low, high = _rounded(row["ci_low"]), _rounded(row["ci_high"])
    within = [f"{low} to {high}" + (f": {row['interval']}" if row["interval"] else "")]
    within = within if low != high else []
    within += [f"n = {row['n']} {row['n_of']}"] if row["n"] else []
    within += ["one seed"] if row["seeds"] == "1" else []
    case = f"{row['case']}: " if row["case"] else ""
    words = _in_words(measured, row)
    return f"{case}{words}" + (f" ({'; '.join(within)})" if within else "")


def _in_words(words: str, row: Row) -> str:
    """Words of a candidate with the row's number, in its unit."""
    unit = row["unit"] if row["unit"].startswith("%") else f" {row['unit']}"
    return words.format(ours=_rounded(row["ours"]) + unit, about=row["about"])


def _rounded(text: str) -> str:
    """A number for people; empty where there is none."""
    if not text:
        return ""
    return f"{float(text):.1f}" if abs(float(text)) >= 1 else f"{float(text):.2g}"


def _on_claim(candidate: OnClaim, cases: list[Row]) -> Finding | None:
    """The finding in the words of its verdicts; it names the one case that has any."""
    rows = [row for row in cases if row["verdict"] not in VERDICTLESS]
    others = len(cases) - len(rows)
    if not rows:
        return None
    verdicts = list(dict.fromkeys(row["verdict"] for row in rows))
    sentence = f"It is inconclusive {candidate.open}."
    if len(verdicts) > 1:
        sentence = f"It differs from case to case {candidate.open}."
    if all(BADGES[verdict] == "good" for verdict in verdicts):
        sentence = candidate.holds
    elif all(BADGES[verdict] == "bad" for verdict in verdicts):
        sentence = _in_words(candidate.fails, rows[0])
    if others and len(rows) == 1:
        sentence = f"On {rows[0]['case']}, {sentence[0].lower()}{sentence[1:]}"
    numbers = "; ".join(number(row, candidate.measured) for row in rows)
    numbers += f"; cases without a verdict: {others}" if others else ""
    verdict = ", ".join(verdicts)
    return Finding(sentence, numbers, verdict, claim=candidate.id, case=rows[0]["case"])
