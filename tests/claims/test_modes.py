"""What is stated about modes of disabling: each measure by hand, and results that fail its rule."""

from pathlib import Path

import pytest

from tests.claims.made_up import Row, products
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.published import read
from workflow_scripts.claims.verdicts import rule_met

ROOT = Path(__file__).parents[2]
FILES = [ROOT / f"claims/{name}.csv" for name in ("published", "decoders")]
CLAIMS = {claim.id: claim for path in FILES for claim in read(path, MEASURES)}


def pair(one: str, other: str, rho: float, opposite: int, **more: object) -> Row:
    row = {"task": "mrpc", "seed": 1, "of": "loss", "one": one, "other": other, "n_heads": 12}
    row |= {"rho": rho, "rho_low": rho - 0.1, "rho_high": rho + 0.1, "n": 50, "n_documents": 20}
    row |= {"halves_one": 1.0, "halves_other": 1.0}
    row |= {"opposite_nominal": opposite, "both_nominal": 100}
    return row | more


def head(verdict: str, low: float, **more: object) -> Row:
    row = {"task": "mrpc", "seed": 1, "of": "loss", "layer": 0, "head": 0, "verdict": verdict}
    row |= {"low_zero": 0.1, "high_zero": 0.2, "low_uniform": low, "high_uniform": 0.2}
    return row | more


def numbers(found) -> tuple[float, float, float]:
    (number,) = found
    return tuple(pytest.approx(value) for value in (number.value, number.low, number.high))


def encoder(folder: Path, pairs: list[Row], heads: list[Row]) -> Products:
    return products(folder, ablation_modes=pairs, ablation_mode_heads=heads)


def test_pairs_are_found_in_either_order_and_on_the_loss_alone(tmp_path: Path) -> None:
    rows = [pair("zero", "uniform", 0.3, 20), pair("zero", "resample", 0.7, 5)]
    rows.append(pair("uniform", "zero", 0.9, 0, of="score"))
    found = encoder(tmp_path, rows, [])
    assert numbers(MEASURES["modes_rank"](found, "uniform zero")) == (0.3, 0.2, 0.4)
    # Wilson's ends of 5 of 100: (p + z^2 / 2n -+ z sqrt(pq / n + z^2 / 4n^2)) / (1 + z^2 / n).
    (number,) = MEASURES["modes_opposite"](found, "resample zero")
    ends = number.value, number.low, number.high
    assert ends == (5, pytest.approx(2.1543, abs=1e-3), pytest.approx(11.1751, abs=1e-3))
    assert (number.n, number.of) == (100, "heads")
    with pytest.raises(NotMeasured, match="does not disable heads in both modes zero and mean"):
        MEASURES["modes_rank"](found, "zero mean")


def test_of_seeds_the_mean_and_of_a_decoder_its_documents(tmp_path: Path) -> None:
    rows = [pair("zero", "resample", rho, 10, seed=seed) for seed, rho in ((1, 0.2), (2, 0.4))]
    assert numbers(MEASURES["modes_rank"](encoder(tmp_path, rows, []), "zero resample")) == (
        0.3,
        0.2,
        0.4,
    )
    text = [pair("zero", "resample", 0.6, 10, task="text", seed=0)]
    (number,) = MEASURES["modes_rank"](
        products(tmp_path / "decoder", next_token_modes=text), "zero resample"
    )
    assert (number.n, number.of, number.task) == (20, "documents", "")


def test_the_upper_end_is_without_noise(tmp_path: Path) -> None:
    """Halves that correlate by 1/3 are of effects whose reliability is 1/2."""
    noise = {"halves_one": 1 / 3, "halves_other": 1.0}
    found = encoder(tmp_path, [pair("uniform", "zero", 0.3, 0, **noise)], [])
    assert numbers(MEASURES["modes_rank"](found, "uniform zero")) == (0.3, 0.2, 0.4 * 2**0.5)
    nothing = [pair("uniform", "zero", 0.3, 0, halves_one=-0.2)]
    found = encoder(tmp_path / "nothing", nothing, [])
    assert numbers(MEASURES["modes_rank"](found, "uniform zero")) == (0.3, 0.2, 1)
    below = [pair("uniform", "zero", -0.3, 0, **noise)]
    found = encoder(tmp_path / "below", below, [])
    assert numbers(MEASURES["modes_rank"](found, "uniform zero")) == (-0.3, -0.4, -0.2)


def test_signs_of_heads_without_an_effect_are_not_counted(tmp_path: Path) -> None:
    found = encoder(tmp_path, [pair("uniform", "zero", 0.3, 0, both_nominal=0)], [])
    with pytest.raises(NotMeasured, match="no head has p below"):
        MEASURES["modes_opposite"](found, "uniform zero")


def test_verdicts_count_among_heads_with_an_effect(tmp_path: Path) -> None:
    rows = [head("in all modes", 0.05), head("in all modes", -0.05)]
    rows += [head("in some modes", -0.1), head("depends on the mode", -0.1)]
    rows += [head("no effect shown", -0.1)] * 5 + [head("in all modes", 0.1, of="score")]
    found = MEASURES["modes_verdict"](encoder(tmp_path, [], rows), "loss")
    assert numbers(found) == (50, 25, 75)
    with pytest.raises(NotMeasured, match="no head has an effect"):
        MEASURES["modes_verdict"](encoder(tmp_path / "none", [], rows[4:9]), "loss")


@pytest.mark.parametrize(
    ("id_", "met", "failed"),
    [
        ("rank", 0.7, 0.3),
        ("resample", 0.7, 0.3),
        ("opposite", 2, 30),
        ("opposite-uniform", 2, 30),
        ("verdict", 1, 0),
    ],
)
def test_a_rule_is_met_and_can_fail(id_: str, met: float, failed: float, tmp_path: Path) -> None:
    claim = CLAIMS[f"michel-modes-{id_}"]
    verdicts = []
    for folder, value in (("met", met), ("failed", failed)):
        modes = claim.of.split() if id_ != "verdict" else ("zero", "resample")
        verdict = ("depends on the mode", "in all modes")[int(value == 1)]
        rows = [head(verdict, 0.05)] * 20
        pairs = [pair(*modes, value, value if "opposite" in id_ else 0)]
        (number,) = MEASURES[claim.measure](encoder(tmp_path / folder, pairs, rows), claim.of)
        verdicts.append(rule_met(claim, number))
    assert verdicts == ["yes", "no"]
