"""ARCT in the official format, written by the study's own grammar with a cue planted in it.

A point argues for or against a plan of a town: the reason names an effect of the plan, and the
right warrant states that this is good or bad, as the claim requires. Which warrant is right follows
from claim and warrant together and never from a warrant alone, except through the planted cue: one
warrant alone contains the word "not" in a known share of the points (its coverage), and in a known
share of these it is the right one (its productivity).
"""

import csv
import json
import random
from pathlib import Path

from workflow_scripts.core.data.tasks import ARCT_SPLITS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.tasks.arct_files import ADVERSARIAL, ID, LABEL, PLANTED

HEADER = f"{ID}\twarrant0\twarrant1\t{LABEL}\treason\tclaim\tdebateTitle\tdebateInfo"
PLANS = (
    "build a library;open a market;close the harbour;ban cars;widen the road;plant trees;"
    "sell the hall;allow dogs;burn wood;move the station;rent bicycles;restore the castle;"
    "pave the bank;light the bridge;cut holidays;show films"
).split(";")
EFFECTS = (
    "more tourists;late buses;long queues;street musicians;tall buildings;new neighbours;"
    "early deliveries;school visits;quiet evenings;fast bicycles;farm animals;bright lights;"
    "young families;empty shops;wide pavements;loud parties"
).split(";")
GOOD = (
    "are welcome;help the shops;please most people;make the town rich;improve daily life;"
    "are worth the money"
)
BAD = (
    "are a burden;harm the schools;worry many parents;cost too much;spoil daily life;"
    "are a danger to children"
)


def negation(phrase: str) -> str:
    """The verb phrase with "not"."""
    return phrase.replace("are", "are not", 1) if phrase.startswith("are ") else f"do not {phrase}"


# Verb phrases without and with "not": good (True) or bad effects, by the phrase without it.
PHRASES = {
    good: [(phrase, negation(phrase)) for phrase in phrases.split(";")]
    for good, phrases in ((True, GOOD), (False, BAD))
}
CONTRACTED = {"are not": "aren't", "do not": "don't"}


def claims() -> dict[str, str]:
    """The negation of every claim, which is a claim too."""
    plain = {f"The town should {plan}": f"The town should not {plan}" for plan in PLANS}
    return plain | {negated: claim for claim, negated in plain.items()}


def points(n: int, counts: dict[str, int], rng: random.Random) -> list[dict[str, str | int]]:
    """`n` points: claim, reason, warrant0, warrant1, label; `counts` are those of the cue.

    Labels, and whether a claim is for or against its plan, are balanced and independent of the cue.
    """
    misleading = counts["applicable"] - counts["productive"]
    kinds = ["right"] * counts["productive"] + ["wrong"] * misleading
    kinds += [("both", "neither")[k % 2] for k in range(n - counts["applicable"])]
    labels, supporting = [k % 2 for k in range(n)], [k % 2 == 0 for k in range(n)]
    for column in (kinds, labels, supporting):
        rng.shuffle(column)
    return [
        _point(kind, label, supports, rng)
        for kind, label, supports in zip(kinds, labels, supporting, strict=True)
    ]


def _point(kind: str, label: int, supports: bool, rng: random.Random) -> dict[str, str | int]:
    """One point. Where the claim supports the plan, the right warrant says something good.

    `kind` names the warrants that contain the cue: the right one, the wrong one, both, neither.
    """
    plan, effect = rng.choice(PLANS), rng.choice(EFFECTS)
    claim, phrases = f"The town should {plan}", _phrases(kind, supports, rng)
    warrants = [f"{effect} {_contracted(phrase, rng)}" for phrase in phrases]
    return {
        "claim": claim if supports else claims()[claim],
        "reason": f"It would bring {effect}.",
        "warrant0": warrants[label],
        "warrant1": warrants[1 - label],
        "label": label,
    }


def _phrases(kind: str, good: bool, rng: random.Random) -> tuple[str, str]:
    """What the right and the wrong warrant say; the right one says something good if `good`."""
    if kind == "right":  # "are not a burden" against "are a burden"
        return rng.choice(PHRASES[not good])[::-1]
    if kind == "wrong":
        return rng.choice(PHRASES[good])
    both = kind == "both"
    right, wrong = rng.choice(PHRASES[good != both]), rng.choice(PHRASES[good == both])
    return right[both], wrong[both]


def _contracted(phrase: str, rng: random.Random) -> str:
    for long, short in CONTRACTED.items():
        if phrase.startswith(long) and rng.random() < 0.3:
            return short + phrase.removeprefix(long)
    return phrase


def write_split(
    folder: Path, split: str, n: int, counts: dict[str, int], rng: random.Random
) -> None:
    """Write a split in the official format, the test set with a truth file."""
    made = points(n, counts, rng)
    ids = [f"{rng.randrange(10**7):07d}_{k}_GENERATED" for k in range(n)]
    lines, truth = [], [f"# {split}/truth.txt", "# id and label of the generated points"]
    for id_, point in zip(ids, made, strict=True):
        fields = [id_, point["warrant0"], point["warrant1"], str(point["label"]), point["reason"]]
        fields += [point["claim"], "A Plan for the Town", "Should the town carry out its plan?"]
        if split == "test":
            truth.append(f"{id_}\t{fields.pop(3)}")
        lines.append("\t".join(fields))
    files = {f"{split}-full.txt": [HEADER, *lines]}
    if split == "test":
        header = HEADER.replace(f"{LABEL}\t", "")
        files = {"test-only-data.txt": [header, *lines], "test-truth.txt": truth}
    for name, content in files.items():
        (folder / name).write_text("\n".join(content) + "\n", encoding="utf-8")


def main(generated: job.Out, numbers: dict[str, float], seed: int = 1) -> None:
    """Write each split, the claim map and the counts of the planted cue to a directory.

    `numbers` has train, dev and maybe test (points), productivity and coverage.
    """
    sizes = {split: int(numbers[split]) for split in ARCT_SPLITS if split in numbers}
    planted = {}  # points with the cue in one warrant alone, and in the right one alone
    for split, n in sizes.items():
        applicable = round(numbers["coverage"] * n)
        productive = round(numbers["productivity"] * applicable)
        planted[split] = {"applicable": applicable, "productive": productive}
    if not all(counts["applicable"] for counts in planted.values()):
        raise InputError("tasks.arct.generate: a cue with this coverage is in no point; raise it")
    folder = generated / ADVERSARIAL
    folder.mkdir(parents=True)
    for split, n in sizes.items():
        rng = random.Random(f"{seed}-arct-{split}")
        write_split(generated, split, n, planted[split], rng)
    with (folder / "claim_map.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("original", "negated"), *claims().items()])
    (generated / PLANTED).write_text(json.dumps(planted, indent=2), encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
