"""The files of claims are read strictly, and those that come with the workflow are right."""

import csv
from datetime import date
from pathlib import Path

import pytest

from tests.claims.judged import CLAIMS
from tests.parsed_rules import parsed_rules
from workflow_scripts.arguments import niven2019_tables as niven2019
from workflow_scripts.arguments.wording import SETUPS
from workflow_scripts.checkpoints import kovaleva2019_table1
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import COLUMNS, read
from workflow_scripts.core.errors import InputError
from workflow_scripts.coreference import clark2019_table2
from workflow_scripts.probes import figures as probe_figures
from workflow_scripts.syntax import figures as syntax_figures

ROW = dict.fromkeys(COLUMNS, "") | {"id": "one", "paper": "A", "kind": "statement", "unit": "%"}
ROW |= {"rule": "above", "value": "50", "needs": "trees task", "measure": "relations_above"}
ROW |= {"least": "75", "margin": "1.5", "relation": "dobj det"}


def write(folder: Path, row: dict[str, str]) -> Path:
    path = folder / "claims.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    return path


def test_a_claim_is_read(tmp_path: Path) -> None:
    (claim,) = read(write(tmp_path, ROW), MEASURES)
    assert (claim.value, claim.reference, claim.needs) == (50, None, ("trees", "task"))
    assert claim.arguments == {"least": 75.0, "margin": 1.5, "relation": ["dobj", "det"]}
    assert (claim.shown, claim.view, claim.printed, claim.central) == ("", "", None, 1)
    of_paper = {"source": "memory", "paper_value": "61", "paper_n": "70", "paper_interval": "0.7"}
    (claim,) = read(write(tmp_path, ROW | of_paper), MEASURES)
    assert (claim.printed, claim.paper_n, claim.paper_interval) == (61, 70, "0.7")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "above 50 %"),
        ({"rule": "within", "value": "34.6", "to": "3"}, "within 3 of 34.6 %"),
        ({"rule": "within", "value": "4", "to": "0", "unit": "heads"}, "4 heads"),
        ({"rule": "between", "value": "32", "to": "61"}, "from 32 to 61 %"),
        ({"rule": "not below", "value": "0.5", "to": "0.1"}, "not below 0.5 % (margin 0.1)"),
    ],
)
def test_a_rule_in_words(tmp_path: Path, rule: dict[str, str], words: str) -> None:
    """A number within a distance is not one from here to there: an interval may reach farther."""
    (claim,) = read(write(tmp_path, ROW | rule), MEASURES)
    assert claim.in_words() == words


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"measure": "wish"}, ":2: measure 'wish'; use one of "),
        ({"needs": "luck"}, r":2: needs \['luck'\]; use some of text"),
        ({"value": "half"}, ":2: value 'half' is no number"),
        ({"margin": ""}, ":2: relations_above takes least, margin, relation, not least, relation"),
        ({"wish": ""}, ":1: the columns must be id, paper"),
        ({"paper_interval": "share"}, ":2: paper_n is empty"),
        ({"rule": "between", "value": "10", "to": "5"}, ":2: no number is from 10 to 5 %; correct"),
    ],
)
def test_a_malformed_claim(tmp_path: Path, change: dict[str, str], error: str) -> None:
    with pytest.raises(InputError, match=error):
        read(write(tmp_path, ROW | change), MEASURES)


def test_each_has_its_day_and_the_products_that_show_it() -> None:
    made = {Path(path).stem for rule in parsed_rules().values() for path in rule.output}
    for claim in CLAIMS.values():
        assert date.fromisoformat(claim.since)
        assert {*claim.shown.split()} <= made and claim.shown, claim.id


def test_each_paper_has_one_to_six_central_claims() -> None:
    ranks: dict[str, list[float]] = {}
    for claim in CLAIMS.values():
        found = ranks.setdefault(claim.paper, [])
        found += [] if claim.central is None else [claim.central]
    assert ranks.pop("This project") == []  # its hypotheses stand in no paper
    for paper, found in ranks.items():
        assert sorted(found) == list(range(1, len(found) + 1)) and 1 <= len(found) <= 6, paper


def test_printed_tables_show_the_same_published_numbers() -> None:
    shown = {f"clark-table1-{name}": row.accuracy for name, row in syntax_figures.PAPER.items()}
    shown |= {f"clark-table3-{probe}": score for probe, score in probe_figures.PAPER.items()}
    names = {"nearest": "nearest", "head_match": "head", "rules": "four", "words": "best"}
    for system, name in names.items():
        for kind, accuracy in clark2019_table2.PAPER[system].items():
            of_the_head = (name, kind) == ("best", "all")
            shown["clark-antecedents" if of_the_head else f"clark-table2-{name}-{kind}"] = accuracy
    for (task, metric), numbers in kovaleva2019_table1.PAPER.items():
        for weights, number in zip(("untuned", "random", "pretrained"), numbers, strict=True):
            shown[f"kovaleva-table1-{task.lower()}-{metric}-{weights}"] = number
    families = {"BERT (Large)": "bert", "BoV": "bov", "BiLSTM": "bilstm"}
    for (system, setup), numbers in niven2019.TABLE3.items():
        if system in families:
            shown[f"niven-table3-{families[system]}-{setup.lower()}"] = numbers[0]
    for (_, setup), numbers in niven2019.TABLE4.items():
        if setup in ("full", "CW"):  # the others are right on exactly half by construction
            shown[f"niven-table4-{setup.lower()}"] = numbers[0]
    large = {setup: niven2019.TABLE3["BERT (Large)", setup] for setup in SETUPS}
    shown |= {f"niven-peak-bert-{setup.lower()}": row[3] for setup, row in large.items()}
    shown |= {f"niven-median-bert-{setup.lower()}": large[setup][2] for setup in ("full", "W")}
    shown["niven-table1-base"] = niven2019.TABLE1["BERT (Base)"][0]
    shown["niven-learnt-bert"] = niven2019.OTHERS["BERT (Large)", "full"][0]
    shown["niven-adversarial-peak"] = niven2019.TABLE4["BERT (Large)", "full"][3]
    systems = {"large": "BERT (Large)", "base": "BERT (Base)", "bov": "BoV", "bilstm": "BiLSTM"}
    shown |= {f"niven-dev-{name}": niven2019.DEV1[system][0] for name, system in systems.items()}
    assert {id_: CLAIMS[id_].value for id_ in shown} == shown
    peaks = {setup: row[3] for setup, row in large.items()}
    gap = peaks["full"] - peaks["W"]
    assert CLAIMS["niven-peak-gap"].printed == pytest.approx(gap)
    explained = peaks["RW"] + peaks["CW"] - 2 * peaks["W"] - gap
    assert CLAIMS["niven-not-explains"].printed == pytest.approx(explained)
