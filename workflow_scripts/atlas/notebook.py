"""The atlas of a finished study in a notebook, and its numbers as tables and arrays.

from workflow_scripts.atlas import Atlas, show

atlas = Atlas("results/demo")
atlas                                                  # the page itself
atlas.measures.query("measure == 'entropy.all'")       # a row for each head
atlas.map("wikipedia-147", "pretrained", layer=2, head=4)
show("/data/my-bert", "The keys to the cabinet are on the table.")   # maps without a study
"""

import html
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow_scripts.atlas.atlas_heads import NUMBERS, heads_of, labels_of
from workflow_scripts.atlas.atlas_page import build
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import FORMAT, PRETRAINED, VERSION

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

COLUMNS = ["model", "measure", "type", "layer", "head", *NUMBERS, "title", "unit", "label"]
# Within srcdoc an address is relative to the notebook's; the page's own begin with # and stay here.
BASE = '<base href="about:srcdoc">'
# Scripts and downloads only: the page reads nothing of the notebook that it stands in.
FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" width="100%" height="{height}" '
    'style="border: 0" title="Attention Atlas" srcdoc="{page}"></iframe>'
)


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

    def __repr__(self) -> str:
        models = ", ".join(model["name"] for model in self.data["models"])
        n = len({measure["id"] for measure in self.data["measures"]})
        return f"Atlas of {self.data['study']['name']}: {models}; {n} measures; {self.page}"

    def _repr_html_(self) -> str:
        """The page in a frame of its own."""
        return framed(self.page.read_text(encoding="utf-8"), self.height)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """A row for each measure and head, with COLUMNS; `label` is the class or best relation.

        `type` is that of attention, where the model has several.
        """
        heads = {model["name"]: heads_of(model) for model in self.data["models"]}
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


class Shown:
    """The maps of one text: as the last value of a notebook's cell, the page open at them.

    `tokens` are its wordpieces. `weights` [layer, head, query, key] are float32, with eight bits
    for the root of each, as `Atlas.map` gives them.
    """

    def __init__(self, atlas: dict[str, Any], address: str, height: int) -> None:
        (segment,), (entry,) = atlas["segments"], atlas["maps"].values()
        self.tokens, self.weights, self.height = segment["tokens"], decode(entry), height
        opened = f'<div id="app" data-address="{html.escape(address)}">'
        self._page = build(atlas).replace('<div id="app">', opened, 1)

    def _repr_html_(self) -> str:
        return framed(self._page, self.height)


def show(
    model: "PreTrainedModel | str | Path",
    text: str,
    second: str | None = None,
    *,
    layer: int | None = None,
    head: int | None = None,
    tokenizer: "PreTrainedTokenizerFast | None" = None,
    height: int = 800,
) -> Shown:
    """The maps of a text, or of a pair: of all heads, or the card of one.

    `model` is an encoder or decoder of transformers, which is left as it was, or the directory or
    hub id of one. `layer` and `head` count from 0. Where no `tokenizer` is given, it is the one
    saved with the model. Raises InputError where model or tokenizer cannot be read, the attention
    is not known here, or the text is empty or too long.
    """
    import torch

    from workflow_scripts.atlas.sentence_maps import maps_of
    from workflow_scripts.core.model import attention, models

    loaded = isinstance(model, torch.nn.Module)
    place = model.name_or_path if loaded else str(model)
    if not loaded or tokenizer is None:
        if not place:
            raise InputError("show: the model was not read from a directory; give its tokenizer")
        directory = Path(place) if Path(place).exists() else models.resolve({"hub": place})
        tokenizer = tokenizer or models.load_tokenizer(directory)
    body = model.base_model if loaded else models.load_body(directory, torch.device("cpu"))
    kind = body.config.model_type
    name = Path(place).name or kind
    with attention.opened_for_now(body):
        shape = {"n_layers": attention.n_layers(body), "n_heads": attention.n_heads(body)}
        if not (0 <= (layer or 0) < shape["n_layers"] and 0 <= (head or 0) < shape["n_heads"]):
            raise InputError(
                f"show: {name} has {shape['n_layers']} layers of {shape['n_heads']} heads, from 0"
            )
        causal = {} if attention.is_bidirectional(body) else {"causal": True}
        texts = [text] if second is None else [text, second]
        segment, maps = maps_of(body, tokenizer, name, 1, texts, "show")
    about = {"name": name, "title": name, "architecture": kind, **shape, **causal}
    about |= {"source": place, "states": [{"name": PRETRAINED, "title": PRETRAINED}]}
    study = {"name": name, "seed": 0, "about": []}
    atlas = {"format": FORMAT, "version": VERSION, "study": study, "models": [about], "papers": []}
    atlas |= {"measures": [], "segments": [segment], "maps": maps, "left_out": []}
    shown = "maps" if head is None else f"head&head={(layer or 0) + 1}-{head + 1}"
    return Shown(atlas, f"#view={shown}", height)


def framed(page: str, height: int) -> str:
    """A page in a frame of its own, for a notebook."""
    page = page.replace("<head>", f"<head>{BASE}", 1)
    # In ASCII: the digest of the page's script holds in a notebook of any encoding.
    page = html.escape(page, quote=True).encode("ascii", "xmlcharrefreplace").decode()
    return FRAME.format(height=height, page=page)


def _rows(measure: dict[str, Any], heads: pd.DataFrame) -> pd.DataFrame:
    """A measure's row for each head, its numbers float64: NaN where there is none."""
    known = {name: measure[name] for name in ("model", "title", "unit", *NUMBERS)}
    rows = heads.assign(measure=measure["id"], label=labels_of(measure), **known)
    return rows.astype(dict.fromkeys(NUMBERS, float))[COLUMNS]
