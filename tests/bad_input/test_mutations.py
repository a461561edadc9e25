"""Valid files, changed at random: a reader gives what they hold, or names what is wrong."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bad_input.formats import FORMATS
from workflow_scripts.core.errors import InputError

TEXTS = '\t \n \n\n \r \r\n " ( ) - _ 0 1 9 99999 nan inf # , < & ² ٣ \ufeff \u2028 \x85 \x1c \x0b'
PIECES = [*(text.encode() for text in TEXTS.split(" ")), b" ", b"\0", b"\xff", b"\xc3"]
KINDS = ("delete", "insert", "replace", "truncate", "repeat line", "drop line", "swap lines")
# Where the real data have a file of a format, and how many of its lines are read.
REAL = {
    "GLUE with a header": ("glue/MRPC/dev*.tsv", 100),
    "GLUE without a header": ("glue/CoLA/dev*.tsv", 100),
    "ARCT": ("arct/dev-full.txt", 100),
    "CoNLL-X": ("gum_sd/dep_stanford/*", None),
    "CoNLL-U": ("ud_ewt/*.conllu", 1000),
    "GUM": ("gum_sd/coref_conll/*", None),
    "LitBank": ("litbank/*", None),
    "FrameNet": ("framenet-1.5-subset/lu/lu*.xml", None),
    "WikiText": ("wikitext/*.raw", 300),
    "GloVe": ("glove/*.txt", 200),
}


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, float, int, bytes]]:
    """Kind, place as a share of the file, length, and bytes, of one to three changes."""
    place, length = st.floats(0, 1, exclude_max=True), st.integers(1, 6)
    piece = st.sampled_from(PIECES) | st.binary(min_size=1, max_size=3)
    change = st.tuples(st.sampled_from(KINDS), place, length, piece)
    return draw(st.lists(change, min_size=1, max_size=3))


def changed(data: bytes, kind: str, place: float, length: int, piece: bytes) -> bytes:
    at = int(place * len(data))
    match kind:
        case "delete":
            return data[:at] + data[at + length :]
        case "insert":
            return data[:at] + piece + data[at:]
        case "replace":
            return data[:at] + piece + data[at + len(piece) :]
        case "truncate":
            return data[:at]
    lines = data.splitlines(keepends=True)
    row = int(place * len(lines))
    if kind == "repeat line":
        lines[row:row] = lines[row : row + 1]
    elif kind == "drop line":
        del lines[row : row + 1]
    else:
        lines[row : row + 2] = lines[row : row + 2][::-1]
    return b"".join(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changed")


@pytest.mark.parametrize("name", FORMATS)
def test_a_valid_file_is_read_as_it_is(folder: Path, name: str) -> None:
    form = FORMATS[name]
    path = folder / form.name
    for text in (form.valid, "\ufeff" + form.valid, form.valid.replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        records = form.read(path)
        assert records == form.plainly(text)
        assert records


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_read_whole(folder: Path, real_data: Path, name: str) -> None:
    pattern, n_lines = REAL[name]
    smallest = min(real_data.glob(pattern), key=lambda path: path.stat().st_size)
    lines = smallest.read_bytes().splitlines(keepends=True)[:n_lines]
    if pattern.endswith(".conllu"):
        while lines[-1].strip():  # up to the last sentence's end
            lines.pop()
    path = folder / FORMATS[name].name
    path.write_bytes(b"".join(lines))
    assert FORMATS[name].read(path) == FORMATS[name].plainly(path.read_bytes().decode())


@pytest.mark.parametrize("name", FORMATS)
@settings(
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(edits=changes())
def test_a_changed_file_is_read_whole_or_refused(
    folder: Path, name: str, edits: list[tuple[str, float, int, bytes]]
) -> None:
    form = FORMATS[name]
    data = form.valid.encode()
    for edit in edits:
        data = changed(data, *edit)
    path = folder / form.name
    path.write_bytes(data)
    try:
        records = form.read(path)
    except InputError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
        return
    assert records == form.plainly(data.decode())
