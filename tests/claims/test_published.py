"""The file of claims is read strictly, and the file that comes with the workflow is right."""

import csv
import re
from pathlib import Path

import pytest

from tests.parsed_rules import parsed_rules
from workflow_scripts.arguments import paper as niven2019
from workflow_scripts.checkpoints import kovaleva2019_table1
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import COLUMNS, LINKS, Claim, read
from workflow_scripts.core.run.errors import InputError
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
        writer = csv.DictWriter(file, columns, lineterminator="\n")
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
    ("change", "error"),
    [
        ({"kind": "fact"}, ":2: kind 'fact'; use one of value, statement"),
        ({"rule": "over"}, ":2: rule 'over'; use one of above, below, within, between"),
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
    assert {claim.measure for claim in builtin.values()} == set(MEASURES)


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
                "michel-significant",  # 8 of 96
                "michel-translation-significant",  # 8 of 96
            ), claim.id


def test_printed_tables_show_the_same_published_numbers(builtin: dict[str, Claim]) -> None:
    for relation, row in clark2019_table1.PAPER.items():
        assert builtin[f"clark-table1-{relation}"].value == row.accuracy
    for probe, score in clark2019_table3.PAPER.items():
        assert builtin[f"clark-table3-{probe}"].value == score
    for (task, metric), numbers in kovaleva2019_table1.PAPER.items():
        for weights, number in zip(("random", "pretrained"), numbers[1:], strict=True):
            name = f"kovaleva-table1-{task.lower()}-{metric}-{weights}"
            assert builtin[name].value == number
    families = {"BERT (Large)": "bert", "BoV": "bov", "BiLSTM": "bilstm"}
    for (system, setup), numbers in niven2019.TABLE3.items():
        if system in families:
            name = f"niven-table3-{families[system]}-{setup.lower()}"
            assert builtin[name].value == numbers[0]
    assert builtin["niven-table1-base"].value == niven2019.TABLE1["BERT (Base)"][0]
    for (_, setup), numbers in niven2019.TABLE4.items():
        assert builtin[f"niven-table4-{setup.lower()}"].value == numbers[0]
    names = {"nearest": "nearest", "head_match": "head", "rules": "four", "words": "best"}
    for system, name in names.items():
        for kind, accuracy in clark2019_table2.PAPER[system].items():
            of_the_head = (name, kind) == ("best", "all")
            id_ = "clark-antecedents" if of_the_head else f"clark-table2-{name}-{kind}"
            assert builtin[id_].value == accuracy


def test_a_file_may_name_what_shows_a_claim(tmp_path: Path) -> None:
    links = {"shown": "clark2019-fig2", "view": "measure=attention.sep"}
    (claim,) = read(write(tmp_path, ROW | links, columns=COLUMNS + LINKS), MEASURES)
    assert (claim.shown, claim.view) == tuple(links.values())
    (claim,) = read(write(tmp_path, ROW), MEASURES)
    assert (claim.shown, claim.view) == ("", "")
    sourced = ROW | links | {"source": "memory"}
    (claim,) = read(write(tmp_path, sourced, columns=(*COLUMNS, *LINKS, "source")), MEASURES)
    assert claim.source == "memory"
    wrong = sourced | {"source": "dream"}
    with pytest.raises(InputError, match=":2: source 'dream'; use one of , slides, memory"):
        read(write(tmp_path, wrong, columns=(*COLUMNS, *LINKS, "source")), MEASURES)
    with pytest.raises(InputError, match="shown and view may follow"):
        read(write(tmp_path, ROW | {"shown": ""}, columns=(*COLUMNS, "shown")), MEASURES)


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
