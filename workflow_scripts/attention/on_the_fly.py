"""Measures of attention that is not stored: the model computes it as they read it.

The rules of these measures read caches; with `attention.store: false` jobs of this script run their
scripts' `main` instead, with a reader in the place of each cache.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from threadpoolctl import threadpool_limits
from transformers import PreTrainedModel

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.measures.one_pass import measure_all
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.extraction import Computed
from workflow_scripts.core.run import job


def main(
    products: list[job.Out],
    steps: list,
    sources: dict,
    one_pass: bool,
    batch_tokens: int = 4096,
    device: str = "auto",
    precision: str = "float32",
    threads: int = 1,
    by_norm: bool = False,
) -> None:
    """Run `steps`, whose measures read one corpus in one pass, or one after the other.

    Each has the `input`, `output` and `params` of a rule, and its `script`. `sources` has for each
    cache that they would read the model's card, the corpus and its max_tokens. `products` are the
    outputs of all. With `by_norm` they read each key's share of the norms in the place of weights.
    """
    settings = batch_tokens, precision, by_norm
    places: dict[str, Any] = {
        path: Computed(Path(source["corpus"]), *read(device, **source), *settings)
        for path, source in sources.items()
    }
    places |= {str(job.final(product)): product for product in products}
    prepared = [_main_and_values(step, places, threads) for step in steps]
    with threadpool_limits(1, user_api="blas"):  # as in the jobs that read caches
        if one_pass:
            measure_all([main.__wrapped__(**values) for main, values in prepared])
        else:
            for main, values in prepared:
                main(**values)


def read(device: str, card: str, corpus: str, max_tokens: int) -> tuple[PreTrainedModel, list]:
    """The opened model of a card and the tokens of a corpus, as the extraction has them."""
    about, examples = read_card(Path(card)), read_examples(Path(corpus))
    tokenizer = models.load_tokenizer(models.directory_of(about))
    tokens = tokenize(examples, tokenizer, max_tokens, about["max_positions"])
    return _opened(device, card), tokens


@cache
def _opened(device: str, card: str) -> PreTrainedModel:
    """Loaded once, however many corpora it reads."""
    directory = models.directory_of(read_card(Path(card)))
    return attention.open_attention(models.load_body(directory, running.pick_device(device)))


def _main_and_values(step: dict, places: dict[str, Any], threads: int) -> tuple[Callable, dict]:
    """The `main` of a step's script and its values, some of which have other `places`."""
    name = step["script"].removesuffix(".py").replace("/", ".")
    main = import_module(f"workflow_scripts.{name}").main
    values = job.values_of(main, SimpleNamespace(**step, threads=threads))
    return main, {key: _placed(value, places) for key, value in values.items()}


def _placed(value: Any, places: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_placed(each, places) for each in value]
    return places.get(str(value), value) if isinstance(value, Path) else value


if __name__ == "__main__":
    job.run(main, globals())
