"""FrameNet's annotated sentences, from lu/*.xml.

Core elements are those of type Core or, with `core_sets`, the members of their frame's core sets
(FEcoreSet), which many frames have none of.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import parse

from workflow_scripts.core.data.text_files import whole_number
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_below, inside

NAMESPACE = "{http://framenet.icsi.berkeley.edu}"
CORE = "Core"
UNIT = re.compile(r"lu(?!Index).*\.xml")  # names of files of lexical units
Span = tuple[int, int]  # characters, the end excluded
Labels = tuple[tuple[str, Span], ...]


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence annotated for one lexical unit: the spans of its target and elements."""

    text: str
    source: str
    frame: str
    targets: tuple[Span, ...]
    elements: Labels  # core
    others: Labels = ()
    unit: str = ""  # the lexical unit, as FrameNet's files are named (lu7); none where generated


def sentences_of(
    path: Path, core_sets: bool = False, by_place: bool = False
) -> Iterator[AnnotatedSentence]:
    """The sentences of a FrameNet directory (with lu/ in it), of a directory of lu files or of one.

    Elements are in the file's order or, `by_place`, each layer's in the text's. Raises InputError,
    naming the file, if there are none or one cannot be read.
    """
    files = [path] if path.is_file() else files_below(inside(path, "lu"), (".xml",))
    files = [file for file in files if path.is_file() or UNIT.fullmatch(file.name)]
    if not files:
        raise InputError(f"{path}: no lu*.xml files; name a FrameNet directory with lu/ in it")
    sets: dict[str, set[str]] = {}
    for file in files:
        root = _parsed(file)
        if root.tag != f"{NAMESPACE}lexUnit" or not {"frame", "ID"} <= root.attrib.keys():
            raise InputError(f"{file}:1: not a lexical unit of FrameNet; remove the file")
        if by_place and root.get("status") == "Problem":
            continue  # as NLTK's reader does
        frame = root.attrib["frame"]
        if core_sets and frame not in sets:
            sets[frame] = _core_sets(definitions_of(path) / f"{frame}.xml")
        elements = root.findall(f"{NAMESPACE}header/{NAMESPACE}frame/{NAMESPACE}FE")
        core = {element.get("name", "") for element in elements if element.get("type") == CORE}
        yield from _sentences_of_unit(root, file, sets[frame] if core_sets else core, by_place)


def definitions_of(path: Path) -> Path:
    """The directory of the frames' files, next to that of the lexical units at `path`."""
    units = inside(path, "lu")
    return (units.parent if units.is_file() else units).parent / "frame"


def _parsed(path: Path) -> Element:
    try:
        return parse(path, forbid_dtd=True).getroot()
    except ParseError as error:
        line = error.position[0]
        raise InputError(
            f"{path}:{line}: not well-formed XML ({error}); copy the file again"
        ) from error
    # A document type, which may declare entities; an unknown encoding.
    except (DefusedXmlException, OSError, ValueError, LookupError) as error:
        raise InputError(f"{path}:1: cannot be read ({error}); copy the file again") from error


def _core_sets(path: Path) -> set[str]:
    if not path.is_file():
        raise InputError(
            f"{path}: no such file, and core sets are in it; copy FrameNet's frame/ next to lu/ or "
            "set frames.filters to paper"
        )
    members = _parsed(path).findall(f"{NAMESPACE}FEcoreSet/{NAMESPACE}memberFE")
    return {member.get("name", "") for member in members}


def _sentences_of_unit(
    root: Element, path: Path, core: set[str], by_place: bool
) -> Iterator[AnnotatedSentence]:
    for sentence in root.iter(f"{NAMESPACE}sentence"):
        text = sentence.findtext(f"{NAMESPACE}text") or ""
        where = f"{path}: sentence {sentence.get('ID')}"
        for annotation in sentence.findall(f"{NAMESPACE}annotationSet"):
            layers: dict[str, list[tuple[str, Span]]] = {"Target": [], "FE": []}
            for layer in annotation.findall(f"{NAMESPACE}layer"):
                if (kind := layer.get("name")) in layers:
                    labels = _labels(layer, text, where)
                    in_text = by_place and kind == "FE"
                    layers[kind] += sorted(labels, key=itemgetter(1)) if in_text else labels
            if layers["Target"]:
                yield AnnotatedSentence(
                    text,
                    where,
                    root.attrib["frame"],
                    tuple(span for _, span in layers["Target"]),
                    tuple(item for item in layers["FE"] if item[0] in core),
                    tuple(item for item in layers["FE"] if item[0] not in core),
                    f"lu{root.get('ID')}",
                )


def _labels(layer: Element, text: str, where: str) -> Iterator[tuple[str, Span]]:
    """Name and span of each label; null instantiations (`itype`), without span, are left out."""
    for label in layer.findall(f"{NAMESPACE}label"):
        if not label.get("name"):
            raise InputError(f"{where}: a label without a name; fix the label")
        start, end = label.get("start"), label.get("end")
        if start is None and end is None and label.get("itype"):
            continue
        first, last = (whole_number(number or "") for number in (start, end))
        if first is None or last is None or not first <= last < len(text):
            raise InputError(
                f"{where}: label {label.get('name')} from {start} to {end} is outside the "
                f"text of {len(text)} characters; fix the label"
            )
        yield label.attrib["name"], (first, last + 1)


def sentences_of_nltk(name: str, core_sets: bool = False) -> Iterator[AnnotatedSentence]:
    """The same from an installed NLTK corpus, framenet_v17 or framenet_v15, in its reader's order.

    That is by the numbers of units and, within a layer, by the places of labels.
    """
    import nltk

    try:
        folder = Path(nltk.data.find(f"corpora/{name}"))
    except LookupError as error:
        raise InputError(
            f"nltk: {name}: this corpus is not installed; run `python -m nltk.downloader {name}` "
            "on a machine with network access, or give a FrameNet directory as from"
        ) from error
    found = sentences_of(folder, core_sets, by_place=True)
    for sentence in sorted(found, key=lambda sentence: int(sentence.unit.removeprefix("lu"))):
        _, _, number = sentence.source.rpartition(" ")
        yield replace(sentence, source=f"{name}: sentence {number}")


def words_of(text: str) -> list[Span]:
    """Spans of the tokens between blanks; FrameNet separates punctuation by blanks."""
    return [match.span() for match in re.finditer(r"\S+", text)]
