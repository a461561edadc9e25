"""Valid files, changed at random: a reader gives what they hold, or names what is wrong."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bad_input.formats import FORMATS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[2]
PIECES = [b"\t", b"\n", b"\n\n", b"\r", b"\r\n", b" ", b'"', b"\0", b"\xff", b"\xc3", b"(", b")"]
PIECES += [
    b"-",
    b"_",
    b"0",
    b"1",
    b"9",
    b"99999",
    b"nan",
    b"inf",
    b"#",
    b",",
    b"<",
    b"&",
    b"\xef\xbb\xbf",
]
PIECES += ["²".encode(), "٣".encode(), "\u2028".encode(), "\x85".encode(), b"\x1c", b"\x0b", b"1_0"]
KINDS = ("delete", "insert", "replace", "truncate", "repeat line", "drop line", "swap lines")


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


def test_every_format_that_a_study_may_name_is_here() -> None:
    """But dumps, of whose markup there is no plain reading: test_archives.py breaks them."""
    definitions = schema.assemble(ROOT / "rules/schemas")["$defs"]
    names = {
        kind: part.get("properties", {}).get("format", {}) for kind, part in definitions.items()
    }
    keys = {f"{kind}.{name}" for kind, part in names.items() for name in part.get("enum", ())}
    keys -= {key for key in keys if key.endswith(".auto")}
    assert {form.key for form in FORMATS.values() if form.key} == keys - {"text.mediawiki"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_valid_file_is_read_as_it_is(folder: Path, name: str) -> None:
    form = FORMATS[name]
    path = folder / form.name
    for text in (form.valid, "\ufeff" + form.valid, form.valid.replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        records = form.read(path)
        assert records == form.plainly(text)
        assert records


@pytest.mark.parametrize("name", FORMATS)
@settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
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
