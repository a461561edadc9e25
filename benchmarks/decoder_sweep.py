"""Disabling each head of a decoder by the engine, against a loop that runs the model for each head.

The plain side is the loop that a user would write: for each head, the whole model on all
segments at once, with a hook that puts zeros in the place of the head's output, PyTorch's own
products and `transformers`' default attention. Segments are random tokens; the losses of both sides
are compared. Without --full, the first and the last layer stand for all: on average they have as
many layers above them. `processor` is the ratio of processor time, which others change less.
`ratio_same_kernels` and `processor_same_kernels` are against the loop with linear layers by oneDNN,
as ours.
"""

import time
from pathlib import Path

import numpy as np
import torch
from common import SAME_KERNELS, alternate, arguments, report
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.attention import n_heads, n_layers, open_attention
from workflow_scripts.core.model.causal_engine import ablate
from workflow_scripts.core.model.running import ONEDNN, OneDNN

LENGTH = 64
SEGMENTS = {"cpu": 20, "gpu": 200}  # in one batch of the loop
PASS_TOKENS = {"cpu": 1536, "gpu": 100_000}  # by default, and in the studies meant for a GPU
MERGES = (
    "o_proj",
    "attn.c_proj",
    "attention.dense",
    "out_proj",
)  # names of the products that follow


def main() -> None:
    """Run both sides in turn on the same weights and segments."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="a decoder's directory, as a study converts it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="rounds without --full")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = running.pick_device("auto")
    kind = "cpu" if device.type == "cpu" else "gpu"
    segments, pass_tokens = SEGMENTS[kind], PASS_TOKENS[kind]
    plain, model = (load(options.model).to(device) for _ in range(2))
    open_attention(model)
    layers, heads = n_layers(model), n_heads(model)
    chosen = np.arange(layers)
    if not options.full:
        chosen = chosen[[0, -1]]
    disabled = one_head(layers, heads).reshape(layers, heads, layers, heads)[chosen]
    looped = disabled if options.full else disabled[:, :1]  # each run of the loop costs the same
    rng = np.random.default_rng(0)
    ids = rng.integers(0, model.config.vocab_size, (segments, LENGTH))
    inputs = torch.from_numpy(ids).to(device)
    nothing = np.zeros(LENGTH)
    tokens = [Tokens("", row.astype(np.int32), nothing, nothing, LENGTH) for row in ids]
    found: dict[str, np.ndarray] = {}

    def ours() -> None:
        every = disabled.reshape(-1, layers, heads)
        found["ours"] = ablate(model, tokens, every, "zero", pass_tokens=pass_tokens)

    def loop() -> None:
        found["loop"] = plainly(plain, inputs, looped.reshape(-1, layers, heads))

    def loop_same_kernels() -> None:
        with OneDNN():
            plainly(plain, inputs, looped[:1].reshape(-1, layers, heads))

    twin = f"loop{SAME_KERNELS}"
    sides = {"ours": ours, "loop": loop} | (
        {twin: loop_same_kernels} if ONEDNN and kind == "cpu" else {}
    )
    processor: dict[str, list[float]] = {name: [] for name in sides}

    def timed(name: str) -> None:
        started = time.process_time()
        sides[name]()
        processor[name].append(time.process_time() - started)

    timed_sides = {name: lambda name=name: timed(name) for name in sides}
    rounds = alternate(timed_sides, 1 if options.full else options.rounds, warm_up=False)
    runs = {"ours": disabled, "loop": looped, twin: looped[:1]}
    heads_of = {name: runs[name].size / (layers * heads) for name in sides}

    def per_head(seconds: dict[str, list[float]]) -> dict[str, float]:
        return {name: float(np.median(seconds[name])) / heads_of[name] for name in sides}

    clock, cpu = per_head(rounds.seconds), per_head(processor)
    each = found["ours"].reshape(*disabled.shape[:2], segments, LENGTH - 1)
    apart = np.abs(each[:, : looped.shape[1]].reshape(found["loop"].shape) - found["loop"])
    ratios = {}
    for name in [name for name in sides if name != "ours"]:
        end = name.removeprefix("loop")
        ratios[f"ratio{end}"] = clock[name] / clock["ours"]
        ratios[f"processor{end}"] = cpu[name] / cpu["ours"]
    report(
        "decoder_sweep",
        rounds.others,
        **ratios,
        max_abs_diff={"segment": float(apart.mean(axis=-1).max()), "token": float(apart.max())},
        detail={
            "heads": [len(disabled) * heads, layers * heads],
            "bound_without_faster_products": bound(model),
            "seconds_per_head": clock,
            "processor_seconds_per_head": cpu,
            "threads": options.threads,
            "device": str(device),
        },
    )


def load(directory: Path) -> PreTrainedModel:
    """A decoder with its head, float32."""
    model = AutoModelForCausalLM.from_pretrained(
        directory, dtype=torch.float32, trust_remote_code=False
    )
    return model.eval()


def plainly(model: PreTrainedModel, ids: torch.Tensor, disabled: np.ndarray) -> np.ndarray:
    """Nats [variant, segment, token - 1]: head by head, the whole model."""
    merges = [module for name, module in model.named_modules() if name.endswith(MERGES)]
    nats = []
    for heads in disabled:
        ((layer, head),) = np.argwhere(heads)

        def without(_: torch.nn.Module, given: tuple[torch.Tensor], head: int = head) -> tuple:
            outputs = given[0].clone()
            dim = outputs.shape[-1] // disabled.shape[2]
            outputs[..., head * dim : (head + 1) * dim] = 0
            return (outputs,)

        hook = merges[layer].register_forward_pre_hook(without)
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
            loss = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
            nats.append(loss.unflatten(0, (len(ids), -1)).cpu().numpy())
        hook.remove()
    return np.stack(nats)


def bound(model: PreTrainedModel) -> float:
    """How many times fewer operations a sweep of all heads has than the loop, by the weights.

    The engine runs a head's layer and those above, and the unembedding, on all tokens but the last.
    """
    layers = next(
        listed
        for listed in model.modules()
        if isinstance(listed, torch.nn.ModuleList) and len(listed) == n_layers(model)
    )
    of_layers = sum(weight.numel() for weight in layers.parameters())
    unembedding = model.get_output_embeddings().weight.numel()
    shared = (len(layers) + 1) / (2 * len(layers)) * of_layers
    return (of_layers + unembedding) / (shared + unembedding) * LENGTH / (LENGTH - 1)


if __name__ == "__main__":
    main()
