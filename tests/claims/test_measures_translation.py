"""Measures of claims about translators, on small tables by hand."""

import math
from pathlib import Path

import pytest

from tests.claims.made_up import products
from workflow_scripts.claims import pruned_translators, translation, translators, verdicts
from workflow_scripts.claims.claim_verdicts import MEASURES, Comparability, evaluate
from workflow_scripts.claims.products import NotMeasured, Products
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
    # On the test set another head is better than the one chosen on the validation set.
    for kind, layer, lost in (("encoder", 0, 0.2), ("encoder-decoder", 0, 0.9)):
        scores += left(kind, layer, 0, -1, -lost) + left(kind, layer, 1, -2, 0)
    scores += left("encoder-decoder", 1, 0, -9, -8) + left("encoder-decoder", 1, 1, -10, -5)
    kept = {"all": 1.0, "encoder": 0.9, "encoder-decoder": 0.2, "decoder": 0.7}
    curves = [
        row
        for scope, part in kept.items()
        for row in curve(scope, {0.0: 1.0, 0.2: 0.98, 0.7: part, 0.8: part - 0.1})
    ]
    curves += curve("all", {0.0: 1.0, 0.4: 0.5, 0.8: 0.5}, strategy="score")
    curves += curve("all", {0.0: 7.0}, metric="loss")
    gap = {"run": "1", "split": "test", "type": "encoder-decoder", "n": 50}
    types = [
        gap
        | {"measure": measure, "other": other, "value": value}
        | {"ci_low": value - 1, "ci_high": value + 1}
        for measure, values in (
            ("best head left", (-5.0, -4.0, -0.5)),
            ("best head left, but the last layer", (-0.5, 0.2, -2.0)),
        )
        for other, value in zip(("", "encoder", "decoder"), values, strict=True)
    ]
    types += [types[1] | change for change in ({"split": "web"}, {"type": "decoder"})]
    types.append(types[1] | {"measure": "one head"})
    return products(
        tmp_path,
        translation__1_of_scores=scores,
        translation__1_of_curves=curves,
        translation__2_of_curves=curve("all", {0.0: 1.0, 0.25: 0.5}, run="2"),
        translation__1_of_types=types,
        translation__1_of_training=[
            row
            for epoch, part in ((1, 0.6), (2, 0.3), (4, 0.5), (16, 0.88))
            for row in curve("all", {0.0: 1.0, 0.4: part}, epoch=epoch)
        ]
        + curve("all", {0.4: 0.9}, epoch=2, metric="loss"),
        michel2019_translation_pairs=[
            {"run": 1, "kind": "splits", "mode": "zero", "metric": "bleu", "type": kind, "n": 12}
            | {"one": one, "other": other, "pearson": 0.6}
            | {"pearson_low": 0.4, "pearson_high": 0.7}
            for kind in ("all", "Enc-Dec")
            for one, other in (("validation", "test"), ("validation", "web"), ("test", "web"))
        ]
        + [
            {"run": 1, "kind": "halves", "mode": "zero", "metric": "bleu", "type": "all", "n": 12}
            | {"one": one, "other": "other half", "pearson": halves}
            for one, halves in (("validation", 0.9), ("test", 0.6), ("web", 0.5))
        ],
    )


def test_the_intact_translator(found: Products) -> None:
    one, two = translators.base_bleu(found, "")
    assert (one.case, *ends(one), one.n) == ("seed 1", 30, 29, 31, 50)
    assert two.case == "seed 2"


def test_pruning(found: Products) -> None:
    one, two = pruned_translators.kept_bleu(found, "20 all")
    assert ends(one) == pytest.approx((98, 96, 101))
    assert two.value == 50  # at 25%, the nearest
    encoder, decoder = pruned_translators.kept_bleu(found, "80 encoder decoder")
    assert (encoder.case, encoder.value) == ("seed 1, Enc-Enc", pytest.approx(80))
    assert decoder.about == "80% of 10 heads, BLEU 18.0 of 30.0"
    over_encoder, over_decoder = pruned_translators.kept_gap(found, "70")
    half = math.hypot(2, 3)  # each share lies 2 above its lower end and 3 below its upper one
    assert ends(over_encoder) == pytest.approx((20 - 90, -70 - half, -70 + half))
    assert over_decoder.case == "seed 1, Enc-Dec minus Dec-Dec"
    assert over_decoder.about == "20.0% and 70.0%"
    assert over_decoder.interval == "95% as if the two were independent"


def test_orders_compared_by_their_area(found: Products, tmp_path: Path) -> None:
    """Of the run that has both orders, by trapezoids over the shares that were measured.

    An order that does not beat random ones, of which the mean counts, is noise.
    """
    (gap,) = pruned_translators.kept_area(found, "importance over score")
    ours = (0.2 * (100 + 98) / 2 + 0.5 * (98 + 100) / 2 + 0.1 * (100 + 90) / 2) / 0.8
    other = (0.4 * (100 + 50) / 2 + 0.4 * 50) / 0.8
    half = math.hypot(2, 3)
    assert ends(gap) == pytest.approx((ours - other, ours - other - half, ours - other + half))
    assert (gap.case, gap.about) == ("seed 1", "98.5% and 62.5%")
    assert gap.not_comparable == ""
    for worse, comparable in ((0.1, True), (0.5, False)):
        rows = curve("all", {0.0: 1.0, 0.8: 1.0}) + curve(
            "all", {0.0: 0.5, 0.8: 0.5}, strategy="score"
        )
        for draw, part in enumerate((worse - 0.05, worse + 0.05)):
            rows += curve("all", {0.0: part, 0.8: part}, strategy="random", draw=draw)
        found = products(tmp_path, translation__1_of_curves=rows)
        (gap,) = pruned_translators.kept_area(found, "importance over score")
        assert gap.about == f"100.0% and 50.0%; a random order: {100 * worse:.1f}%"
        assert (gap.not_comparable == "") == comparable


def test_pruning_during_training(found: Products, tmp_path: Path) -> None:
    (late,) = pruned_translators.kept_in_training(found, "40 10-")
    assert (late.case, late.value) == ("seed 1, epoch 16", 88)
    with pytest.raises(NotMeasured, match="measured epoch of 20-"):
        pruned_translators.kept_in_training(found, "40 20-")
    rows = curve("all", {0.0: 1.0, 0.4: 0.5}, epoch=1, baseline=0.9)
    bare = products(tmp_path, translation__3_of_training=rows)
    for measure, of in (("kept_in_training", "40 1-2"), ("above_proportion", "1-2")):
        (nothing,) = getattr(pruned_translators, measure)(bare, of)
        assert nothing.not_comparable == "with 0.9 BLEU before pruning there is nothing to lose"


def test_pruning_next_to_a_straight_line(found: Products, tmp_path: Path) -> None:
    """By hand: of the curves up to 40%, and of those that the rule's tolerance comes from."""
    first, second = pruned_translators.above_proportion(found, "1-2")
    # The curve falls from 100 to 60 as the line does; its points lie 2 above their lower ends.
    assert (first.case, *ends(first)) == ("seed 1, epoch 1", *map(pytest.approx, (0, -2, 3)))
    assert (second.value, second.not_comparable) == (pytest.approx(65 - 80), "")
    assert first.about == "80.0% of 30.0 BLEU, mean over shares up to 40%"
    assert first.interval == "at least 95% over sentences"
    rows = curve("all", {0.0: 1.0, 0.4: 0.875, 1.0: 0.0}, epoch=2)
    late = products(tmp_path, translation__3_of_training=rows)
    (number,) = pruned_translators.above_proportion(late, "1-2")
    # The triangle over the line is 27.5 high at 40%, and half of that on average.
    assert number.value == pytest.approx(27.5 / 2)
    (claim,) = (one for one in read(BUILTIN, MEASURES) if one.id == "michel-translation-early")
    assert claim.to == pytest.approx(number.value / 2, abs=0.05)


def test_types_of_attention(found: Products) -> None:
    """With and without the last layer."""
    encoder, decoder = translation.type_gap(found, "best head left")
    assert (encoder.case, *ends(encoder)) == ("seed 1, Enc-Dec minus Enc-Enc", -4, -5, -3)
    assert (decoder.value, decoder.about) == (-0.5, "Enc-Dec: -5.00")
    encoder, decoder = translation.type_gap(found, "best head left, but the last layer")
    assert encoder.case == "seed 1, Enc-Dec minus Enc-Enc"
    assert (encoder.value, decoder.value, decoder.about) == (0.2, -2, "Enc-Dec: -0.50")


def test_one_head_left(found: Products) -> None:
    (last,) = translation.one_head_left(found, "last validation")
    assert (*ends(last), last.about) == (-8, -8.5, -7.5, "Enc-Dec 2-1")
    (best,) = translation.one_head_left(found, "last test")
    assert (best.value, best.about) == (-5, "Enc-Dec 2-2")
    (others,) = translation.one_head_left(found, "others validation")
    assert (others.value, others.about) == (-0.9, "Enc-Dec 1-1")
    (others,) = translation.one_head_left(found, "others test")
    assert others.value == 0


def test_layers_of_one_head(tmp_path: Path) -> None:
    """A significant loss counts, and a small one that may be large is no surely small one."""
    scores = []
    for layer, (value, p, low) in enumerate(
        ((-0.1, 0.2, -0.3), (-0.2, 0.2, -0.9), (-0.3, 0.001, -0.4), (0.9, 0.001, 0.5))
    ):
        row = effect("encoder", layer, 0, value, unit="all-but-one", p_paper=p, ci_low=low)
        scores += [row, row | {"split": "validation", "effect": 0.0}]
    found = products(tmp_path, translation__1_of_scores=scores)
    for chosen_on in ("validation", "test"):
        (enough,) = translation.translator_layers_of_one_head(found, f"{chosen_on} 0.01 0.5")
        assert (ends(enough), enough.n) == ((75, 50, 75), 4)
        assert (enough.of, enough.interval) == ("layers", "bounds of the count")


def test_heads_masked_alone(found: Products) -> None:
    (free,) = translation.translator_heads_without_loss(found, "encoder 0.01 0.5")
    # One of two of either type loses significantly; the other surely loses nothing, or perhaps 3.5.
    assert (ends(free), free.n) == ((50, 50, 50), 2)
    (decoder,) = translation.translator_heads_without_loss(found, "decoder 0.01 0.5")
    assert (ends(decoder), decoder.n) == ((50, 0, 50), 2)
    assert free.about == "1 with a loss at a corrected p below 0.05"
    (significant,) = translation.significant_heads(found, "encoder 0.01")
    assert (significant.value, significant.n, significant.interval) == (100, 2, "95% over heads")
    (better,) = translation.better_heads(found, "encoder 0.01")
    assert (better.value, better.n) == (50, 2)
    assert better.low == pytest.approx(9.45, abs=0.01)  # Wilson's, of 1 of 2


def test_agreement_with_another_domain_alone(found: Products, tmp_path: Path) -> None:
    """Two sets of one corpus do not count, nor does the set that chooses heads."""
    (agreement,) = translation.translator_agreement(found, "0.56")
    assert (agreement.case, *ends(agreement)) == ("seed 1, test and web", 0.6, 0.4, 0.7)
    assert (agreement.run, agreement.interval) == ("1", "95% over heads")
    assert agreement.about == "halves of test: 0.60, of web: 0.50"
    assert agreement.not_comparable == ""
    (noisy,) = translation.translator_agreement(found, "0.71")
    assert noisy.not_comparable.startswith("too noisy: by their halves the sets can correlate")
    pair = {"run": 1, "kind": "splits", "mode": "zero", "metric": "bleu", "type": "all"}
    bare = products(
        tmp_path, michel2019_translation_pairs=[pair | {"one": "validation", "other": "test"}]
    )
    with pytest.raises(NotMeasured, match="no test set of another domain"):
        translation.translator_agreement(bare, "0.56")


def test_no_claim_about_translators_is_judged_on_generated_pairs(found: Products) -> None:
    study, judged = Comparability("mine", {"pairs": "generated"}), set()
    for claim in read(BUILTIN, MEASURES):
        if claim.id.startswith("michel-translation-"):
            for row in evaluate(claim, found, study):
                judged.add(row["verdict"])
                assert row["because"] == "generated pairs", claim.id
    assert judged == {verdicts.NOT_COMPARABLE}


def test_a_number_of_the_papers_translator(found: Products) -> None:
    claims = {claim.id: claim for claim in read(BUILTIN, MEASURES)}
    for translator, verdict in ((False, verdicts.NOT_COMPARABLE), (True, verdicts.NOT_REPRODUCED)):
        study = Comparability("mine", {"pairs": "real"}, translator)
        for row in evaluate(claims["michel-translation-base"], found, study):
            assert (row["verdict"], row["source"]) == (verdict, "summaries")


@pytest.mark.parametrize(("baseline", "comparable"), [(9.9, False), (10.1, True)])
def test_a_model_that_hardly_translates_is_not_judged(
    baseline: float, comparable: bool, tmp_path: Path
) -> None:
    curves = [row | {"baseline": baseline} for row in curve("all", {0.0: 1.0, 0.2: 0.9})]
    for row in curves:
        row["score"] = baseline * row["kept"]
    found = products(tmp_path, translation__1_of_curves=curves)
    measures = {measure.__name__: measure for measure in pruned_translators.MEASURES}
    (kept,) = measures["kept_bleu"](found, "20 all")
    assert kept.value == pytest.approx(90)
    assert (kept.not_comparable == "") is comparable
    (base,) = measures["base_bleu"](found, "")
    assert base.not_comparable == ""
