"""Measures of claims about translators, on small tables by hand."""

import math
from pathlib import Path

import pytest

from tests.claims.made_up import products
from workflow_scripts.claims import translation, verdicts
from workflow_scripts.claims.claim_verdicts import MEASURES, Comparability, evaluate
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.published import read
from workflow_scripts.claims.verdicts import Measured

BUILTIN = Path(__file__).parents[2] / "claims/published.csv"
TYPES = ("encoder", "encoder-decoder", "decoder")


def ends(number: Measured) -> tuple[float, float, float]:
    return number.value, number.low, number.high


def effect(kind: str, layer: int, head: int, value: float, **more: object) -> dict:
    row = {"run": "1", "unit": "head", "mode": "zero", "split": "test", "metric": "bleu", "n": 50}
    row |= {"type": kind, "layer": layer, "head": head, "effect": value, "baseline": 30.0}
    row |= {"ci_low": value - 0.5, "ci_high": value + 0.5, "p_paper": 0.5, "p_corrected": 1.0}
    return row | more


def left(kind: str, layer: int, head: int, validation: float, test: float) -> list[dict]:
    """The effects of leaving a head alone on both splits."""
    splits = {"validation": validation, "test": test}
    return [
        effect(kind, layer, head, value, split=split, unit="all-but-one")
        for split, value in splits.items()
    ]


def curve(kind: str, kept: dict[float, float], run: str = "1", **more: object) -> list[dict]:
    row = {"run": run, "strategy": "importance", "scope": kind, "metric": "bleu", "n": 50}
    row |= {"heads": 10, "baseline": 30.0}
    return [
        row
        | {"share": share, "pruned": round(10 * share), "kept": part, "score": 30 * part}
        | {"ci_low": 30 * part - 1, "ci_high": 30 * part + 1}
        | {"kept_low": part - 0.02, "kept_high": part + 0.03}
        | more
        for share, part in kept.items()
    ]


@pytest.fixture
def found(tmp_path: Path) -> Products:
    scores = [
        effect("encoder", 0, 0, -1.0, p_paper=0.001, p_corrected=0.01),
        effect("encoder", 0, 1, 0.5, p_paper=0.001),
        effect("decoder", 0, 0, -3.0, p_paper=0.02),
        effect("decoder", 0, 1, -3.0, p_paper=0.001),
        effect("decoder", 0, 1, -9.0, p_paper=0.001, metric="chrf"),
        effect("decoder", 0, 1, -9.0, p_paper=0.001, mode="uniform"),
    ]
    # On the test set another head is better: the one chosen on the validation set counts.
    for kind, layer, lost in (("encoder", 0, 0.2), ("encoder-decoder", 0, 0.9)):
        scores += left(kind, layer, 0, -1, -lost) + left(kind, layer, 1, -2, 0)
    scores += left("encoder-decoder", 1, 0, -9, -8) + left("encoder-decoder", 1, 1, -10, 0)
    kept = {"all": 1.0, "encoder": 0.9, "encoder-decoder": 0.2, "decoder": 0.7}
    curves = [
        row
        for scope, part in kept.items()
        for row in curve(scope, {0.0: 1.0, 0.2: 0.98, 0.7: part, 0.8: part - 0.1})
    ]
    curves += curve("all", {0.0: 1.0}, strategy="random") + curve("all", {0.0: 7.0}, metric="loss")
    gap = {"run": "1", "split": "test", "type": "encoder-decoder", "n": 50}
    types = [
        gap
        | {"measure": "best head left", "other": other, "value": value}
        | {"ci_low": value - 1, "ci_high": value + 1}
        for other, value in (("", -5.0), ("encoder", -4.0), ("decoder", -0.5))
    ]
    types += [types[1] | change for change in ({"split": "web"}, {"type": "decoder"})]
    types.append(types[1] | {"measure": "one head"})
    return products(
        tmp_path,
        translation__1_of_scores=scores,
        translation__1_of_curves=curves,
        translation__2_of_curves=curve("all", {0.0: 1.0, 0.25: 0.5}, run="2"),
        translation__1_of_types=types,
        translation__1_of_epochs=[
            {"run": "1", "epoch": epoch, "agreement": epoch / 4, "head": head}
            for epoch in (1, 2)
            for head in range(10)
        ],
        michel2019_translation_pairs=[
            {"run": 1, "kind": "splits", "mode": "zero", "metric": "bleu", "type": kind, "n": 12}
            | {"one": "validation", "other": "test", "pearson": 0.6}
            | {"pearson_low": 0.4, "pearson_high": 0.7}
            for kind in ("all", "Enc-Dec")
        ],
    )


def test_the_intact_translator(found: Products) -> None:
    one, two = translation.base_bleu(found, "")
    assert (one.case, *ends(one), one.n) == ("seed 1", 30, 29, 31, 50)
    assert two.case == "seed 2"


def test_pruning(found: Products) -> None:
    one, two = translation.kept_bleu(found, "20 all")
    assert ends(one) == pytest.approx((98, 96, 101))
    assert two.value == 50  # at 25%, the nearest
    encoder, decoder = translation.kept_bleu(found, "80 encoder decoder")
    assert (encoder.case, encoder.value) == ("seed 1, Enc-Enc", pytest.approx(80))
    assert decoder.about == "80% of 10 heads, BLEU 18.0 of 30.0"
    over_encoder, over_decoder = translation.kept_gap(found, "70")
    assert ends(over_encoder) == pytest.approx((20 - 90, 18 - 93, 23 - 88))
    assert over_decoder.case == "seed 1, Enc-Dec minus Dec-Dec"
    assert over_decoder.about == "20.0% and 70.0%"


def test_types_of_attention(found: Products) -> None:
    over_encoder, over_decoder = translation.type_gap(found, "best head left")
    assert (over_encoder.case, *ends(over_encoder)) == ("seed 1, Enc-Dec minus Enc-Enc", -4, -5, -3)
    assert (over_decoder.value, over_decoder.about) == (-0.5, "Enc-Dec: -5.00")


def test_one_head_left(found: Products) -> None:
    (last,) = translation.one_head_left(found, "last")
    assert (*ends(last), last.about) == (-8, -8.5, -7.5, "Enc-Dec 2-1")
    (others,) = translation.one_head_left(found, "others")
    assert (others.value, others.about) == (-0.9, "Enc-Dec 1-1")
    (enough,) = translation.layers_of_one_head(found, "1")
    assert ends(enough) == pytest.approx((200 / 3, 100 / 3, 200 / 3))


def test_heads_masked_alone(found: Products) -> None:
    (free,) = translation.heads_without_loss(found, "0.01")
    assert (free.value, free.n) == (50, 4)
    assert free.low < 50 < free.high
    assert free.about == "1 with a loss at a corrected p below 0.05"
    (significant,) = translation.significant_heads(found, "encoder 0.01")
    assert (significant.value, significant.n) == (100, 2)


def test_agreement_and_training(found: Products) -> None:
    (agreement,) = translation.translator_agreement(found, "")
    assert (agreement.case, *ends(agreement)) == ("seed 1, validation and test", 0.6, 0.4, 0.7)
    assert agreement.run == "1"
    (early,) = translation.translator_epochs(found, "1")
    half = 1.96 / math.sqrt(7)
    expected = [math.tanh(math.atanh(0.25) + side * half) for side in (0, -1, 1)]
    assert ends(early) == pytest.approx(expected, abs=1e-4)


def test_types_are_compared_on_generated_pairs_too(found: Products) -> None:
    """Each run and other type has a verdict; statements about language need real pairs."""
    claims = {claim.id: claim for claim in read(BUILTIN, MEASURES)}
    study = Comparability("mine", {"pairs": "generated"})
    rows = evaluate(claims["michel-translation-cross-alone"], found, study)
    assert [row["verdict"] for row in rows] == [verdicts.HOLDS, verdicts.CANNOT_TELL]
    rows = evaluate(claims["michel-translation-cross-pruned"], found, study)
    assert {row["verdict"] for row in rows} == {verdicts.HOLDS}
    for id_, claim in claims.items():
        if "pairs" in claim.needs:
            for row in evaluate(claim, found, study):
                assert (row["verdict"], row["because"]) == (
                    verdicts.NOT_COMPARABLE,
                    "generated pairs",
                ), id_


def test_a_number_of_the_papers_translator(found: Products) -> None:
    claims = {claim.id: claim for claim in read(BUILTIN, MEASURES)}
    for translator, verdict in ((False, verdicts.NOT_COMPARABLE), (True, verdicts.NOT_REPRODUCED)):
        study = Comparability("mine", {"pairs": "real"}, translator)
        for row in evaluate(claims["michel-translation-base"], found, study):
            assert (row["verdict"], row["source"]) == (verdict, "memory")


@pytest.mark.parametrize(("baseline", "comparable"), [(9.9, False), (10.1, True)])
def test_a_model_that_hardly_translates_is_not_judged(
    baseline: float, comparable: bool, tmp_path: Path
) -> None:
    curves = [row | {"baseline": baseline} for row in curve("all", {0.0: 1.0, 0.2: 0.9})]
    for row in curves:
        row["score"] = baseline * row["kept"]
    found = products(tmp_path, translation__1_of_curves=curves)
    measures = {measure.__name__: measure for measure in translation.MEASURES}
    (kept,) = measures["kept_bleu"](found, "20 all")
    assert kept.value == pytest.approx(90)
    assert (kept.not_comparable == "") is comparable
    (base,) = measures["base_bleu"](found, "")
    assert base.not_comparable == ""
