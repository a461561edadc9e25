"""A reader's own text as the atlas shows texts: its tokens, and the maps of all heads.

Tokenised and run as in extraction, on the CPU and without a network.
"""

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.atlas.atlas_maps import with_maps
from workflow_scripts.atlas.atlas_page import split
from workflow_scripts.core.data.cards import in_words, read_card
from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.inline import as_script
from workflow_scripts.core.data.tokens import token_texts, tokenize
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.measures.forms import PRETRAINED
from workflow_scripts.core.model import attention, models
from workflow_scripts.core.model.extraction import forward

CORPUS = "own"
ANY_LENGTH = 1 << 20  # tokens: a text is refused and not cut
DATA = re.compile(r'<script type="application/json" id="atlas">(.*?)</script>', re.S)


def own_text(
    results: Path, model: str, number: int, texts: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A text, or a pair, of a study's model: its entry and its maps, as atlas.json has them.

    Raises InputError where the model is not there, or the text is empty or too long for it.
    """
    card = read_card(results / model / "attention/model.json")
    directory = local_directory(card, results)
    tokenizer = models.load_tokenizer(directory)
    identity = f"{CORPUS}-{number}"
    example = Example(identity, document=identity, source="add_text", texts=tuple(texts))
    (tokens,) = tokenize([example], tokenizer, ANY_LENGTH, ANY_LENGTH)
    if len(tokens) > card["max_positions"]:
        raise InputError(
            f"add_text: the text has {len(tokens)} tokens, but {model} reads at most "
            f"{card['max_positions']}; shorten it"
        )
    body = attention.open_attention(models.load_body(directory, torch.device("cpu")))
    pattern = forward(body, [tokens], "float32")[:, 0]
    segment = {
        "id": identity,
        "model": model,
        "corpus": CORPUS,
        "title": f"own text {number}",
        "tokens": token_texts(tokenizer, tokens.ids),
        "word": tokens.word.tolist(),
    }
    return with_maps(segment, {PRETRAINED: pattern}, None)


def local_directory(card: dict[str, Any], results: Path) -> Path:
    """The directory of a card's model; nothing is downloaded.

    A relative path starts where the study was run, two folders above its results. Raises InputError
    where the model is not on this machine, or its weights are not those of the card.
    """
    source = card["source"]
    try:
        if "directory" in card:
            pass  # made by the study, next to the card
        elif "hub" in source:
            from huggingface_hub import snapshot_download

            options = {"allow_patterns": list(models.FILES), "local_files_only": True}
            path = snapshot_download(source["hub"], revision=source.get("revision"), **options)
            source = {"path": path}
        elif "path" in source:
            source = {"path": str(results.resolve().parents[1] / source["path"])}
        return models.directory_of(card | {"source": source})
    except (OSError, ValueError, InputError) as error:
        raise InputError(
            f"add_text: the model {card['name']} ({in_words(card['source'])}), which the study "
            f"was run with, cannot be used here: {one_line(error)}"
        ) from error


def inserted(page: str, texts: Sequence[tuple[dict, dict]], address: str) -> str:
    """The page with further texts before its own, each with its maps, that opens at an address."""
    found = DATA.search(page)
    if found is None:
        raise InputError("atlas.html: it has no data; build it again")
    data = json.loads(found[1])
    further = {name: entry for _, maps in texts for name, entry in maps.items()}
    about, elements = split({"maps": further})
    data["segments"] = [segment for segment, _ in texts] + data["segments"]
    data["maps"] |= about["maps"]
    page = page[: found.start(1)] + as_script(data) + page[found.end(1) :]
    page = page.replace('<div id="app">', f'<div id="app" data-address="{escape(address)}">', 1)
    start, end, rest = page.rpartition("</body>")
    scripts = [
        f'<script type="text/plain" id="map:{each}">{text}</script>' for each, text in elements
    ]
    return start + "\n".join([*scripts, end]) + rest
