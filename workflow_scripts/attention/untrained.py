"""Measures of a copy of a model with random weights: what its shape and tokens alone give."""

import shutil
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModel

from workflow_scripts.attention.on_the_fly import readers, run_steps
from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.model import models, weights
from workflow_scripts.core.run import job


def random_copy(card: dict[str, Any], seed: int, directory: Path) -> dict[str, Any]:
    """The card of a model that is written to `directory`: of the same config, never trained.

    Its weights are sampled as `transformers` does for a new model.
    """
    original = models.directory_of(card)
    torch.manual_seed(seed)
    body = AutoModel.from_config(weights.read_config(original), trust_remote_code=False)
    models.save(body.float(), models.load_tokenizer(original), directory)
    return models.describe(directory, card["name"], {"path": str(directory)})


def main(
    model: Path,
    corpora: list[Path],
    products: list[job.Out],
    groups: list,
    n_segments: int,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    threads: int = 1,
    files: list[Path] = (),  # recorded
) -> None:
    """Run `groups` of steps, as `on_the_fly` does, for a copy, on the first segments of corpora.

    `products` are, in untrained/<seed>/, what the steps would write for the model itself.
    """
    written = {job.final(product): product for product in products}
    copy = next(iter(written)).parents[1]  # .../<model>/untrained/<seed>, below it <chapter>/<name>
    with TemporaryDirectory() as folder:
        places: dict[str, Any] = {}
        for path in (model, *corpora, *written):
            place = path.relative_to(copy) if path in written else Path(path.name)
            places[str(path)] = Path(folder, place)
            places[str(path)].parent.mkdir(exist_ok=True)
        card = random_copy(read_card(model), int(copy.name), Path(folder, "model"))
        write_card(card, places[str(model)])
        for corpus in corpora:
            with corpus.open(encoding="utf-8") as lines:
                first = "".join(islice(lines, n_segments))
            places[str(corpus)].write_text(first, encoding="utf-8")
        # Steps name what they would write for the model itself.
        original = f"{copy.parents[1]}/"
        own = {path.replace(f"{copy}/", original): place for path, place in places.items()}
        for group in groups:
            settings = batch_tokens, precision, group["by_norm"]
            read = readers(group["sources"], own, device, *settings)
            run_steps(group["steps"], own | read, group["one_pass"], device, threads)
        for path, product in written.items():
            shutil.move(places[str(path)], product)


if __name__ == "__main__":
    job.run(main, globals())
