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
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from workflow_scripts.atlas.encoding import decode
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import FORMAT, VERSION

COLUMNS = ["model", "measure", "type", "layer", "head", "value", "low", "high", "n", "p"]
COLUMNS += ["title", "unit", "label"]
# Within srcdoc an address is relative to the notebook's; the page's own begin with # and stay here.
BASE = '<base href="about:srcdoc">'
# Scripts and downloads only: the page reads nothing of the notebook that it stands in.
FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" width="100%" height="{height}" '
    'style="border: 0" title="Attention Atlas" srcdoc="{page}"></iframe>'
)


class Atlas:
    """A study's atlas; the last value of a notebook's cell, it shows its page.

    `results` is the study's folder, such as results/demo. Layers and heads count from 0, as in
    all tables. Raises InputError where the page was not built, or is of another format.
    """

    def __init__(self, results: str | Path, height: int = 800) -> None:
        self.folder, self.height = Path(results), height
        self.page, data = self.folder / "atlas.html", self.folder / "atlas.json"
        for path in (self.page, data):
            if not path.is_file():
                raise InputError(
                    f"{path}: not built yet; run snakemake --cores 1 {self.page.as_posix()}"
                )
        self.data: dict[str, Any] = json.loads(data.read_text(encoding="utf-8"))
        found = self.data.get("format"), self.data.get("version")
        if found != (FORMAT, VERSION):
            raise InputError(f"{data}: format {found}, not {(FORMAT, VERSION)}; build it again")
        self._own: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def add_text(self, text: str, second: str | None = None, model: str | None = None) -> Self:
        """Run a model on one's own text, or on a pair: the page opens at the maps of all its heads.

        The pretrained model, by default the study's first, is read from where the study had it;
        nothing is downloaded. Texts are tokenised and run as in extraction. For `map` and `tokens`
        the first text is `own-1`, the next `own-2`; no file is changed. Raises InputError where the
        model cannot be found, a decoder is given a pair, or the text is empty or too long.
        """
        models = [entry["name"] for entry in self.data["models"] if "types" not in entry]
        name = model or models[0]
        if name not in models:
            raise InputError(f"add_text: no model {name!r}; there are: {', '.join(models)}")
        if second is not None and any(
            entry["name"] == name and entry.get("causal") for entry in self.data["models"]
        ):
            raise InputError(f"add_text: {name} is a decoder, which reads one text, not a pair")
        texts = [text] if second is None else [text, second]
        # Here, as it imports torch.
        own = import_module("workflow_scripts.atlas.own_text")
        segment, maps = own.own_text(self.folder, name, len(self._own) + 1, texts)
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
            own = import_module("workflow_scripts.atlas.own_text")
            page = own.inserted(page, self._own, address)
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
        they are small. Raises InputError for a text, state or head that the atlas does not have.
        """
        states = self._segment(segment, model)["maps"]
        if state not in states:
            raise InputError(f"{segment}: no state {state!r}; there are {', '.join(states)}")
        name = states[state]
        types = name if isinstance(name, dict) else {None: name}
        if type not in types:
            there = ", ".join(filter(None, types)) or "none"
            raise InputError(f"{segment}: no type {type!r} of attention; there are: {there}")
        weights = decode(self.data["maps"][types[type]])
        if not (0 <= layer < weights.shape[0] and 0 <= head < weights.shape[1]):
            n_layers, n_heads = weights.shape[:2]
            raise InputError(
                f"layer {layer}, head {head}: layers count from 0 to {n_layers - 1}, heads to "
                f"{n_heads - 1}"
            )
        return weights[layer, head]

    def _segment(self, segment: str, model: str | None) -> dict[str, Any]:
        models = [model] if model else [entry["name"] for entry in self.data["models"][:1]]
        entries = {e["id"]: e for e in self.data["segments"] if e["model"] in models}
        if segment not in entries:
            there = ", ".join(entries) or "none"
            raise InputError(f"{segment!r}: no such segment of {models[0]}; there are: {there}")
        return entries[segment]


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
    """A measure's row for each head."""
    n = len(heads)
    return pd.DataFrame(
        {
            **heads,
            "model": measure["model"],
            "measure": measure["id"],
            "value": _column(measure["value"], n),
            "low": _column(measure["low"], n),
            "high": _column(measure["high"], n),
            "n": _column(measure["n"], n),
            "p": _column(measure["p"], n),
            "title": measure["title"],
            "unit": measure["unit"],
            "label": _labels(measure),
        },
        columns=COLUMNS,
    )


def _column(given: list | float | None, n: int) -> np.ndarray:
    """Numbers of all heads, float64; NaN where there is none."""
    values = given if isinstance(given, list) else [given] * n
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _labels(measure: dict[str, Any]) -> list[str | None]:
    """The word that goes with each number: its category, or its label."""
    if (categories := measure["categories"]) is not None:
        return [None if value is None else categories[int(value)] for value in measure["value"]]
    return measure["label"] or [None] * len(measure["value"])
