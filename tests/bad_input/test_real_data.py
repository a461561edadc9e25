"""Real files and broken copies of them, where they are: read whole, as plainly, or refused."""

import random
from pathlib import Path

import pytest

from tests.bad_input.formats import FORMATS
from tests.bad_input.test_mutations import KINDS, PIECES, changed
from workflow_scripts.core.errors import InputError

# A file of the folder of real data, or the smallest of several, and how many of its lines are read.
FILES = {
    "GLUE with a header": ("glue/MRPC/dev*.tsv", 100),
    "GLUE with scores": ("glue/STS-B/dev*.tsv", 100),
    "GLUE with names of labels": ("glue/QNLI/dev*.tsv", 100),
    "GLUE without a header": ("glue/CoLA/dev*.tsv", 100),
    "ARCT": ("arct/dev-full.txt", 100),
    "ARCT's truth": ("arct/dev-truth.txt", 100),
    "ARCT's adversarial set": ("arct/adversarial_dataset/dev-adv-negated.csv", 100),
    "ARCT's claim map": ("arct/adversarial_dataset/claim_map.csv", 100),
    "CoNLL-X": ("gum_sd/dep_stanford/*", None),
    "CoNLL-U": ("ud_ewt/*.conllu", 1000),
    "CorefUD": ("ud_gum/*.conllu", 1000),
    "GUM": ("gum_sd/coref_conll/*", None),
    "LitBank": ("litbank/*", None),
    "FrameNet": ("framenet-1.5-subset/lu/lu*.xml", None),
    "WikiText": ("wikitext/*.raw", 300),
    "GloVe": ("glove/*.txt", 200),
    "sides of translations": ("multi30k/val.de", 200),
}


def sample(folder: Path, pattern: str, n_lines: int | None) -> bytes:
    """The smallest file, or its first lines, up to the last sentence's end among them."""
    path = min(folder.glob(pattern), key=lambda path: path.stat().st_size)
    lines = path.read_bytes().splitlines(keepends=True)[:n_lines]
    if pattern.endswith(".conllu"):
        while lines[-1].strip():
            lines.pop()
    return b"".join(lines)


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_read_whole(tmp_path: Path, real_data: Path, name: str) -> None:
    form = FORMATS[name]
    data = sample(real_data, *FILES[name])
    path = tmp_path / form.name
    path.write_bytes(data)
    records = form.read(path)
    assert records == form.plainly(data.decode())
    rng = random.Random(name)
    for _ in range(30):
        edit = (rng.choice(KINDS), rng.random(), rng.randint(1, 6), rng.choice(PIECES))
        path.write_bytes(changed(data, *edit))
        try:
            read = form.read(path)
        except InputError as error:
            assert str(path) in str(error)
        else:
            assert read == form.plainly(path.read_bytes().decode()), edit
