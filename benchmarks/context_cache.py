"""Generation with a cache that drops what streaming heads no longer see, against the plain cache.

A list of random heads streams: bytes and speed do not depend on which. Both sides go on from the
same random tokens; `ratio` is of their tokens per second. `max_abs_diff` is of the logits of the
tokens that were generated first, from those of the mask that `apply` makes.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from common import alternate, arguments, report
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel
from transformers.cache_utils import Cache

from workflow_scripts import context
from workflow_scripts.context.files import HeadList, write_heads
from workflow_scripts.context.streaming_cache import StreamingCache
from workflow_scripts.core.model import running

SHARES = {"half": 0.5, "all": 1.0}  # of key-value heads that stream


def main() -> None:
    """Read the text once with each cache, then let each generate in turn."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="a decoder's directory, as a study converts it")
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    n_new, rounds = (32, 9) if options.full else (16, 5)
    device = running.pick_device("auto")
    model = AutoModelForCausalLM.from_pretrained(
        options.model, dtype=torch.float32, trust_remote_code=False
    )
    model, config = model.to(device).eval(), model.config
    rng = np.random.default_rng(0)
    ids = torch.from_numpy(rng.integers(0, config.vocab_size, (1, options.tokens))).to(device)
    ranks = rng.permutation(config.num_hidden_layers * config.num_key_value_heads) + 1
    full = (ranks / len(ranks)).reshape(config.num_hidden_layers, -1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        write_heads(Path(folder), HeadList(full, sinks=4, recent=256))
        caches = {"plain": DynamicCache(config=config)}
        caches |= {name: StreamingCache(model, folder, share) for name, share in SHARES.items()}
        first = {name: generate(model, ids, cache, n_new) for name, cache in caches.items()}
        kept = {name: caches[name].bytes for name in SHARES}
        kept["plain"] = sum(
            each.keys.nbytes + each.values.nbytes for each in caches["plain"].layers
        )
        sides = {
            name: lambda cache=cache: generate(model, ids[:, -1:], cache, n_new)
            for name, cache in caches.items()
        }
        measured = alternate(sides, rounds)
        apart = {}
        for name, share in SHARES.items():
            tokens, logits = first[name]
            context.apply(model, folder, share)
            masked = model(torch.cat([ids, tokens], 1), logits_to_keep=n_new + 1).logits[:, :-1]
            apart[name] = float((masked - logits).abs().max())
    seconds = {name: float(np.median(each)) for name, each in measured.seconds.items()}
    report(
        "context_cache",
        measured.others,
        ratio={name: measured.ratio("plain", name) for name in SHARES},
        span={name: measured.span("plain", name) for name in SHARES},
        bytes=kept,
        tokens_per_second={name: n_new / each for name, each in seconds.items()},
        max_abs_diff=apart,
        detail={"tokens": options.tokens, "threads": options.threads, "device": str(device)},
    )


def generate(
    model: PreTrainedModel, ids: torch.Tensor, cache: Cache, n: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The likeliest `n` tokens after `ids`, each after the last, and the logits [1, n, word]."""
    tokens, logits = [], []
    for _ in range(n):
        logits.append(model(ids, past_key_values=cache, logits_to_keep=1).logits)
        ids = logits[-1].argmax(-1)
        tokens.append(ids)
    return torch.cat(tokens, 1), torch.cat(logits, 1)


if __name__ == "__main__":
    main()
