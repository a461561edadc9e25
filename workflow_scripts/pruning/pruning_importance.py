"""One part of the gradients behind head importance (Michel et al. 2019, section 4.1)."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import read_task
from workflow_scripts.core.model import devices
from workflow_scripts.core.model.batches import part_of
from workflow_scripts.core.model.classifiers import Sampler, classifier_of
from workflow_scripts.core.model.head_gradients import BATCH_TOKENS
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.pruning.importance import gradients, gradients_table


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    values: Out,
    sample_seed: int,
    examples: int,
    max_tokens: int,
    part: str,
    device: str = "auto",
) -> None:
    """Write the gradients of the training examples in the batches of `part` (as `2-of-8`).

    They are sampled as pruning_curves samples them: at most `examples` (0: all), by `sample_seed`.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    positions = read_card(card)["max_positions"]
    sampler = Sampler(read_task(table), tokenizer, max_tokens, positions, sample_seed)
    tokens, rows = sampler.sample("train", examples)
    chosen = part_of([len(example) for example in tokens], BATCH_TOKENS, part)
    labels = rows["label"].to_numpy()[chosen]
    found = gradients(model, [tokens[index] for index in chosen], labels)
    tables.write(gradients_table(found, chosen), values)


if __name__ == "__main__":
    job.run(main, globals())
