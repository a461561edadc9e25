"""What the tables of translators' heads hold, and the measures of heads that they give.

Michel et al. (2019, sections 3 and 4). A translator is a model of its own, whose grid has a block
of layers for each type.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.cards import in_words, read_card
from workflow_scripts.core.data.heads import ATTENTION_TYPES
from workflow_scripts.core.measures.forms import (
    NO_EFFECT,
    PRETRAINED,
    Form,
    Study,
    Table,
    Tables,
    identifier,
    named_by_run,
    variants,
)

DATA = ("pairs", "Translation")
TASK = "translation"
SCORES = Table(
    "translation/<run>.scores.parquet",
    value="effect",
    n_of="pairs",
    keys=("type", "unit", "mode", "split", "metric"),
    p="p_corrected",
    **NO_EFFECT,
)
IMPORTANCE = Table(
    "translation/<run>.importance.parquet",
    value="importance",
    n_of="pairs",
    keys=("type",),
    decimals=4,
    better="high",
    paper="michel2019",
    group="Importance",
)
NORMALISED = replace(IMPORTANCE, value="normalised", interval="", decimals=3)
CURVES = Table(
    "translation/<run>.curves.parquet",
    value="score",
    keys=("strategy", "scope", "draw", "step", "metric"),
)
TRAINING = replace(
    CURVES,
    file="translation/<run>.training.parquet",
    keys=(*CURVES.keys, "epoch"),
)
OF_TYPES = Table(
    "translation/<run>.types.parquet",
    value="value",
    keys=("measure", "type", "other"),
)
OVER_SENTENCES = "Interval: 95%, bootstrap over sentences."
# The paper that disables so, what the head does then, and what several are.
MODES = {
    "zero": ("michel2019", "gives no output", "zeroed"),
    "uniform": ("beyond", "attends to all tokens equally", "made uniform"),
}
UNITS = {
    "head": ("One head disabled", "Head disabled ({mode})", "with the head disabled: it"),
    "all-but-one": (
        "All other heads in the layer disabled",
        "All other heads of its type in the layer disabled ({mode})",
        "with all other heads of its type and layer disabled: each",
    ),
}
# The title of each metric, its unit and decimals, and whether it grows with the quality.
METRICS = {
    "bleu": ("BLEU", "BLEU", 2, True),
    "chrf": ("chrF", "chrF", 2, True),
    "loss": ("Loss per target token", "nats", 3, False),
}


def opened(card: Path, products: Sequence[Path]) -> tuple[dict[str, Any], Tables]:
    """What the atlas states about translator <run>.card.json, and its tables <run>.<of>.parquet."""
    about, run = read_card(card), card.name.removesuffix(".card.json")
    (name, state_name), pretrained = named_by_run(TASK, run), run == PRETRAINED
    title = PRETRAINED if pretrained else "trained to translate"
    state = {"name": state_name, "title": title, "task": TASK}
    types = [
        {"name": name, "title": title, "n_layers": about["layers"][name]}
        for name, title in ATTENTION_TYPES.items()
    ]
    model = {
        "name": name,
        "title": "Translator" + ("" if pretrained else f", seed {run}"),
        "architecture": about["architecture"],
        "n_layers": sum(each["n_layers"] for each in types),
        "n_heads": about["n_heads"],
        "types": types,
        "source": in_words(about["source"]),
        "states": [state if pretrained else state | {"seed": int(run)}],
    }
    own = [path for path in products if path.name.startswith(f"{run}.")]
    return model, Tables(model, card.parents[1], own)


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of a translator; none of another model."""
    if not found.types:
        return
    for table in found.each(SCORES):
        yield from masking(found, table, study)
    for table in found.each(IMPORTANCE):
        yield from importance(table, study)


def masking(found: Tables, table: Table, study: Study) -> Iterator[Form]:
    """The change of each metric without the head, or with it alone, on every split."""
    test_first = found[table].sort_values("split", key=lambda of: of != "test", kind="stable")
    for row, effect, how, form in variants(test_first, UNITS, MODES, "split", "metric"):
        unit, mode, split, metric = form["where"].values()
        title, of, decimals, grows = METRICS[metric]
        yield table.form(
            f"translation.{unit}.{mode}.{identifier(split)}.{metric}",
            f"{effect}, {title}, {split}",
            f"{title} on the sentences of {split}, {how}; minus that of the intact model, "
            f"{row['baseline']:.{decimals}f}.{study.note('pairs')} {OVER_SENTENCES} p: paired "
            f"randomisation test, corrected for the number of heads."
            + (f" sacrebleu signature: {row['signature']}." if row["signature"] else ""),
            unit=of,
            decimals=decimals,
            harm="low" if grows else "high",
            better="low" if (unit == "head") == grows else "high",
            task=TASK,
            state=named_by_run(TASK, table.names["run"])[1],
            **form,
        )


def importance(table: Table, study: Study) -> Iterator[Form]:
    """The gradient of the loss by the head's gate, plain and over its layer's norm."""
    _, state = named_by_run(TASK, table.names["run"])
    over = f"Mean over training pairs.{study.note('pairs')}"
    yield table.form(
        "translation.importance",
        "Importance",
        "|dL/d gate|: how much the teacher-forced loss of a pair changes with the head's gate. "
        f"{over} Interval: 95%, bootstrap over pairs.",
        task=TASK,
        state=state,
    )
    yield replace(NORMALISED, file=table.file).form(
        "translation.importance.normalised",
        "Importance in its layer",
        "Importance divided by the l2 norm of its type and layer; heads are pruned in this order. "
        f"{over} No interval.",
        task=TASK,
        state=state,
    )
