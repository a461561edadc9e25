"""Importance and pruning curves of a translator, against plain loops and finite differences."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sacrebleu
import torch
from torch.nn import functional

from tests.core.tiny_models import ENCODER_DECODERS, HEADS, random_encoder_decoder, tokenizer
from tests.translation.made_up_sweeps import sweep
from tests.translation.test_translator_training import RECIPE
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import ATTENTION_TYPES, Sublayer
from workflow_scripts.core.model.attention import open_attention, sublayers, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.translators import (
    Languages,
    Translator,
    load_translator,
    pad_sources,
    pad_targets,
    sources_of,
    targets_of,
    texts_of,
)
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats import bootstrap
from workflow_scripts.core.stats.effects import normalised
from workflow_scripts.core.stats.translation_metrics import COLUMNS, statistics
from workflow_scripts.translation import (
    translation_epochs,
    translation_pruning,
    translator_training,
)
from workflow_scripts.translation.translation_pruning import (
    gradients,
    gradients_on,
    one_head_ranks,
    read_split,
    scored,
)

# M2M100's and T5's losses have kinks (ReLU), and T5's norms are float32 in a float64 model, too.
SMOOTH = ["marian", "bart", "mbart"]
SIZES = ((9, 4), (3, 11), (14, 2), (5, 5))  # tokens of sources and targets


def translator(name: str) -> Translator:
    model = open_attention(random_encoder_decoder(ENCODER_DECODERS[name]).double())
    return Translator(model, tokenizer(), Languages())


def random_pairs() -> tuple[list[list[int]], list[list[int]]]:
    rng = np.random.default_rng(1)
    return tuple(
        [rng.integers(5, 40, length).tolist() for length in lengths]
        for lengths in zip(*SIZES, strict=True)
    )


def loss_at(model: torch.nn.Module, source: list[int], target: list[int], xi: torch.Tensor):
    """The loss of one pair without any padding: its tokens' negative log-likelihoods, summed."""
    with watching(model, Gates(xi)):
        logits = model(input_ids=torch.tensor([source]), labels=torch.tensor([target])).logits
    steps = functional.log_softmax(logits[0], 1)
    return -sum(steps[place, token] for place, token in enumerate(target))


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_a_batch_gives_what_single_pairs_give(name: str) -> None:
    tiny, (sources, targets) = translator(name), random_pairs()
    order = sublayers(tiny.model)
    together = gradients(tiny, sources, targets)
    assert together.shape == (len(SIZES), len(order), HEADS)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        xi = torch.ones(len(order), HEADS, dtype=torch.float64, requires_grad=True)
        loss_at(tiny.model, source, target, xi).backward()
        np.testing.assert_allclose(together[row], xi.grad.abs(), rtol=1e-7, atol=1e-10)
    in_small = gradients(tiny, sources, targets, batch_tokens=1)
    np.testing.assert_allclose(in_small, together, rtol=1e-7, atol=1e-10)
    assert (together > 0).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_equals_finite_differences(name: str) -> None:
    tiny, (sources, targets) = translator(name), random_pairs()
    actual, step = gradients(tiny, sources[:2], targets[:2]), 1e-5
    for row, place, head in np.ndindex(actual.shape):
        ends = []
        for sign in (1, -1):
            xi = torch.ones(actual.shape[1:], dtype=torch.float64)
            xi[place, head] += sign * step
            with torch.no_grad():
                ends.append(loss_at(tiny.model, sources[row], targets[row], xi).item())
        slope = abs(ends[0] - ends[1]) / (2 * step)
        assert actual[row, place, head] == pytest.approx(slope, rel=1e-4, abs=1e-6)


N_LAYERS, N_HEADS, EPOCHS, TEST = 2, 2, 3, 8
ORDER = tuple(Sublayer(kind, layer) for kind in ATTENTION_TYPES for layer in range(N_LAYERS))
GENERATION = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 16}
# So few that a tiny model soon knows some of their words.
SENTENCES = {
    "ab cd": "the dog sees the old cat",
    "cd ab ab": "the man runs home now",
    "ef gh": "a woman sees the old tree",
    "gh ij ab ef": "the cat runs to the tree",
}
SETTINGS = {
    "step": 0.25,
    "strategies": ["importance", "score", "random"],
    "draws": 2,
    "examples": 12,
    "epochs": "doubling",
}
MEASUREMENT = {"sentences": 0, "pass_rows": 64, "bootstrap": 100, "seed": 1}


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained translator, and the products of pruning it."""
    folder = tmp_path_factory.mktemp("translation")
    splits = ["train"] * 160 + ["validation"] * 5 + ["test"] * TEST
    sources = np.random.default_rng(1).choice(list(SENTENCES), len(splits))
    frame = pd.DataFrame({"source": sources, "target": [SENTENCES[text] for text in sources]})
    tables.write(frame.assign(split=splits, id=frame.index.astype(str)), folder / "pairs")
    trained = {name: folder / name for name in ("checkpoint", "epochs", "card", "curve")}
    trained |= {"pairs": folder / "pairs", "run": "3", "device": "cpu"}
    recipe = RECIPE | {
        "layers": N_LAYERS,
        "heads": N_HEADS,
        "epochs": EPOCHS,
        "hidden": 32,
        "vocabulary": 80,
    }
    call(translator_training.main, trained | {"recipe": recipe})
    tables.write(sweep("3", shape=(N_LAYERS, N_HEADS)), folder / "sweep")
    arguments = {name: trained[name] for name in ("card", "pairs", "run", "device")}
    arguments |= {"generation": GENERATION, "settings": SETTINGS, "measurement": MEASUREMENT}
    outputs = {name: folder / f"{name}.parquet" for name in ("importance", "curves", "order")}
    call(translation_pruning.main, arguments | {"sweep": folder / "sweep"} | outputs)
    outputs = {name: folder / f"{name}.by-epoch" for name in ("training", "importance")}
    call(translation_epochs.main, arguments | {"epochs": trained["epochs"]} | outputs)
    return folder


def loaded(folder: Path, epoch: int = EPOCHS) -> Translator:
    place = folder / "checkpoint" if epoch == EPOCHS else folder / f"epochs/epoch-{epoch}"
    return load_translator(place, read_card(folder / "card"), GENERATION, torch.device("cpu"))


def plainly(translator: Translator, test: pd.DataFrame, gone: np.ndarray) -> dict[str, float]:
    """The scores without the heads of `gone`, and the number of outputs without an end."""
    texts, loss, tokens, capped = [], 0.0, 0, 0
    for _, pair in test.iterrows():
        inputs = pad_sources(translator, sources_of(translator, [pair["source"]]))
        labels = pad_targets(translator, targets_of(translator, [pair["target"]]))
        gates = Gates(torch.from_numpy(~gone).float())
        with torch.no_grad(), watching(translator.model, gates):
            ids = translator.model.generate(
                **inputs, num_beams=2, length_penalty=1.0, max_new_tokens=16, do_sample=False
            )[0]
            logits = translator.model(**inputs, labels=labels).logits[0]
        texts += texts_of(translator, [ids.tolist()])
        capped += int(translator.model.config.eos_token_id not in ids)
        loss += functional.cross_entropy(logits, labels[0], reduction="sum").item()
        tokens += labels.numel()
    truth = [test["target"].tolist()]
    return {
        "bleu": sacrebleu.corpus_bleu(texts, truth).score,
        "chrf": sacrebleu.corpus_chrf(texts, truth).score,
        "loss": loss / tokens,
        "capped": capped,
    }


def gone_at(order: pd.DataFrame, step: int, **keys: Any) -> np.ndarray:
    """The heads gone after a step, bool [sublayer, head], as the table of orders has them."""
    for key, value in keys.items():
        order = order[order[key] == value]
    gone = np.zeros((len(ORDER), N_HEADS), bool)
    for row in order[order["step"] <= step].itertuples():
        gone[ORDER.index(Sublayer(row.type, row.layer)), row.head] = True
    return gone


@pytest.mark.parametrize(
    ("strategy", "scope"),
    [
        *((strategy, "all") for strategy in SETTINGS["strategies"]),
        *(("importance", type_) for type_ in ATTENTION_TYPES),
    ],
)
def test_scores_are_those_of_the_heads_that_are_left(
    pruned: Path, strategy: str, scope: str
) -> None:
    curves, order = (pd.read_parquet(pruned / f"{name}.parquet") for name in ("curves", "order"))
    test, translator = read_split(pruned / "pairs", "test", 0, 1), loaded(pruned)
    draw = 1 if strategy == "random" else 0
    keys = {"strategy": strategy, "scope": scope, "draw": draw}
    rows = curves[np.logical_and.reduce([curves[key] == value for key, value in keys.items()])]
    heads = N_HEADS * (len(ORDER) if scope == "all" else N_LAYERS)
    assert (rows["heads"] == heads).all()
    assert (rows["n"] == TEST).all()
    for step in (1, 3) if strategy == "importance" else (2,):
        gone = gone_at(order, step, **keys)
        at = rows[rows["step"] == step].set_index("metric")
        assert (at["pruned"] == gone.sum()).all()
        assert at["share"].iloc[0] == pytest.approx(gone.sum() / heads)
        expected = plainly(translator, test, gone)
        assert (at["capped"] == expected.pop("capped")).all()
        assert at["score"].to_dict() == pytest.approx(expected, rel=1e-4)
        kept = at["score"] / at["baseline"]
        assert at["kept"].drop("loss").to_dict() == pytest.approx(
            kept.drop("loss").to_dict(), nan_ok=True
        )


def test_the_least_important_heads_go_first(pruned: Path) -> None:
    importance, order = (
        pd.read_parquet(pruned / f"{name}.parquet") for name in ("importance", "order")
    )
    assert (importance["n"] == SETTINGS["examples"]).all()
    for scope in ("all", *ATTENTION_TYPES):
        chosen = importance if scope == "all" else importance[importance["type"] == scope]
        plan = order[(order["strategy"] == "importance") & (order["scope"] == scope)]
        both = chosen.merge(plan, on=["type", "layer", "head"])
        assert len(both) == len(chosen)
        assert both.sort_values("normalised")["step"].is_monotonic_increasing


def test_one_head_scores_are_of_the_validation_set(tmp_path: Path) -> None:
    frame = sweep("3", shape=(N_LAYERS, N_HEADS))
    tables.write(frame, tmp_path / "sweep")
    ranks = one_head_ranks(tmp_path / "sweep", ORDER, N_HEADS)
    bleu = {}
    for place, head in np.ndindex(ranks.shape):
        chosen = (frame["unit"] == "head") & (frame["split"] == "validation")
        chosen &= (frame["type"] == ORDER[place].type) & (frame["layer"] == ORDER[place].layer)
        rows = frame[chosen & (frame["head"] == head)]
        sums = rows[[f"bleu_{number}" for number in range(10)]].sum().tolist()
        score = sacrebleu.BLEU.compute_bleu(sums[2:6], sums[6:], *sums[:2], smooth_method="exp")
        bleu[ranks[place, head]] = score.score
    assert sorted(bleu) == list(range(len(bleu)))
    scores = [bleu[rank] for rank in sorted(bleu)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 6


def test_intervals_are_over_sentences_by_a_plain_loop() -> None:
    truth = ["a dog sees a cat", "the man runs home now", "she sees the old tree"] * 4
    translations = [truth, [text.replace("a ", "the ", 1) for text in truth], ["x y z"] * 12]
    counted = np.stack([statistics(texts, truth) for texts in translations])
    columns = dict(zip(COLUMNS, np.moveaxis(counted, 2, 0), strict=True))
    columns |= dict.fromkeys(("loss", "tokens"), np.ones((3, 12)))
    columns |= {"capped": np.eye(3, 12, dtype=bool)}
    frame = scored(columns, 0, 60, 4)
    bleu = frame[frame["metric"] == "bleu"].set_index("variant")
    sampled = []
    for weights in bootstrap.bootstrap_weights(12, 60, 4):
        chosen = np.repeat(np.arange(12), weights)
        samples = [[texts[at] for at in chosen] for texts in translations]
        references = [[truth[at] for at in chosen]]
        sampled.append([sacrebleu.corpus_bleu(texts, references).score for texts in samples])
    low, high = np.percentile(sampled, (2.5, 97.5), axis=0)
    np.testing.assert_allclose(bleu["ci_low"], low)
    np.testing.assert_allclose(bleu["ci_high"], high)
    kept = np.array(sampled) / np.array(sampled)[:, :1]
    np.testing.assert_allclose(bleu["kept_low"], np.percentile(kept, 2.5, axis=0))
    assert bleu["capped"].tolist() == [1, 1, 1]
    assert frame[frame["metric"] == "loss"]["kept"].isna().all()
    of_nothing = scored(columns, 2, 60, 4)
    of_nothing = of_nothing[of_nothing["metric"] == "bleu"]
    assert (of_nothing["baseline"] == 0).all()
    assert of_nothing[["kept", "kept_low", "kept_high"]].isna().all(axis=None)


def test_every_epoch_has_its_own_importance_and_curve(pruned: Path) -> None:
    training, importance = (
        pd.read_parquet(pruned / f"{name}.by-epoch") for name in ("training", "importance")
    )
    assert training["epoch"].unique().tolist() == [1, 2, EPOCHS]
    assert set(training["strategy"]) == {"importance"}
    assert set(training["scope"]) == {"all"}
    on = read_split(pruned / "pairs", "train", SETTINGS["examples"], 1)
    test = read_split(pruned / "pairs", "test", 0, 1)
    for epoch in range(1, EPOCHS + 1):
        translator = loaded(pruned, epoch)
        assert sublayers(translator.model) == ORDER
        expected = gradients_on(translator, on).mean(axis=0)
        rows = importance[importance["epoch"] == epoch]
        np.testing.assert_allclose(rows["importance"], expected.ravel(), rtol=1e-5)
        ranks = normalised(expected).ravel().argsort().argsort().reshape(expected.shape)
        at = training[(training["epoch"] == epoch) & (training["step"] == 2)]
        gone = ranks < at["pruned"].iloc[0]
        scores = plainly(translator, test, gone)
        assert (at["capped"] == scores.pop("capped")).all()
        assert at.set_index("metric")["score"].to_dict() == pytest.approx(scores, rel=1e-4)
    agreement = importance.groupby("epoch")["agreement"].first()
    assert agreement[EPOCHS] == pytest.approx(1)
    assert agreement[1] < 1
    curves = pd.read_parquet(pruned / "curves.parquet")
    last = training[training["epoch"] == EPOCHS].drop(columns="epoch").reset_index(drop=True)
    joint = curves[(curves["strategy"] == "importance") & (curves["scope"] == "all")]
    pd.testing.assert_frame_equal(last, joint.reset_index(drop=True))


@pytest.mark.parametrize(
    ("n", "which", "expected"),
    [
        (24, "doubling", [1, 2, 4, 8, 16, 24]),
        (16, "doubling", [1, 2, 4, 8, 16]),
        (1, "doubling", [1]),
        (3, "every", [1, 2, 3]),
    ],
)
def test_epochs_whose_curves_are_measured(n: int, which: str, expected: list[int]) -> None:
    assert translation_epochs.measured_epochs(n, which) == expected
