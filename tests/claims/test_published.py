"""The file of claims is read strictly, and the file that comes with the workflow is right."""

import csv
import re
from datetime import date
from pathlib import Path

import pytest

from tests.parsed_rules import parsed_rules
from workflow_scripts.arguments import niven2019_tables as niven2019
from workflow_scripts.arguments.setups import SETUPS
from workflow_scripts.checkpoints import kovaleva2019_table1
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import COLUMNS, Claim, read
from workflow_scripts.core.errors import InputError
from workflow_scripts.coreference import clark2019_table2
from workflow_scripts.probes import clark2019_table3
from workflow_scripts.syntax import clark2019_table1

BUILTIN = Path(__file__).parents[2] / "claims/published.csv"
ROW = {
    "id": "one",
    "paper": "A",
    "place": "Table 1",
    "statement": "More, or less.",
    "kind": "statement",
    "model": "",
    "data": "",
    "unit": "%",
    "rule": "above",
    "value": "50",
    "to": "",
    "reference": "",
    "needs": "trees task",
    "measure": "relation",
    "of": "dobj",
    "later": "",
}


def write(folder: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    path = folder / "claims.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_claim_is_read(tmp_path: Path) -> None:
    (claim,) = read(write(tmp_path, ROW), MEASURES)
    assert claim.value == 50
    assert claim.reference is None
    assert claim.needs == ("trees", "task")
    assert claim.in_words() == "above 50 %"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"rule": "within", "value": "34.6", "to": "3"}, "within 3 of 34.6 %"),
        ({"rule": "within", "value": "4", "to": "0", "unit": "heads"}, "4 heads"),
        ({"rule": "between", "value": "32", "to": "61"}, "from 32 to 61 %"),
        ({"rule": "not below", "value": "0.5", "to": "0.1"}, "not below 0.5 % (margin 0.1)"),
        ({"rule": "below", "value": "-2", "unit": ""}, "below -2"),
    ],
)
def test_a_rule_in_words(tmp_path: Path, rule: dict[str, str], words: str) -> None:
    """A number within a distance is not one from here to there: an interval may reach farther."""
    (claim,) = read(write(tmp_path, ROW | rule), MEASURES)
    assert claim.in_words() == words


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"kind": "fact"}, ":2: kind 'fact'; use one of value, statement"),
        ({"rule": "over"}, ":2: rule 'over'; use one of above, below, not below, within, between"),
        ({"measure": "wish"}, ":2: measure 'wish'; use one of "),
        ({"needs": "luck"}, r":2: needs \['luck'\]; use some of text"),
        ({"value": "half"}, ":2: value 'half' is no number"),
        ({"value": ""}, ":2: value is empty"),
        ({"rule": "within"}, ":2: the rule within needs a number under `to`"),
    ],
)
def test_a_malformed_claim(tmp_path: Path, change: dict[str, str], error: str) -> None:
    with pytest.raises(InputError, match=error):
        read(write(tmp_path, ROW | change), MEASURES)


def test_an_id_that_comes_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":3: the id 'one' comes twice"):
        read(write(tmp_path, ROW, ROW), MEASURES)


def test_a_missing_column_and_a_short_row(tmp_path: Path) -> None:
    without = {name: value for name, value in ROW.items() if name != "later"}
    with pytest.raises(InputError, match=":1: the columns must be id, paper"):
        read(write(tmp_path, without, columns=COLUMNS[:-1]), MEASURES)
    path = write(tmp_path, ROW)
    path.write_text(path.read_text(encoding="utf-8") + "two,B\n", encoding="utf-8")
    with pytest.raises(InputError, match=":3: needs 16 cells"):
        read(path, MEASURES)


@pytest.fixture(scope="module")
def builtin() -> dict[str, Claim]:
    return {claim.id: claim for claim in read(BUILTIN, MEASURES)}


def test_every_measure_serves_a_claim(builtin: dict[str, Claim]) -> None:
    of_decoders = read(BUILTIN.with_name("decoders.csv"), MEASURES)
    assert {claim.measure for claim in [*builtin.values(), *of_decoders]} == set(MEASURES)


def test_the_numbers_of_a_claim_are_in_its_statement(builtin: dict[str, Claim]) -> None:
    """A value is the number in the statement, as a digit or, up to nine, as a word."""
    words = "zero one two three four five six seven eight nine".split()
    shown = {word: str(number) for number, word in enumerate(words)}
    for claim in builtin.values():
        if claim.kind == "value" and claim.unit != "% of runs":
            text = claim.statement.lower()
            numbers = {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)}
            numbers |= {float(shown[word]) for word in re.findall(r"[a-z]+", text) if word in shown}
            assert any(abs(claim.value - n) < 1e-9 for n in numbers) or claim.id in (
                "michel-translation-significant",  # 8 of 96
            ), claim.id


def test_printed_tables_show_the_same_published_numbers(builtin: dict[str, Claim]) -> None:
    for relation, row in clark2019_table1.PAPER.items():
        assert builtin[f"clark-table1-{relation}"].value == row.accuracy
    for probe, score in clark2019_table3.PAPER.items():
        assert builtin[f"clark-table3-{probe}"].value == score
    for (task, metric), numbers in kovaleva2019_table1.PAPER.items():
        for weights, number in zip(("untuned", "random", "pretrained"), numbers, strict=True):
            name = f"kovaleva-table1-{task.lower()}-{metric}-{weights}"
            assert builtin[name].value == number
    families = {"BERT (Large)": "bert", "BoV": "bov", "BiLSTM": "bilstm"}
    for (system, setup), numbers in niven2019.TABLE3.items():
        if system in families:
            name = f"niven-table3-{families[system]}-{setup.lower()}"
            assert builtin[name].value == numbers[0]
    assert builtin["niven-table1-base"].value == niven2019.TABLE1["BERT (Base)"][0]
    for (_, setup), numbers in niven2019.TABLE4.items():
        if setup in ("full", "CW"):  # the others are right on exactly half by construction
            assert builtin[f"niven-table4-{setup.lower()}"].value == numbers[0]
    large = {setup: niven2019.TABLE3["BERT (Large)", setup] for setup in SETUPS}
    for setup, (_, _, _, peak) in large.items():
        assert builtin[f"niven-peak-bert-{setup.lower()}"].value == peak
    for setup in ("full", "W"):
        assert builtin[f"niven-median-bert-{setup.lower()}"].value == large[setup][2]
    assert builtin["niven-learnt-bert"].value == niven2019.OTHERS["BERT (Large)", "full"][0]
    assert builtin["niven-adversarial-peak"].value == niven2019.TABLE4["BERT (Large)", "full"][3]
    gap = large["full"][3] - large["W"][3]
    assert builtin["niven-peak-gap"].printed == pytest.approx(gap)
    gains = sum(large[setup][3] - large["W"][3] for setup in ("RW", "CW"))
    explained = large["W"][3] + gains - large["full"][3]
    assert builtin["niven-not-explains"].printed == pytest.approx(explained)
    systems = {"large": "BERT (Large)", "base": "BERT (Base)", "bov": "BoV", "bilstm": "BiLSTM"}
    for name, system in systems.items():
        assert builtin[f"niven-dev-{name}"].value == niven2019.DEV1[system][0]
    names = {"nearest": "nearest", "head_match": "head", "rules": "four", "words": "best"}
    for system, name in names.items():
        for kind, accuracy in clark2019_table2.PAPER[system].items():
            of_the_head = (name, kind) == ("best", "all")
            id_ = "clark-antecedents" if of_the_head else f"clark-table2-{name}-{kind}"
            assert builtin[id_].value == accuracy


def test_a_file_may_have_more_columns(tmp_path: Path) -> None:
    links = {"shown": "clark2019-fig2", "view": "measure=attention.sep"}
    (claim,) = read(write(tmp_path, ROW | links, columns=(*COLUMNS, *links)), MEASURES)
    assert (claim.shown, claim.view) == tuple(links.values())
    (claim,) = read(write(tmp_path, ROW), MEASURES)
    assert (claim.shown, claim.view, claim.paper_value) == ("", "", None)
    of_paper = {"source": "memory", "paper_value": "61", "paper_n": "70", "paper_interval": "share"}
    (claim,) = read(write(tmp_path, ROW | of_paper, columns=(*COLUMNS, *of_paper)), MEASURES)
    assert (claim.source, claim.printed, claim.paper_n) == ("memory", 61, 70)
    half = of_paper | {"paper_interval": "0.7"}
    (claim,) = read(write(tmp_path, ROW | half, columns=(*COLUMNS, *half)), MEASURES)
    assert claim.paper_half_width == 0.7
    for wrong, error in (
        ({"source": "dream"}, ":2: source 'dream'; use one of , slides, summaries, memory"),
        ({"paper_n": ""}, ":2: an interval of the paper's number needs paper_n"),
        ({"paper_interval": "wide"}, ":2: paper_interval 'wide'; use one of , share"),
        ({"paper_interval": "-1"}, ":2: paper_interval '-1'; use one of .*, or a number"),
        ({"paper_interval": "nan"}, ":2: paper_interval 'nan'; use one of .*, or a number"),
        ({"paper_value": "much"}, ":2: paper_value 'much' is no number"),
    ):
        with pytest.raises(InputError, match=error):
            read(write(tmp_path, ROW | of_paper | wrong, columns=(*COLUMNS, *of_paper)), MEASURES)
    for columns in ((*COLUMNS, "shown", "shown"), (*COLUMNS, "wish")):
        with pytest.raises(InputError, match="any of shown, view, source, since"):
            read(write(tmp_path, ROW | {"shown": "", "wish": ""}, columns=columns), MEASURES)


def test_every_builtin_rule_has_a_day(builtin: dict[str, Claim]) -> None:
    for claim in builtin.values():
        # `within` has held for an interval that covers the paper's value since the later day.
        first = date(2026, 11, 23 if claim.rule == "within" else 22)
        assert date.fromisoformat(claim.since) >= first, claim.id


def test_the_products_that_show_a_claim_are_made() -> None:
    outputs = [Path(path) for rule in parsed_rules().values() for path in rule.output]
    made = {path.stem for path in outputs if path.parent.name in ("figures", "tables")}
    claims = read(BUILTIN, MEASURES)
    assert all(claim.shown for claim in claims)
    assert {name for claim in claims for name in claim.shown.split()} <= made


def test_views_of_the_atlas_are_written_as_addresses() -> None:
    views = {claim.view for claim in read(BUILTIN, MEASURES) if claim.view}
    assert len(views) > 30
    grid, scatter = r"measure=[^&=]+", r"view=scatter&x=[^&=]+&y=[^&=]+"
    form = rf"(model=translation\.\{{run\}}&)?({grid}|{scatter})"
    assert [view for view in views if not re.fullmatch(form, view)] == []
