"""The atlas of a finished study in a notebook, and its numbers as tables and arrays.

from workflow_scripts.atlas import Atlas

atlas = Atlas("results/demo")
atlas                                                  # the page itself
atlas.measures.query("measure == 'entropy.all'")       # a row for each head
atlas.map("wikipedia-147", "pretrained", layer=2, head=4)
atlas.add_text("The keys to the cabinet are on the table.")   # the page, open at its maps
"""

import html
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from workflow_scripts.atlas.atlas_page import map_elements, split
from workflow_scripts.atlas.texts import decode, entry_of, with_maps
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import PRETRAINED
from workflow_scripts.core.run.files import json_in_script

NUMBERS = ["value", "low", "high", "n", "p"]
COLUMNS = ["model", "measure", "type", "layer", "head", *NUMBERS, "title", "unit", "label"]
# Within srcdoc an address is relative to the notebook's; the page's own begin with # and stay here.
BASE = '<base href="about:srcdoc">'
# Scripts and downloads only: the page reads nothing of the notebook that it stands in.
FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" width="100%" height="{height}" '
    'style="border: 0" title="Attention Atlas" srcdoc="{page}"></iframe>'
)
DATA = re.compile(r'<script type="application/json" id="atlas">(.*?)</script>', re.S)
CORPUS = "own"
ANY_LENGTH = 1 << 20  # tokens: a text is refused and not cut


class Atlas:
    """A study's atlas; the last value of a notebook's cell, it shows its page.

    `results` is the study's folder, such as results/demo, where the page was built. Layers and
    heads count from 0, as in all tables.
    """

    def __init__(self, results: str | Path, height: int = 800) -> None:
        self.folder, self.height = Path(results), height
        self.page = self.folder / "atlas.html"
        data = (self.folder / "atlas.json").read_text(encoding="utf-8")
        self.data: dict[str, Any] = json.loads(data)
        self._own: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def add_text(self, text: str, second: str | None = None, model: str | None = None) -> Self:
        """Run a model on one's own text, or on a pair: the page opens at the maps of all its heads.

        The pretrained model, by default the study's first, is read from where the study had it;
        nothing is downloaded. Texts are tokenised and run as in extraction. For `map` and `tokens`
        the first text is `own-1`, the next `own-2`; no file is changed. Raises InputError where a
        decoder is given a pair, or the text is empty or too long.
        """
        models = {each["name"]: each for each in self.data["models"] if "types" not in each}
        entry = models[model or next(iter(models))]
        if second is not None and entry.get("causal"):
            name = entry["name"]
            raise InputError(f"add_text: {name} is a decoder, which reads one text, not a pair")
        texts = [text] if second is None else [text, second]
        segment, maps = own_text(self.folder, entry["name"], len(self._own) + 1, texts)
        self._own.insert(0, (segment, maps))
        self.data["segments"].insert(0, segment)
        self.data["maps"] |= maps
        self.__dict__.pop("segments", None)
        return self

    def __repr__(self) -> str:
        models = ", ".join(model["name"] for model in self.data["models"])
        n = len({measure["id"] for measure in self.data["measures"]})
        return f"Atlas of {self.data['study']['name']}: {models}; {n} measures; {self.page}"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, open at the last text that was added."""
        page = self.page.read_text(encoding="utf-8").replace("<head>", f"<head>{BASE}", 1)
        if self._own:
            segment, _ = self._own[0]
            address = f"#view=maps&model={segment['model']}&segment={segment['id']}"
            page = _inserted(page, self._own, address)
        # In ASCII: the digest of the page's script holds in a notebook of any encoding.
        page = html.escape(page, quote=True).encode("ascii", "xmlcharrefreplace").decode()
        return FRAME.format(height=self.height, page=page)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """A row for each measure and head, with COLUMNS; `label` is the class or best relation.

        `type` is that of attention, where the model has several.
        """
        heads = {model["name"]: _heads(model) for model in self.data["models"]}
        frames = [_rows(measure, heads[measure["model"]]) for measure in self.data["measures"]]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)

    @cached_property
    def roles(self) -> pd.DataFrame:
        """A row for each head with a role: model, role, layer, head."""
        rows = [
            (model["name"], badge["id"], *divmod(head, model["n_heads"]))
            for model in self.data["models"]
            for badge in model.get("badges", [])
            for head in badge["heads"]
        ]
        return pd.DataFrame(rows, columns=["model", "role", "layer", "head"])

    @cached_property
    def segments(self) -> pd.DataFrame:
        """The texts with maps: model, segment, title, n_tokens, and the states of the model."""
        return pd.DataFrame(
            [
                {"model": entry["model"], "segment": entry["id"], "title": entry["title"]}
                | {"n_tokens": len(entry["tokens"]), "states": list(entry["maps"])}
                for entry in self.data["segments"]
            ],
            columns=["model", "segment", "title", "n_tokens", "states"],
        )

    def tokens(self, segment: str, model: str | None = None) -> list[str]:
        """The tokens of a text."""
        return self._segment(segment, model)["tokens"]

    def map(
        self,
        segment: str,
        state: str,
        layer: int,
        head: int,
        model: str | None = None,
        type: str | None = None,
    ) -> np.ndarray:
        """One head's attention to a text, float32 [query, key]; `model` where there are several.

        Of a translator, `type` is encoder, encoder-decoder or decoder, and layers count within it.
        Weights have eight bits for their root: they are off by at most 0.004, and by less where
        they are small.
        """
        name = self._segment(segment, model)["maps"][state]
        weights = decode(self.data["maps"][name[type] if isinstance(name, dict) else name])
        return weights[layer, head]

    def _segment(self, segment: str, model: str | None) -> dict[str, Any]:
        of = model or self.data["models"][0]["name"]
        return {e["id"]: e for e in self.data["segments"] if e["model"] == of}[segment]


def own_text(
    results: Path, model: str, number: int, texts: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A text, or a pair, of a study's model: its entry and its maps, as atlas.json has them.

    Runs on the CPU. Raises InputError where the text is empty or too long for the model.
    """
    import torch  # here, as it takes seconds

    from workflow_scripts.core.model import attention, models
    from workflow_scripts.core.model.extraction import forward

    card = read_card(results / model / "attention/model.json")
    source = card["source"]
    if "directory" not in card and "hub" in source:
        from huggingface_hub import snapshot_download

        options = {"allow_patterns": list(models.FILES), "local_files_only": True}
        path = snapshot_download(source["hub"], revision=source.get("revision"), **options)
        card["source"] = {"path": path}
    elif "path" in source:
        # A relative path starts where the study was run, two folders above its results.
        card["source"] = {"path": str(results.resolve().parents[1] / source["path"])}
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    identity = f"{CORPUS}-{number}"
    example = Example(identity, document=identity, source="add_text", texts=tuple(texts))
    (tokens,) = tokenize([example], tokenizer, ANY_LENGTH, card["max_positions"])
    body = attention.open_attention(models.load_body(directory, torch.device("cpu")))
    pattern = forward(body, [tokens])[:, 0]
    segment = entry_of(identity, model, CORPUS, f"own text {number}", tokens, tokenizer)
    return with_maps(segment, {PRETRAINED: pattern}, None)


def _inserted(page: str, texts: Sequence[tuple[dict, dict]], address: str) -> str:
    """The page with further texts before its own, each with its maps, that opens at an address."""
    found = DATA.search(page)
    data = json.loads(found[1])
    about, maps = split({"maps": {name: each for _, of in texts for name, each in of.items()}})
    data["segments"] = [segment for segment, _ in texts] + data["segments"]
    data["maps"] |= about["maps"]
    page = page[: found.start(1)] + json_in_script(data) + page[found.end(1) :]
    opened = f'<div id="app" data-address="{html.escape(address)}">'
    start, end, rest = page.replace('<div id="app">', opened, 1).rpartition("</body>")
    return start + "\n".join([*map_elements(maps), end]) + rest


def _heads(model: dict[str, Any]) -> pd.DataFrame:
    """Type, layer and head of all heads of a model, in the order of its lists."""
    types = model.get("types", [{"name": None, "n_layers": model["n_layers"]}])
    rows = [
        (each["name"], layer, head)
        for each in types
        for layer in range(each["n_layers"])
        for head in range(model["n_heads"])
    ]
    return pd.DataFrame(rows, columns=["type", "layer", "head"])


def _rows(measure: dict[str, Any], heads: pd.DataFrame) -> pd.DataFrame:
    """A measure's row for each head, its numbers float64: NaN where there is none."""
    known = {name: measure[name] for name in ("model", "title", "unit", *NUMBERS)}
    rows = heads.assign(measure=measure["id"], label=_labels(measure), **known)
    return rows.astype(dict.fromkeys(NUMBERS, float))[COLUMNS]


def _labels(measure: dict[str, Any]) -> list[str | None]:
    """The word that goes with each number: its category, or its label."""
    if (categories := measure["categories"]) is not None:
        return [None if value is None else categories[int(value)] for value in measure["value"]]
    return measure["label"] or [None] * len(measure["value"])
