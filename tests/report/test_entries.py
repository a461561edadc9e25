"""What the report lists: words as labels, and toggles only where there are pairs."""

from collections.abc import Iterable

from tests.report.snakemake_report import toggles
from workflow_scripts.report.entries import Entries, Entry, heading, labels, titles_of_tasks

PLACE = {"caption": "c", "category": "A et al.", "subcategory": "1"}


def figure(name: str, title: str, **of: str) -> Entry:
    folder = f"results/s/{of['model']}" if "model" in of else "results/s"
    return Entry(f"{folder}/figures/{name}.svg", title, of=of, **PLACE)


def table(name: str, title: str, **of: str) -> Entry:
    folder = f"results/s/{of['model']}" if "model" in of else "results/s"
    return Entry(f"{folder}/tables/{name}.csv", title, of=of, **PLACE)


def toggled(entries: Iterable[Entry]) -> set[str]:
    """The labels of entries that Snakemake makes toggles of."""
    listed = Entries(entries)
    return toggles({entry.path: labels(entry, listed, {}, {}) for entry in listed})


def test_labels_are_words() -> None:
    entry = figure("a-maps.sst2", "maps of all heads", model="m", task="sst2")
    words = titles_of_tasks()
    assert labels(entry, Entries([entry]), words, {}) == {
        "result": "Maps of all heads",
        "task": "SST-2",
    }
    counted = Entry("x.counts.csv", "examples read", "c", "Texts", of={"counted": "arct.points"})
    assert heading(counted, words) == "ARCT: examples read"


def test_the_model_is_named_where_there_are_several() -> None:
    one, other = (figure("a-fig1", "Figure 1", model=model) for model in ("m", "n"))
    assert "model" not in labels(one, Entries([one]), {}, {})
    assert labels(one, Entries([one, other]), {}, {})["model"] == "m"
    assert toggled([one, other]) == {"model"}
    names = {"m": "m (4-bit)"}
    assert labels(one, Entries([one]), {}, names)["model"] == "m (4-bit)"


def test_a_figure_and_its_table_are_a_toggle() -> None:
    pair = [figure("a-cost", "cost", model="m"), table("a-cost", "cost", model="m")]
    assert [labels(entry, Entries(pair), {}, {})["shown as"] for entry in pair] == [
        "figure",
        "table",
    ]
    assert toggled(pair) == {"shown as"}


def test_what_is_no_pair_is_no_toggle() -> None:
    for title in ("another", "cost"):
        entries = [figure("a-cost", "cost", model="m"), table("a-other", title, model="n")]
        assert "shown as" not in labels(entries[0], Entries(entries), {}, {})
