"""FrameNet's files, and the filters of the paper's text and of its notebook."""

from pathlib import Path

import nltk
import pandas as pd
import pytest
from nltk.corpus.reader.framenet import FramenetCorpusReader

from workflow_scripts.core.data.annotations import read_examples, read_links
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import frame_files, frames_corpus

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<lexUnit status="Finished" POS="V" name="give.v" ID="7" frame="Giving" frameID="3" '
    'totalAnnotated="1" xmlns="http://framenet.icsi.berkeley.edu">\n<header><frame>'
    '<FE type="Core" name="Donor"/><FE type="Core" name="Recipient"/>'
    '<FE type="Core" name="Theme"/>'
    '<FE type="Peripheral" name="Time"/></frame></header>'
    '<lexeme order="1" headword="false" breakBefore="false" POS="V" name="give"/>'
    '<subCorpus name="all">'
)
TAIL = "</subCorpus></lexUnit>\n"


def sentence(number: int, text: str, targets: list[str], **elements: str) -> str:
    """A sentence of a lu file whose target and elements are pieces of its text."""

    def label(name: str, piece: str) -> str:
        start = text.index(piece)
        return f'<label start="{start}" end="{start + len(piece) - 1}" name="{name}"/>'

    target = "".join(label("Target", piece) for piece in targets)
    core = "".join(
        f'<label itype="DNI" name="{name}"/>' if piece == "-" else label(name, piece)
        for name, piece in elements.items()
    )
    return (
        f'<sentence sentNo="0" aPos="0" ID="{number}"><text>{text}</text>'
        '<annotationSet status="UNANN" ID="1"><layer rank="1" name="PENN">'
        f'<label start="0" end="1" name="X"/></layer></annotationSet>'
        f'<annotationSet status="MANUAL" ID="{number}9"><layer rank="1" name="Target">{target}'
        f'</layer><layer rank="1" name="FE">{core}</layer></annotationSet></sentence>'
    )


# Core are donor, recipient and theme; donor and recipient are a core set.
SENTENCES = [
    # Kept by the paper's filters: the donor is two tokens away, the theme too.
    sentence(1, "She had given him the key .", ["given"], Donor="She", Theme="the key"),
    # Kept by both: the second core element is not in the text.
    sentence(2, "Kings of old gave .", ["gave"], Donor="Kings", Theme="-"),
    sentence(3, "She gave the whole town up .", ["gave", "up"], Donor="She"),
    sentence(4, "a b c d e f g h i j k gave .", ["gave"], Donor="a"),
    sentence(5, "He was given then .", ["given"], Time="then"),
    # Left out by either, for its length or because the theme is in no core set.
    sentence(6, "He had given a very small key .", ["given"], Theme="a very small key"),
    sentence(7, "He gave .", ["gave"], Donor="He"),
    # One core element of two is a neighbour: the sentence goes.
    sentence(8, "He gave him the key .", ["gave"], Donor="He", Theme="the key"),
    # Only the released filters mind that an element that is not core is a neighbour, or long.
    sentence(9, "She had now given things away .", ["given"], Donor="She", Time="now"),
    sentence(10, "She had never given on a cold dark day .", ["given"], Donor="She",
             Time="on a cold dark day"),
    # The theme is core, but in no core set.
    sentence(11, "The key had then been given .", ["given"], Theme="The key"),
    # Kept by both: four and three tokens away.
    sentence(12, "To him she had then given it .", ["given"], Recipient="To him", Donor="she"),
]  # fmt: skip
COUNTS = {
    "paper": {
        "sentences annotated": 12,
        "several targets": 1,
        "more than 12 tokens": 1,
        "no core element": 1,
        "a core element of more than 3 tokens": 1,
        "less than 2 tokens apart": 2,
        "sentences": 6,
        "links": 8,
    },
    "released": {
        "sentences annotated": 12,
        "several targets": 1,
        "more than 12 tokens": 1,
        "no element of a core set": 3,
        "an element of more than 3 tokens": 1,
        "less than 3 tokens apart": 4,
        "sentences": 2,
        "links": 3,
    },
}


def framenet(folder: Path) -> Path:
    """A whole FrameNet of one frame and one lexical unit."""
    for name in ("lu", "frame"):
        (folder / name).mkdir(parents=True)
    (folder / "lu/lu7.xml").write_text(HEAD + "".join(SENTENCES) + TAIL, encoding="utf-8")
    space = 'xmlns="http://framenet.icsi.berkeley.edu"'
    (folder / "luIndex.xml").write_text(
        f'<luIndex {space}><lu hasAnnotation="true" frameID="3" frameName="Giving" '
        'status="Finished" name="give.v" ID="7"/></luIndex>',
        encoding="utf-8",
    )
    (folder / "frameIndex.xml").write_text(
        f'<frameIndex {space}><frame ID="3" name="Giving"/></frameIndex>', encoding="utf-8"
    )
    (folder / "frRelation.xml").write_text(f"<frameRelations {space}/>", encoding="utf-8")
    (folder / "semTypes.xml").write_text(f"<semTypes {space}/>", encoding="utf-8")
    (folder / "frame/Giving.xml").write_text(
        f'<frame ID="3" name="Giving" {space}><definition>to give</definition>'
        '<FE ID="1" name="Donor" coreType="Core" abbrev="D"><definition/></FE>'
        '<FE ID="2" name="Theme" coreType="Core" abbrev="T"><definition/></FE>'
        '<FE ID="3" name="Recipient" coreType="Core" abbrev="R"><definition/></FE>'
        '<FE ID="4" name="Time" coreType="Peripheral" abbrev="t"><definition/></FE>'
        '<FEcoreSet><memberFE ID="1" name="Donor"/><memberFE ID="3" name="Recipient"/></FEcoreSet>'
        '<lexUnit status="Finished" POS="V" name="give.v" ID="7"><definition/>'
        "<sentenceCount annotated='1' total='1'/><lexeme order='1' headword='false' "
        "breakBefore='false' POS='V' name='give'/></lexUnit></frame>",
        encoding="utf-8",
    )
    return folder


def run(folder: Path, source: dict, filters: str = "paper") -> tuple[list, list, dict[str, int]]:
    paths = {name: folder / name for name in ("sentences", "annotation", "counts")}
    frames_corpus.main(**paths, source=source, name="fn", filters=filters, seed=1)
    counts = pd.read_csv(paths["counts"])
    return (
        read_examples(paths["sentences"]),
        read_links(paths["annotation"]),
        dict(zip(counts["what"], counts["n"], strict=True)),
    )


def test_each_filter_counts_what_it_leaves_out(tmp_path: Path) -> None:
    examples, links, counts = run(tmp_path, {"path": str(framenet(tmp_path / "fn"))})
    assert counts == COUNTS["paper"]
    assert [item.id for item in examples[:2]] == ["fn-00000", "fn-00001"]
    assert {item.document for item in examples} == {"lu7"}
    assert links[0].frame == "Giving"
    assert [links[0].words[k] for k in links[0].target] == ["given"]
    assert {item.name: item.words for item in links[0].elements} == {"Donor": (0,), "Theme": (4, 5)}
    assert [item.name for item in links[1].elements] == ["Donor"]
    assert [len(item.others) for item in links] == [0, 0, 1, 1, 0, 0]
    start, end = examples[0].words[0][2]
    assert examples[0].texts[0][start:end] == "given"
    assert links[0].source.endswith("lu7.xml: sentence 1")


def test_the_released_filters(tmp_path: Path) -> None:
    source = {"path": str(framenet(tmp_path / "fn"))}
    _, links, counts = run(tmp_path, source, "released")
    assert counts == COUNTS["released"]
    assert [item.source.split()[-1] for item in links] == ["2", "12"]
    assert [item.name for item in links[1].elements] == ["Recipient", "Donor"]
    table = pd.read_csv(tmp_path / "counts").set_index("what")
    assert table["filters"].unique() == ["released"]
    assert table["paper"].dropna().to_dict() == {"sentences": 473}


def test_directory_file_and_nltk_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = framenet(tmp_path / "corpora/framenet_v17")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    expected = list(frame_files.sentences_of(folder, True))
    assert len(expected) == 12
    assert list(frame_files.sentences_of(folder / "lu", True)) == expected
    assert list(frame_files.sentences_of(folder / "lu/lu7.xml", True)) == expected
    ours = list(frame_files.sentences_of_nltk("framenet_v17", True))
    assert [sentence.source for sentence in ours][:2] == [
        f"framenet_v17: sentence {k}" for k in (1, 2)
    ]
    reader = FramenetCorpusReader(str(folder), [r"frame/.*\.xml", r"lu/.*\.xml"])
    for own, other in zip(ours, reader.lu(7).exemplars, strict=True):
        assert (own.text, own.targets) == (other.text, tuple(other.Target))
        labels = [(name, (start, end)) for start, end, name in other.FE[0]]
        assert sorted(own.elements + own.others) == sorted(labels)


def test_real_framenet(real_data: Path, tmp_path: Path) -> None:
    source = {"path": str(real_data / "framenet-1.5-subset")}
    kept = {}
    for filters, chosen in frames_corpus.FILTERS.items():
        examples, links, counts = run(tmp_path, source, filters)
        left = sum(counts[name] for name in chosen.names)
        assert counts["sentences annotated"] == left + counts["sentences"]
        assert counts["sentences"] == len(examples) == len(links) > 10
        for sentence in links:
            concerned = sentence.elements + (sentence.others if chosen.all_elements else ())
            far = {abs(a - b) for a in sentence.target for item in concerned for b in item.words}
            assert min(far) >= chosen.min_distance
        kept[filters] = {sentence.source for sentence in links}
    assert kept["released"] < kept["paper"]


def test_a_label_on_a_blank_names_file_and_sentence(tmp_path: Path) -> None:
    made = sentence(4, "Anna today gave bread .", ["gave"], Donor=" ")
    (tmp_path / "lu7.xml").write_text(HEAD + made + TAIL)
    annotated = frame_files.sentences_of(tmp_path / "lu7.xml")
    with pytest.raises(InputError, match=r"lu7.xml: sentence 4: a label covers no word; fix"):
        frames_corpus.filtered(annotated, "f", frames_corpus.FILTERS["paper"])
