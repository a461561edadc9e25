"""The peak memory of a study's heaviest jobs, against what PyTorch allocates and by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from transformers import BertConfig, BertForSequenceClassification

from tests.core.tiny_models import ARCHITECTURES, random_tokens
from workflow_scripts.core.model import padding
from workflow_scripts.core.model.ablation_engine import ablate, one_head
from workflow_scripts.core.run.findings import NOTE, OK
from workflow_scripts.preflight import peaks
from workflow_scripts.preflight.peaks import Encoder

SIZES = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 200}
CONFIG = BertConfig(**SIZES, intermediate_size=256, max_position_embeddings=64, num_labels=3)
BATCH, TOKENS = 8, 48
BASE = BertConfig()
LARGE = BertConfig(
    hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
)
TOLERANCE = 0.1  # 3 to 6% too low with the sizes below
GB = 1e9


def bert(config: BertConfig = CONFIG) -> BertForSequenceClassification:
    torch.manual_seed(0)
    return BertForSequenceClassification(config)


def some_tokens(n: int = BATCH) -> list:
    return random_tokens([TOKENS] * n)


def allocated(traced: profile) -> int:
    """The most bytes that PyTorch had allocated on the CPU within, beyond those at its start."""
    events = sorted(
        (event.start_ns(), event.nbytes())
        for event in traced.profiler.kineto_results.events()
        if event.name() == "[memory]"
    )
    return int(np.cumsum([n_bytes for _, n_bytes in events]).max())


def test_activations_are_what_is_kept_for_the_backward_pass() -> None:
    model = bert().train()
    own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (
                storage.nbytes(),
                tensor,
            )  # alive, so no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(**padding.pad(some_tokens(), model))
    measured = sum(n_bytes for n_bytes, _ in kept.values())
    assert Encoder.of(CONFIG).activations(BATCH, TOKENS) == pytest.approx(measured, rel=TOLERANCE)


def test_the_peak_of_training_is_that_of_its_allocations() -> None:
    inputs = padding.pad(some_tokens(), bert())
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as traced:
        model = bert().train()
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        for _ in range(2):
            loss = model(**inputs).logits.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert Encoder.of(CONFIG).training(BATCH, TOKENS) == pytest.approx(
        allocated(traced), rel=TOLERANCE
    )


@pytest.mark.parametrize("pass_tokens", [1536, 10_000])
def test_the_peak_of_the_sweep_is_that_of_its_allocations(pass_tokens: int) -> None:
    tokens, heads = some_tokens(2 * pass_tokens // 4 // TOKENS), one_head(4, 4)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as traced:
        model = bert().eval()
        ablate(model, tokens, heads, "uniform", pass_tokens=pass_tokens)
    assert Encoder.of(CONFIG).sweep(pass_tokens) == pytest.approx(allocated(traced), rel=TOLERANCE)


def test_numbers_by_hand() -> None:
    """BERT-base and -large, 32 examples of 128 tokens, and passes of 100,000 tokens."""
    base, large = Encoder.of(BASE), Encoder.of(LARGE)
    assert (base.weights, large.weights) == (109_482_240, 335_141_888)
    # Weights with their gradients and moments: 1.75 and 5.36 GB. Activations: 4,096 tokens of
    # 72 x 768 + 12 x 12 x 128 = 73,728 bytes, 12 times, and of 72 x 1,024 + 12 x 16 x 128 = 98,304
    # bytes, 24 times.
    assert base.training(32, 128) / GB == pytest.approx(1.752 + 3.624, abs=0.001)
    assert large.training(32, 128) / GB == pytest.approx(5.362 + 9.664, abs=0.001)
    # Weights: 0.44 and 1.34 GB. A token of a pass: 14 x 768 and 14 x 1,024 numbers.
    assert base.sweep(100_000) / GB == pytest.approx(0.438 + 4.301, abs=0.001)
    assert large.sweep(100_000) / GB == pytest.approx(1.341 + 5.734, abs=0.001)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_other_architectures_have_sizes(name: str) -> None:
    found = Encoder.of(ARCHITECTURES[name])
    assert (found.layers, found.heads, found.width, found.inner) == (3, 4, 32, 48)


def study(**others: Any) -> dict[str, Any]:
    """What is read of a study with one encoder, `m`, and the keys of `others`."""
    checkpoints = {"finetune": {"batch_size": 32}}
    tasks = {"sst2": {"max_tokens": 64}, "mnli": {"max_tokens": 128}, "arct": {}}
    parts = {"checkpoints": checkpoints, "ablation": {"pass_tokens": 100_000}, "tasks": tasks}
    return {"models": {"m": {"kind": "encoder"}}} | parts | others


def test_a_line_states_both_peaks() -> None:
    found = peaks.finding("m", study(), BASE, (int(80 * GB), "the GPU has 80.0 GB"))
    assert (found.what, found.state) == ("memory of m", OK)
    assert found.why == "fine-tuning about 5.4 GB, the sweep about 4.7 GB"
    assert peaks.finding("m", study(), BASE, None) == found


@pytest.mark.parametrize(
    ("gigabytes", "advice"),
    [
        (5, ["lower checkpoints.finetune.batch_size"]),
        (4, ["lower checkpoints.finetune.batch_size", "lower ablation.pass_tokens"]),
        (1, ["fine-tuning needs a larger one, whatever", "lower ablation.pass_tokens"]),
    ],
)
def test_a_smaller_gpu_is_noted_with_the_key_to_lower(gigabytes: int, advice: list[str]) -> None:
    found = peaks.finding("m", study(), BASE, (int(gigabytes * GB), "the GPU has few"))
    assert found.state == NOTE
    parts = found.why.split("; the GPU has few: ")[1:]
    assert all(part.startswith(start) for part, start in zip(parts, advice, strict=True))


def test_jobs_that_the_study_has_not_are_left_out() -> None:
    alone = study(models={"m": {"kind": "encoder", "chapters": ["checkpoints"]}})
    assert peaks.finding("m", alone, BASE, None).why == "fine-tuning about 5.4 GB"
    assert "sweep" not in peaks.finding("m", study(ablation={}), BASE, None).why
    assert peaks.finding("m", study(tasks={}), BASE, None) is None


def test_the_room_is_the_gpus_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert peaks.room("cpu", False, 3 * 10**9) == (3 * 10**9, "3.0 GB are free here")
    assert peaks.room("cpu", False, None) is peaks.room("auto", True, 1) is None
    about = SimpleNamespace(total_memory=80 * 10**9)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: about)
    assert peaks.room("auto", False, 1) == (80 * 10**9, "the GPU has 80.0 GB")
    assert peaks.room("cpu", False, 1)[0] == 1
