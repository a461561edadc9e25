"""A made-up atlas with a decoder: grouped keys, roles, and texts that it went on with."""

from typing import Any

import numpy as np

from tests.atlas.made_up import HOSTILE, described, made_up, measure
from tests.atlas.made_up_forms import FORMS
from tests.atlas.made_up_maps import WORDS, attention
from workflow_scripts.atlas.texts import encode

ROLES = ("induction", "previous", "duplicate", "copying", "retrieval")


def with_decoder() -> dict[str, Any]:
    """An atlas of a small encoder, and of a decoder with as many heads as SmolLM2-135M.

    The decoder's heads have one role each in a cycle of 16; the first head has all.
    """
    atlas = made_up(2, 4, states=("pretrained",))
    rng = np.random.default_rng(1)
    model = described("decoder", 30, 9, ("pretrained",))
    model |= {"architecture": "llama", "causal": True, "n_kv_heads": 3}
    model["badges"] = [
        {
            "id": name,
            "title": f"{name.title()} {HOSTILE[place]}",
            "about": f"The score of {name} is above the same head's at other offsets; made up.",
            "measure": FORMS[place].id if place < 2 else None,
            "source": {"table": "decoder/made-up/roles.parquet", "where": {"role": name}},
            "heads": sorted({0, *range(place, 30 * 9, 16)}),
        }
        for place, name in enumerate(ROLES)
    ]
    atlas["models"].append(model)
    atlas["measures"] += [measure(rng, form, model) for form in FORMS if form.task is None]
    for index in range(2):
        add_generated(rng, atlas, model, index)
    return atlas


def add_generated(
    rng: np.random.Generator, atlas: dict[str, Any], model: dict[str, Any], index: int
) -> None:
    """A text of a decoder, with causal maps that rest on the first token.

    In the first head all of its weight is on that token. The second half is generated.
    """
    words = [*HOSTILE, *(WORDS * 3)][:48]
    identity = f"wikipedia-{index}"
    name = f"{model['name']}.{identity}.pretrained"
    weights = np.tril(attention(rng, model["n_layers"], model["n_heads"], len(words)))
    weights[..., 0] += rng.uniform(0, 2, weights.shape[:3])
    weights[0, 0] = np.eye(1, len(words))
    atlas["maps"][name] = encode(weights / weights.sum(axis=-1, keepdims=True))
    atlas["segments"].append(
        {
            "id": identity,
            "model": model["name"],
            "corpus": "wikipedia",
            "title": f"Wikipedia, segment {index + 1}",
            "tokens": words,
            "word": list(range(len(words))),
            "generated": len(words) // 2,
            "maps": {"pretrained": name},
        }
    )
