"""How time and peak memory grow with the size of what is read, part by part.

Each size of a part runs once, in a fresh process, as a process's peak never falls. `exponent` is
the power of the size with which `seconds` (by the clock), `processor` (seconds of all cores) and
`peak_MB` grow, over all sizes and between the last two. `start_MB` is the peak before the timed
work, libraries and model included: where it is most of `peak_MB`, the exponent says little. The
temporary folder needs 2.1 MB for each segment of the extraction.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import ROOT, Busy, arguments, exponents, own_peak, report

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from workflow_scripts.core.data.tokens import Tokens

Timed = Callable[[], Any]
# Of the default study's model. A part imports what it needs alone, for the sake of `start_MB`.
LAYERS, HEADS, WIDTH = 6, 12, 384
EXAMPLES = 2  # of a model of many layers
DRAWS = 2  # random orders of pruning
TOKENS = 88  # of a text on the atlas's page


@dataclass(frozen=True)
class Part:
    """What grows, the sizes at which it is measured, and what prepares the timed work of one."""

    of: str
    sizes: tuple[int, ...]
    full: tuple[int, ...]
    prepare: Callable[[int, Path], Timed]


def extraction(n: int, folder: Path) -> Timed:
    """Attention of `n` random segments to a cache, with the default model."""
    from extraction import BATCH_TOKENS, CARD, load, random_segments

    from workflow_scripts.core.model import attention
    from workflow_scripts.core.model.extraction import extract

    model = attention.open_attention(load())
    tokens = random_segments(n, model)
    return lambda: extract(model, tokens, folder / "attention.h5", CARD, BATCH_TOKENS)


def random_bert(layers: int, n: int) -> "tuple[PreTrainedModel, list[Tokens]]":
    """A random classifier of the default model's size but `layers` deep, warm, and `n` pairs."""
    import torch
    from ablation import MRPC
    from machine import random_pairs
    from transformers import BertConfig, BertForSequenceClassification

    from workflow_scripts.core.model.attention import open_attention
    from workflow_scripts.core.model.classifiers import logits_of

    torch.manual_seed(0)
    config = BertConfig(
        num_hidden_layers=layers,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_attention_heads=HEADS,
    )
    model = open_attention(BertForSequenceClassification(config).eval())
    tokens = random_pairs(n, *MRPC)
    logits_of(model, tokens[:1], 128)
    return model, tokens


def sweep_of(layers: int, n: int) -> Timed:
    """All heads disabled one by one on `n` pairs."""
    from workflow_scripts.core.model.ablation_engine import ablate, one_head

    model, tokens = random_bert(layers, n)
    return lambda: ablate(model, tokens, one_head(layers, HEADS), "uniform")


def pruning(layers: int, _: Path) -> Timed:
    """Gradients behind importance, and the logits of all orders but those by one-head scores."""
    import numpy as np

    from workflow_scripts.core.stats import effects
    from workflow_scripts.pruning.importance import Definition, gradients, ranking
    from workflow_scripts.pruning.pruning_curves import PruningOrder, one_head_plans, pruned_logits

    model, tokens = random_bert(layers, EXAMPLES)
    counts = effects.pruning_steps(layers * HEADS, 0.1)

    def timed() -> None:
        values = gradients(model, tokens, np.zeros(len(tokens), int))
        first = ranking(values, [len(each) for each in tokens], Definition("paper", True))
        at_random = effects.random_orders((layers, HEADS), counts, DRAWS, 1)
        plans = [PruningOrder("importance", 0, effects.order_by_score(first, counts))]
        plans += [PruningOrder("random", draw, masks) for draw, masks in enumerate(at_random)]
        pruned_logits(model, tokens, [*plans, *one_head_plans(first, DRAWS, 1)])

    return timed


def atlas(layers: int, folder: Path) -> Timed:
    """The page of a made-up atlas, from its data."""
    from workflow_scripts.atlas import atlas_page

    data = folder / "atlas.json"
    size = (str(layers), str(HEADS), str(data), "--tokens", str(TOKENS))
    made_up = [sys.executable, "-m", "tests.atlas.made_up", *size]
    subprocess.run(made_up, cwd=ROOT, check=True)
    return lambda: atlas_page.main(data, folder / "atlas.html")


def planning(seeds: int, folder: Path) -> Timed:
    """A dry run of the default study with as many seeds of fine-tuning, the Snakefile included."""
    import yaml

    from tests.core.plan_studies import plan

    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config["checkpoints"]["finetune"]["seeds"] = list(range(1, seeds + 1))
    study = folder / "study.yaml"
    study.write_text(yaml.safe_dump(config), encoding="utf-8")
    return lambda: plan(study, folder)


DEPTHS = (6, 12, 24)
PARTS = {
    "extraction": Part("segments", (100, 300, 1000), (100, 1000, 10000), extraction),
    "sweep_layers": Part("layers", DEPTHS, DEPTHS, lambda n, _: sweep_of(n, EXAMPLES)),
    "sweep_examples": Part(
        "examples", (4, 12, 36), (10, 100, 1000), lambda n, _: sweep_of(LAYERS, n)
    ),
    "pruning": Part("layers", DEPTHS, DEPTHS, pruning),
    "atlas": Part("layers", DEPTHS, DEPTHS, atlas),
    "planning": Part("seeds", (1, 7, 20), (1, 7, 20), planning),
}


def main() -> None:
    """Measure each part at each of its sizes, in processes of their own."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sizes", type=int, nargs="+", help="two or more, in place of a part's")
    parser.add_argument("--one", type=int, metavar="SIZE", help="measure this size here, print it")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(PARTS[options.parts[0]], options.one)))
        return
    before, found = Busy.now(), {}
    for name in options.parts:
        part = PARTS[name]
        sizes = options.sizes or list(part.full if options.full else part.sizes)
        rows = [measured_elsewhere(name, size) for size in sizes]
        columns = {column: [row[column] for row in rows] for column in rows[0]}
        grown = {column: exponents(sizes, columns[column]) for column in columns}
        found[name] = {"of": part.of, "sizes": sizes, **columns, "exponent": grown}
        del grown["start_MB"]
    report("growth", Busy.now().others_since(before), parts=found)


def measured(part: Part, size: int) -> dict[str, float]:
    """Seconds and memory of one size, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        timed = part.prepare(size, Path(folder))
        start = own_peak()
        clock, processor = time.perf_counter(), time.process_time()
        timed()
        return {
            "seconds": time.perf_counter() - clock,
            "processor": time.process_time() - processor,
            "start_MB": start / 1024,
            "peak_MB": own_peak() / 1024,
        }


def measured_elsewhere(name: str, size: int) -> dict[str, float]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--parts", name, "--one", str(size)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
