"""The maps of a reader's own sentences, which `sentence.py` keeps in a file, a line for each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.atlas.texts import ANY_LENGTH, CORPUS, entry_of, with_maps, write_maps
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.measures.forms import PRETRAINED
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.extraction import forward
from workflow_scripts.core.run import job

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


def maps_of(
    body: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerFast",
    model: str,
    number: int,
    texts: Sequence[str],
    source: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A text, or a pair, of an opened model: its entry and its maps, as atlas.json has them.

    Raises InputError, about `source`, where the text is empty or too long for the model.
    """
    identity = f"{CORPUS}-{number}"
    example = Example(identity, document=identity, source=source, texts=tuple(texts))
    (tokens,) = tokenize([example], tokenizer, ANY_LENGTH, models.max_positions(body))
    segment = entry_of(identity, model, CORPUS, f"own text {number}", tokens, tokenizer)
    return with_maps(segment, {PRETRAINED: forward(body, [tokens])[:, 0]})


def main(model: Path, sentences: Path, maps: job.Out, device: str = "auto") -> None:
    """Write the maps of all sentences, the last one first, by the model of a card."""
    card = read_card(model)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    body = attention.open_attention(models.load_body(directory, running.pick_device(device)))
    made = []
    lines = [(line, text) for line, text in read_lines(sentences) if text.strip()]
    for number, (line, text) in reversed([*enumerate(lines, start=1)]):
        where = f"{sentences}:{line}"
        made.append(maps_of(body, tokenizer, card["name"], number, [text], where))
    write_maps(made, maps)


if __name__ == "__main__":
    job.run(main, globals())
