"""What is reported on the runs: accuracy over seeds, flips, and heads that carry the cue."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.arguments.builders import bert_card, made_up_arct, made_up_vectors
from tests.core.figure_checks import overlapping
from workflow_scripts.arguments import argument_heads, figures, niven2019_tables
from workflow_scripts.arguments.argument_reliance import measure as measure_reliance
from workflow_scripts.arguments.argument_reliance import with_changes
from workflow_scripts.arguments.argument_run import kept_models
from workflow_scripts.arguments.argument_scores import measure
from workflow_scripts.arguments.families import to_tokens, vocabulary_of, word_family
from workflow_scripts.arguments.wording import inputs_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_TEXTS, held_out
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.classifiers import logits_of, new_scorer, save_scorer
from workflow_scripts.core.model.interventions import Disabled
from workflow_scripts.core.model.models import load_tokenizer
from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.figures import style
from workflow_scripts.core.run.job import call

BERT = {"max_tokens": 64, "pooler": False, "weight_decay": 0.01, "warmup": 0.1}
RUN = {"family": "bert", "trained_on": "original", "setup": "full"}


def predictions(*runs: tuple[int, dict[tuple[str, str], list[int]]]) -> pd.DataFrame:
    """Rows of runs: the seed and, by split and version, which points are right (1) or not."""
    rows = []
    for seed, parts in runs:
        for (split, version), hits in parts.items():
            for number, hit in enumerate(hits):
                label = number % 2
                logits = {f"logit_{label}": float(hit), f"logit_{1 - label}": 0.5}
                rows.append(RUN | {"seed": seed, "split": split, "version": version} | logits
                            | {"id": f"{split}{number}{version}", "label": label})  # fmt: skip
    return pd.DataFrame(rows)


RUNS = predictions(
    (1, {("train", "original"): [1, 1, 1, 0], ("dev", "original"): [1, 0],
         ("test", "original"): [1, 1, 1, 0], ("test", "negated"): [0, 0, 0, 0]}),
    (2, {("train", "original"): [1, 0, 1, 0], ("dev", "original"): [1, 1],
         ("test", "original"): [1, 1, 0, 0], ("test", "negated"): [1, 1, 1, 0]}),
)  # fmt: skip


def test_scores_of_runs() -> None:
    scores = measure(RUNS, {"bert": 0.6}).set_index(["seed", "split", "points"])
    assert scores["accuracy"].to_dict() == {
        (1, "train", "training"): 0.75,
        (1, "dev", "original"): 0.5,
        (1, "dev", "adversarial"): 0.5,
        (1, "test", "original"): 0.75,
        (1, "test", "negated"): 0.0,
        (1, "test", "adversarial"): 0.375,
        (2, "train", "training"): 0.5,
        (2, "dev", "original"): 1.0,
        (2, "dev", "adversarial"): 1.0,
        (2, "test", "original"): 0.5,
        (2, "test", "negated"): 0.75,
        (2, "test", "adversarial"): 0.625,
    }
    assert scores["degenerate"].groupby("seed").first().to_dict() == {1: False, 2: True}


def test_tables_over_seeds() -> None:
    scores = measure(RUNS, {"bert": 0.6})
    partial = niven2019_tables.table3(scores, "test", "BERT (Large)").iloc[0]
    assert (partial["runs"], partial["degenerate"], partial["n"]) == (2, 1, 4)
    assert (partial["mean"], partial["median"], partial["max"]) == (62.5, 62.5, 75)
    assert partial["sd"] == pytest.approx(np.std([75, 50], ddof=1))
    assert partial["others_mean"] == 75 and np.isnan(partial["others_sd"])
    assert (partial["paper_mean"], partial["paper_max"]) == (67.1, 77.0)
    assert (partial["paper_others_mean"], partial["paper_others_sd"]) == (71.6, 4)
    assert (partial["paper_runs"], partial["paper_degenerate"]) == (20, 5)
    systems = niven2019_tables.table1(scores, "mine", "BERT (Large)").set_index("model")
    assert systems.loc["BERT (mine)", ["dev_mean", "test_mean"]].tolist() == [75, 62.5]
    assert systems.loc["BERT (mine)", "paper_test_median"] == 71.2
    assert systems.loc["BERT (mine)", "paper_test_others_mean"] == 71.6
    assert systems.loc["Human (trained)", "paper_test_mean"] == 90.9
    assert "BERT (Large)" not in systems.index  # its numbers are in the model's own row
    adversarial = niven2019_tables.table4(scores, "test", "BERT (Large)").iloc[0]
    halves = ["original_half", "negated_half"]
    assert adversarial[["mean", *halves]].tolist() == [50, 62.5, 37.5]


def test_flips_by_hand() -> None:
    """Four points, two seeds; the cue's side is 0, 1, 0, 1."""
    rows = []
    logits = {  # logit of the cue's warrant minus the other's
        ("none", 1): [2, 1, -1, 1],
        ("removed", 1): [1, -1, -1, 1],
        ("exchanged", 1): [-1, -1, 1, -2],
        ("control", 1): [2, 1, -1, 1],
        ("none", 2): [1, 1, 1, -1],
        ("removed", 2): [-1, 1, 1, -1],
        ("exchanged", 2): [-1, -1, -1, 1],
        ("control", 2): [1, 1, -1, -1],
    }
    for (change, seed), margins in logits.items():
        for number, margin in enumerate(margins):
            side = number % 2
            row = {"family": "bov", "setup": "W", "cue": "not", "change": change, "seed": seed}
            row |= {"id": f"p{number}", "label": 0, "side": side}
            rows.append(row | {f"logit_{side}": float(margin), f"logit_{1 - side}": 0.0})
    shares = figures.measure(pd.DataFrame(rows), 200, 1).set_index("change")
    assert shares["flips"].to_dict() == {"removed": 2 / 8, "exchanged": 8 / 8, "control": 1 / 8}
    assert (shares["follows"] == 6 / 8).all()
    assert shares["follows_after"].to_dict() == {
        "removed": 4 / 8, "exchanged": 2 / 8, "control": 5 / 8,
    }  # fmt: skip
    assert shares["margin"].iloc[0] == pytest.approx(5 / 8)
    # Label 0: right where a point of side 0 follows, or one of side 1 does not.
    assert shares["accuracy"].iloc[0] == pytest.approx((1 + 0 + 0 + 0 + 1 + 0 + 1 + 1) / 8)
    assert (shares["n"] == 4).all() and (shares["seeds"] == 2).all()
    # All four points flip: exact, 0.025 ** (1 / 4), as bootstrap samples are all alike.
    ends = shares.loc["exchanged", ["ci_low", "ci_high"]].tolist()
    assert ends == pytest.approx([0.025**0.25, 1])


def test_a_model_that_counts_the_cue_relies_on_it(tmp_path: Path) -> None:
    """A bag whose only weight is on "not" follows it, and every exchange flips its prediction."""
    frame = made_up_arct(tmp_path, 20, 20)
    vocabulary = vocabulary_of([text for column in ARCT_TEXTS for text in frame[column].unique()])
    family = word_family("bov", made_up_vectors(frame), vocabulary, tune=False)
    model = family.new("W", {"dropout": 0.0}, 1)
    with torch.no_grad():
        model.embedding.weight.zero_()
        for word in ("not", "n't"):
            model.embedding.weight[1 + vocabulary.index(word), 0] = 1
        model.linear.weight.zero_()
        model.linear.weight[0, 0] = 1
    family.save(model, tmp_path / "weights" / "W")
    same, models = (
        {"n't": "not"},
        kept_models(family, tmp_path / "weights", ["W"], torch.device("cpu")),
    )
    held = pd.concat(held_out(frame), ignore_index=True)
    changed = {("not",): with_changes(held, ("not",), same, 1)}
    logits = measure_reliance(family, models, changed)
    shares = figures.measure(logits.assign(seed=7), 100, 1).set_index("change")
    assert (shares["follows"] == 1).all()
    assert shares.loc["exchanged", "flips"] == 1
    assert shares.loc["exchanged", "follows_after"] == 0
    assert shares.loc["control", "flips"] == 0
    assert shares.loc["removed", "margin_after"] == 0
    assert (shares["n"] == 2 * 16).all()  # coverage 0.8 of 20 points, dev and test


def test_p_values_of_heads_swap_points_with_all_their_seeds() -> None:
    """Against plain loops over draws, heads and points; a loss of this size is found."""
    rng = np.random.default_rng(1)
    lost = np.array([0, 3.0, 0.2, 0, 0, 0, 0])[:, None, None]
    gaps = lost + rng.normal(0, 0.3, (7, 12, 2))
    places = [(-1, -1), *((0, head) for head in range(6))]
    rows = [
        {"layer": layer, "head": head, "id": f"p{point:02}", "seed": seed, "side": 0, "label": 0}
        | {"logit_0": 4 - gaps[variant, point, seed], "logit_1": 0.0}
        for variant, (layer, head) in enumerate(places)
        for point in range(12)
        for seed in range(2)
    ]
    effects = figures.effects(pd.DataFrame(rows), 200, 400, 1)
    margins = effects[effects["measure"] == "margin"]
    means = 4 - gaps.mean(axis=2)
    swaps = list(itertools.product([False, True], repeat=12))
    for head in range(6):
        changes = means[1 + head] - means[0]
        count = 0
        for inside in swaps:
            mixed = sum(-c if swapped else c for c, swapped in zip(changes, inside, strict=True))
            count += abs(mixed) >= abs(changes.sum()) - 1e-9
        assert margins["p"].iloc[head] == pytest.approx(count / 2**12)
    assert margins["p_corrected"].iloc[0] < 0.05
    assert 0.1 < margins["found"].iloc[0] < 1
    others = effects[effects["measure"] == "follows"]
    assert (others["p"] == 1).all()  # the same warrant is picked with every head disabled
    assert others["found"].iloc[0] == pytest.approx(50, abs=17)  # six points of twelve


def test_effects_of_heads_by_hand() -> None:
    """Three points, one without the cue; head 1-2 reverses the first point."""
    side, label = [0, 1, -1], [0, 0, 1]
    intact, disabled = [1.0, 2.0, -1.0], {(0, 0): [1.0, 2.0, -1.0], (0, 1): [-1.0, 1.0, -1.0]}
    rows = []
    for (layer, head), gaps in ({(-1, -1): intact} | disabled).items():
        for number, gap in enumerate(gaps):  # logit 0 minus logit 1
            row = {"layer": layer, "head": head, "id": f"p{number}", "logit_0": gap, "logit_1": 0.0}
            rows.append(row | {"side": side[number], "label": label[number], "seed": 1})
    effects = figures.effects(pd.DataFrame(rows), 200, 400, 1).set_index(["measure", "head"])
    # Margins: 1 and -2 plainly; -1 and -1 without head 1-2.
    assert effects.loc[("margin", 1), "baseline"] == pytest.approx(-0.5)
    assert effects.loc[("margin", 1), "effect"] == pytest.approx(-0.5)
    assert effects.loc[("follows", 1), "effect"] == pytest.approx(-50)
    assert effects.loc[("accuracy", 1), "effect"] == pytest.approx(-100 / 3)
    assert effects.loc[("margin", 0), ["effect", "p", "p_corrected"]].tolist() == [0, 1, 1]
    assert effects.loc[("margin", 0), "n"] == 2 and effects.loc[("accuracy", 0), "n"] == 3


def test_the_sweep_equals_one_head_and_one_point_at_a_time(tmp_path: Path) -> None:
    made_up_arct(tmp_path, 20, 10)
    card = bert_card(tmp_path)
    scorer = new_scorer(tmp_path / "model", seed=5).eval()
    save_scorer(scorer, tmp_path / "bert.original.3" / "full")
    out = tmp_path / "heads.parquet"
    values = {"model": card, "table": tmp_path / "arct.parquet", "heads": out, "mode": "zero"}
    values |= {"weights": tmp_path / "bert.original.3", "setups": ["full"], "points": 4}
    values |= {
        "cue": "not",
        "same": {"n't": "not"},
        "settings": BERT,
        "pass_tokens": 500,
        "seed": 3,
        "sample_seed": 1,
    }
    call(argument_heads.main, values | {"device": "cpu"})
    swept = tables.read(out)
    assert len(swept) == (1 + 2 * 4) * 8 and set(swept["seed"]) == {3}

    frame = tables.read(tmp_path / "arct.parquet")
    tokenizer = load_tokenizer(tmp_path / "model")
    open_attention(scorer)
    chosen = swept[swept["layer"] == -1]["id"]
    for (layer, head), id_ in itertools.product([(0, 1), (1, 3)], chosen.tolist()[:3]):
        row = frame[frame["id"] == id_]
        disabled = torch.zeros(1, 2, 4, dtype=torch.bool)
        disabled[0, layer, head] = True
        with watching(scorer, Disabled(disabled, "zero")):
            tokens = [to_tokens(text, tokenizer, 64, 128) for text in inputs_of(row, "full")]
            expected = np.concatenate([logits_of(scorer, [text])[0] for text in tokens])
        variant = swept[(swept["layer"] == layer) & (swept["head"] == head) & (swept["id"] == id_)]
        np.testing.assert_allclose(
            variant[["logit_0", "logit_1"]].to_numpy()[0], expected, atol=2e-5
        )


def test_the_figure_of_heads_shows_measures_that_some_head_changes(tmp_path: Path) -> None:
    """Head 1-2 lowers the margin of each of 12 points; no head changes a prediction."""
    places = {(-1, -1): 4.0, (0, 0): 4.0, (0, 1): 3.0}
    rows = [
        {
            "layer": layer,
            "head": head,
            "id": f"p{point:02}",
            "logit_0": gap - 0.01 * point * max(head, 0),
        }
        for (layer, head), gap in places.items()
        for point in range(12)
    ]
    frame = pd.DataFrame(rows).assign(logit_1=0.0, side=0, label=0, seed=1, setup="W", split="dev")
    tables.write(frame, tmp_path / "heads")
    with style():
        written = {"table": tmp_path / "table.csv"}
        drawn = figures.niven2019_heads.__wrapped__
        figure = drawn([tmp_path / "heads"], **written, bootstrap=200, permutations=400, seed=1)
        assert overlapping(figure) == []
    (margins,) = figure.axes
    red = [line for line in margins.lines if line.get_color() == colours.HARM]
    assert [line.get_xdata().tolist() for line in red] == [[1]]
    assert [text.get_text() for text in margins.texts] == ["1-2"]
    assert set(pd.read_csv(tmp_path / "table.csv")["measure"]) == {"margin", "follows", "accuracy"}
