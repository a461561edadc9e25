"""Training a translator: its vocabulary, the loss by hand, whole after a stop."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from transformers.trainer_pt_utils import LabelSmoother

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, training
from workflow_scripts.core.model.translators import (
    IGNORED,
    Translator,
    sources_of,
    targets_of,
    translator_of,
)
from workflow_scripts.core.run.job import call
from workflow_scripts.translation import translator_training
from workflow_scripts.translation.translator_training import (
    Pairs,
    TranslatorRecipe,
    learnt_vocabulary,
    loss_of,
    loss_on,
    new_translator,
    train,
)

TEXTS = ["Ein Mann, der (schnell) läuft.", 'A man runs "fast".', "Zwei Männer laufen!"] * 5


def test_decoding_gives_the_text_back() -> None:
    tokenizer = learnt_vocabulary(TEXTS, 60)
    for text in (*TEXTS[:3], "laufen Ein man, (der)"):
        ids = tokenizer(text)["input_ids"]
        assert ids.count(tokenizer.eos_token_id) == 1
        assert ids[-1] == tokenizer.eos_token_id
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


RECIPE = {
    "seed": 3,
    "vocabulary": 40,
    "hidden": 16,
    "feed_forward": 32,
    "layers": 2,
    "heads": 2,
    "epochs": 3,
    "batch_size": 8,
    "learning_rate": 0.01,
}
OUTPUTS = ("checkpoint", "card", "curve")
WORDS = "ab cd ef gh ij".split()


def made_up_pairs(n: int) -> list[tuple[str, str]]:
    """Sources of two to five words, whose targets are the words in reverse."""
    rng = random.Random(1)
    chosen = [rng.choices(WORDS, k=rng.randint(2, 5)) for _ in range(n)]
    return [(" ".join(words), " ".join(reversed(words))) for words in chosen]


def made_up_table(path: Path, n: int = 40) -> Path:
    splits = ["train"] * (n - 10) + ["validation"] * 5 + ["test"] * 5
    frame = pd.DataFrame(made_up_pairs(n), columns=["source", "target"])
    tables.write(frame.assign(split=splits, id=[f"{at}" for at in range(n)]), path)
    return path


def translator(**changes: Any) -> tuple[Translator, Pairs]:
    sources, targets = zip(*made_up_pairs(30), strict=True)
    made = new_translator([*sources, *targets], TranslatorRecipe(**(RECIPE | changes)))
    return made, Pairs(sources_of(made, sources), targets_of(made, targets))


def run(folder: Path, **options: Any) -> Path:
    folder.mkdir()
    values = {name: folder / name for name in OUTPUTS}
    values |= {"pairs": made_up_table(folder / "pairs"), "run": "3", "recipe": RECIPE}
    call(translator_training.main, values | {"device": "cpu"} | options)
    return folder


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "checkpoint/model.safetensors")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training") / "finished"
    return run(folder, epochs=folder / "epochs")


def test_the_loss_is_the_mean_over_target_tokens() -> None:
    made, pairs = translator(dropout=0.0)
    total, n = 0.0, 0
    made.model.eval()
    for source, target in zip(pairs.sources, pairs.targets, strict=True):
        with torch.no_grad():
            logits = made.model(
                input_ids=torch.tensor([source]),
                decoder_input_ids=torch.tensor([[made.tokenizer.pad_token_id, *target[:-1]]]),
            ).logits[0]
        total -= sum(logits.log_softmax(-1)[at, token].item() for at, token in enumerate(target))
        n += len(target)
    assert loss_on(made, pairs) == pytest.approx(total / n, rel=1e-5)


def test_the_smoothed_loss_is_that_of_transformers() -> None:
    torch.manual_seed(1)
    logits, labels = torch.randn(3, 5, 7), torch.randint(0, 7, (3, 5))
    labels[0, 3:] = IGNORED
    theirs = LabelSmoother(epsilon=0.1)({"logits": logits}, labels.clone())
    assert loss_of(logits, labels, 0.1).item() == pytest.approx(theirs.item(), rel=1e-5)


def test_a_hidden_size_that_heads_cannot_share_is_one_line() -> None:
    recipe = TranslatorRecipe(**RECIPE | {"hidden": 18, "heads": 4})
    words = r"config: translation.train.hidden: 18 is no multiple of heads \(4\)"
    with pytest.raises(InputError, match=words):
        new_translator(["a text"], recipe)


def test_training_learns(tmp_path: Path) -> None:
    made, pairs = translator(epochs=30, dropout=0.0)
    before = loss_on(made, pairs)
    state = tmp_path / training.STATE
    curve = train(
        made, pairs, pairs, TranslatorRecipe(**(RECIPE | {"epochs": 30, "dropout": 0.0})), state
    )
    dev = curve[curve["split"] == "dev"]
    assert dev["loss"].iloc[-1] == pytest.approx(loss_on(made, pairs), rel=1e-6)
    assert dev["loss"].iloc[-1] < before / 2
    assert dev["epoch"].tolist() == [*range(1, 31)]


def test_what_is_written(finished: Path) -> None:
    card = read_card(finished / "card")
    assert card["layers"] == {"encoder": 2, "encoder-decoder": 2, "decoder": 2}
    assert (card["name"], card["n_heads"], card["hidden_size"]) == ("3", 2, 16)
    assert card["source"] == {"path": str(finished / "checkpoint")}
    assert card["weights"] == models.weights_digest(finished / "checkpoint")
    assert not (finished / "checkpoint.work").exists()
    curve = pd.read_csv(finished / "curve")
    assert (curve["split"] == "dev").sum() == 3
    search = {"beams": 1, "length_penalty": 1.0, "max_new_tokens": 9}
    made = translator_of(card, search, torch.device("cpu"))
    rows = tables.read(finished / "pairs").query("split == 'validation'")
    pairs = Pairs(sources_of(made, rows["source"]), targets_of(made, rows["target"]))
    last = curve[curve["split"] == "dev"]["loss"].iloc[-1]
    assert loss_on(made, pairs) == pytest.approx(last, rel=1e-4)


def test_the_weights_of_every_epoch(finished: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in (finished / "epochs").iterdir())
    assert names == ["epoch-1", "epoch-2"]  # the third is the checkpoint itself
    folder = run(tmp_path / "last")
    for name, value in weights(finished).items():
        np.testing.assert_array_equal(value, weights(folder)[name], err_msg=name)
