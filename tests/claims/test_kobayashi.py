"""What is stated about weights and norms: each measure by hand, and results that fail its rule."""

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


def share(head: int, target: str, value: float, half: float = 0.02) -> Row:
    ends = {"ci_low": value - half, "ci_high": value + half, "n": 300, "n_documents": 40}
    return {"layer": 0, "head": head, "target": target, "attention": value} | ends


def made(folder: Path, weights: list[Row], norms: list[Row]) -> Products:
    return products(folder, surface__special_tokens=weights, mixing__special_tokens=norms)


def relation(name: str, same: bool, surely: bool = False) -> Row:
    return {"relation": name, "same": same, "surely_another": surely, "n": 50}


def numbers(found) -> tuple[float, float, float]:
    (number,) = found
    return tuple(pytest.approx(value) for value in (number.value, number.low, number.high))


def test_the_difference_is_that_of_means_over_heads(tmp_path: Path) -> None:
    weights = [share(0, "cls", 0.6), share(1, "cls", 0.2), share(0, "sep", 0.9)]
    norms = [share(0, "cls", 0.1), share(1, "cls", 0.1)]
    found = MEASURES["special_by_norm"](made(tmp_path, weights, norms), "cls")
    assert numbers(found) == (-30, -34, -26)
    assert found[0].about == "10.0% by norm, 40.0% of the weight"


def test_heads_that_rest_on_a_special_token(tmp_path: Path) -> None:
    weights = [share(0, "cls", 0.6), share(1, "cls", 0.5), share(1, "sep", 0.8)]
    norms = [share(0, "cls", 0.2), share(1, "cls", 0.9), share(1, "sep", 0.4)]
    found = MEASURES["resting_by_norm"](made(tmp_path, weights, [*norms]), "cls sep")
    assert numbers(found) == (30, 28, 32)
    assert found[0].about == "2 heads: 1-1 1-2"


def test_without_such_heads_nothing_is_measured(tmp_path: Path) -> None:
    rows = [share(0, target, 0.5) for target in ("cls", "sep")]
    with pytest.raises(NotMeasured, match="more than half"):
        MEASURES["resting_by_norm"](made(tmp_path, rows, rows), "cls sep")


def test_relations_with_the_same_head(tmp_path: Path) -> None:
    rows = [relation("det", True), relation("obj", False), relation("nn", False, True)]
    rows += [relation("aux", True), relation("all", True)]
    found = MEASURES["same_parsers"](products(tmp_path, kobayashi2020_table1=rows), "all")
    assert numbers(found) == (50, 50, 75)
    assert (found[0].n, found[0].of, found[0].about) == (4, "relations", "another head: obj, nn")


def test_the_ratio_is_that_of_all_layers(tmp_path: Path) -> None:
    row = {"method": "norm", "layer": "all", "ratio": 20.0, "ci_low": 19.0, "ci_high": 22.0}
    rows = [row | {"n": 90}, row | {"layer": "1", "ratio": 70.0, "n": 90}]
    found = MEASURES["mixing_ratio"](products(tmp_path, kobayashi2021_mixing=rows), "norm")
    assert numbers(found) == (20, 19, 22)


def test_the_agreement_is_that_of_all_layers(tmp_path: Path) -> None:
    row = {"measure": "top_norms", "layer": "all", "value": 0.4, "ci_low": 0.3, "ci_high": 0.6}
    rows = [row | {"n": 50}, row | {"layer": "1", "value": 0.9, "n": 50}]
    rows += [row | {"measure": "top_weights", "value": 0.1, "n": 50}]
    study = products(tmp_path, mohebbi2023_zeroing=rows)
    assert numbers(MEASURES["zeroing_agreement"](study, "top_norms")) == (40, 30, 60)


OF_BLOCKS = {"mixing_ratio", "zeroing_agreement"}


def ids(measures: set[str]) -> list[str]:
    return [id_ for id_, claim in CLAIMS.items() if claim.measure in measures]


@pytest.mark.parametrize(
    "id_", ids({"special_by_norm", "resting_by_norm", "same_parsers"} | OF_BLOCKS)
)
def test_each_rule_holds_and_fails(id_: str, tmp_path: Path) -> None:
    claim, verdicts = CLAIMS[id_], {}
    for good in (True, False):
        targets = claim.of.split()
        weights = [share(0, target, 0.6) for target in targets]
        norms = [share(0, target, 0.1 if good else 0.9) for target in targets]
        table = [relation(name, good, not good) for name in ("det", "obj")]
        mixed = [{"method": claim.of, "layer": "all", "n": 90}]
        mixed[0] |= dict.fromkeys(("ratio", "ci_low", "ci_high"), 20.0 if good else 70.0)
        zeroed = [{"measure": claim.of, "layer": "all", "n": 50}]
        zeroed[0] |= dict.fromkeys(("value", "ci_low", "ci_high"), 0.2 if good else 0.7)
        study = products(
            tmp_path / str(good),
            surface__special_tokens=weights,
            mixing__special_tokens=norms,
            kobayashi2020_table1=table,
            kobayashi2021_mixing=mixed,
            mohebbi2023_zeroing=zeroed,
        )
        (number,) = MEASURES[claim.measure](study, claim.of)
        verdicts[good] = rule_met(claim, number)
    assert verdicts == {True: "yes", False: "no"}
