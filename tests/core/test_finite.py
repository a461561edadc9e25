"""No training goes on with numbers that are not finite, and none is scored."""

import ast
import copy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from tests.arguments.builders import bert_card
from tests.bad_input.refused import refused
from tests.checkpoints import test_classifier_training as classifiers
from tests.core.tiny_models import ARCHITECTURES
from tests.translation import test_translator_training as translators
from workflow_scripts.arguments.argument_training import Family, LabelledPoints, TrainingRun
from workflow_scripts.arguments.argument_training import fit as fit_family
from workflow_scripts.arguments.bert import bert_family
from workflow_scripts.arguments.families import word_family
from workflow_scripts.checkpoints import mlm_head
from workflow_scripts.checkpoints.classifier_training import FineTuning, RunDirectory, logits_of
from workflow_scripts.checkpoints.classifier_training import train as fine_tune
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.vectors import Vectors, write_vectors
from workflow_scripts.core.model import training
from workflow_scripts.core.model.training import Recipe, ShuffledBatches, constant_schedule
from workflow_scripts.patterns import pattern_network
from workflow_scripts.probes import structural_probe
from workflow_scripts.translation.translator_training import TranslatorRecipe
from workflow_scripts.translation.translator_training import train as train_translator

SCRIPTS = Path(__file__).parents[2] / "workflow_scripts"
CPU = torch.device("cpu")
FAST = {"seed": 1, "epochs": 3, "batch_size": 4, "learning_rate": 1e9}
RNG = np.random.default_rng(1)
WORDS = ["river", "city", "king"]


def classifier(folder: Path) -> None:
    data = classifiers.examples()
    fine_tune(classifiers.classifier(), data, data, FineTuning(**FAST), RunDirectory(folder, {}))


def words(name: str) -> None:
    vectors = Vectors({word: row for row, word in enumerate(WORDS)}, np.eye(3, dtype=np.float32))
    diverge(word_family(name, vectors, WORDS, tune=True), 1e38)


def diverge(model: Family, rate: float) -> None:
    texts = [model.encode(((word,), other)) for word in WORDS for other in WORDS[:2]] * 4
    points = LabelledPoints(texts, np.arange(12) % 2)
    rates = {"learning_rate": rate, "dropout": 0.1, "hidden": 4}
    fit_family(model, TrainingRun("RW", rates, 1, 8, 4), points, points, CPU)


def translator(folder: Path) -> None:
    made, pairs = translators.translator()
    recipe = TranslatorRecipe(**translators.RECIPE | {"learning_rate": 1e9})
    train_translator(made, pairs, pairs, recipe, folder / "state.safetensors")


def masked_lm_head(folder: Path) -> None:
    config = copy.deepcopy(ARCHITECTURES["bert"])
    model = AutoModelForMaskedLM.from_config(config, trust_remote_code=False)
    states = torch.randn(20, config.hidden_size)
    mlm_head.fit(model, states, torch.arange(20) + 5, Recipe(**FAST | {"learning_rate": 1e38}))


def probe(folder: Path) -> None:
    states = [RNG.normal(size=(5, 4)).astype(np.float16) for _ in range(8)]
    distances = [np.abs(np.subtract.outer(range(5), range(5))) for _ in range(8)]
    structural_probe.fit(states, distances, 2, Recipe(**FAST | {"learning_rate": 1e30}), CPU)


def patterns(folder: Path) -> None:
    images, labels = torch.rand(12, 32, 32), torch.arange(12) % 2
    pattern_network.fit(images, labels, Recipe(**FAST | {"learning_rate": 1e38}))


def bert(folder: Path) -> None:
    settings = {"max_tokens": 20, "pooler": False, "weight_decay": 0.01, "warmup": 0.1}
    diverge(bert_family(read_card(bert_card(folder)), settings), 1e9)


LOOPS: dict[str, Callable[[Path], None]] = {
    "classifier": classifier,
    "ARCT's BERT": bert,
    "bov": lambda folder: words("bov"),
    "bilstm": lambda folder: words("bilstm"),
    "translator": translator,
    "masked-LM head": masked_lm_head,
    "probe": probe,
    "pattern classifier": patterns,
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_training_that_diverges_stops(name: str, tmp_path: Path) -> None:
    refused(lambda: LOOPS[name](tmp_path), "training: the loss of step 2 is nan; lower the learn")


def test_a_training_from_a_weight_that_is_nan_stops_at_its_first_step(tmp_path: Path) -> None:
    model, data = classifiers.classifier(), classifiers.examples()
    with torch.no_grad():
        model.bert.encoder.layer[1].attention.self.query.weight[3, 2] = torch.nan
    run = RunDirectory(tmp_path, {})
    refused(lambda: fine_tune(model, data, data, classifiers.RECIPE, run), "loss of step 1 is nan")
    refused(lambda: logits_of(model, data.tokens), "logits of 42 of 42 examples are not finite")
    assert not (tmp_path / "state.safetensors").exists()


def test_the_step_is_counted_over_epochs_and_the_first_ends_the_training() -> None:
    weight, asked = torch.nn.Parameter(torch.ones(1)), []
    schedule = constant_schedule(torch.optim.SGD([weight], lr=0))

    def loss_of(batch: int) -> torch.Tensor:
        asked.append(batch)
        return weight.sum() * (torch.inf if len(asked) == 8 else 1)

    def run() -> None:
        batches = ShuffledBatches(range(5), seed=1)
        training.train(torch.nn.Module(), batches, loss_of, 3, schedule)

    refused(run, "the loss of step 8 is inf")
    assert len(asked) == 8


def test_weights_that_are_not_finite_after_a_finite_loss() -> None:
    """The gradient of a square root at 0."""
    weight = torch.nn.Parameter(torch.zeros(2))
    schedule = constant_schedule(torch.optim.SGD([weight], lr=1))
    batches = ShuffledBatches([0], seed=1)

    def run() -> None:
        training.train_epoch(batches, lambda _: (weight * 0).sum().sqrt(), schedule)

    refused(run, "training: weights are not finite after step 1")


def test_a_development_loss() -> None:
    refused(lambda: training.curve_of(2, [0.5] * 4, torch.inf), "development loss of step 8 is inf")


def test_word_vectors(tmp_path: Path) -> None:
    matrix = np.array([[1, 2], [np.nan, 0]])
    files = tmp_path / "vectors", tmp_path / "words"
    refused(lambda: write_vectors(["a", "city"], matrix, *files), "the vector of 'city' is not fin")
    assert not any(path.exists() for path in files)


def test_every_training_is_that_of_one_loop() -> None:
    """Elsewhere gradients are measured, and no optimizer takes a step."""
    measures = {"importance", "translation_importance", "gradient_importance"}
    measures |= {"next_token_importance", "attribution"}
    calls: dict[str, set[str]] = {"backward": set(), "zero_grad": set()}
    for path in SCRIPTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                calls.get(node.func.attr, set()).add(path.stem)
    assert calls == {"backward": {"training"} | measures, "zero_grad": {"training"}}
