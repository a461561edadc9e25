"""Measures of attention that is not stored: the model computes it as they read it.

The rules of these measures read caches; with `attention.store: false` jobs of this script run their
scripts' `main` instead, with a reader in the place of each cache.
"""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from threadpoolctl import threadpool_limits

from workflow_scripts.core.measures.one_pass import measure_all
from workflow_scripts.core.model.extraction import Computed, read
from workflow_scripts.core.run import job

FILES = ("card", "corpus")  # of a source


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
    places = readers(sources, {}, device, batch_tokens, precision, by_norm)
    places |= {str(job.final(product)): product for product in products}
    run_steps(steps, places, one_pass, device, threads)


def readers(
    sources: dict[str, dict[str, Any]],
    places: dict[str, Any],
    device: str,
    batch_tokens: int,
    precision: str,
    by_norm: bool,
) -> dict[str, Any]:
    """A reader of the patterns of each source, whose card and corpus may be in other `places`."""
    found = {}
    for path, source in sources.items():
        given = source | {name: str(places.get(source[name], source[name])) for name in FILES}
        model, tokens = read(device, **given)
        settings = batch_tokens, precision, by_norm
        found[path] = Computed(Path(given["corpus"]), model, tokens, *settings)
    return found


def run_steps(
    steps: list, places: dict[str, Any], one_pass: bool, device: str, threads: int
) -> None:
    """Run the `main` of each step's script, with what is in `places` in the place of its paths."""
    prepared = []
    for step in steps:
        name = step["script"].removesuffix(".py").replace("/", ".")
        main = import_module(f"workflow_scripts.{name}").main
        given = step | {"params": step["params"] | {"device": device}, "threads": threads}
        values = job.values_of(main, SimpleNamespace(**given))
        prepared.append((main, {key: _placed(value, places) for key, value in values.items()}))
    with threadpool_limits(1, user_api="blas"):  # as in the jobs that read caches
        if one_pass:
            measure_all([main.__wrapped__(**values) for main, values in prepared])
        else:
            for main, values in prepared:
                main(**values)


def _placed(value: Any, places: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_placed(each, places) for each in value]
    return places.get(str(value), value) if isinstance(value, Path) else value


if __name__ == "__main__":
    job.run(main, globals())
