"""Texts of a made-up atlas, and their maps."""

from typing import Any

import numpy as np

from workflow_scripts.atlas.texts import encode

WORDS = "the head attends to a verb and its object , then it looks back at the noun .".split()


def sentence(n: int, texts: list[str]) -> list[str]:
    """Tokens: [CLS], hostile ones, words, [SEP], words, [SEP]; `n` of them."""
    words = [*texts, *(WORDS * n)][: n - 2]
    middle = len(words) * 2 // 3
    words[middle:middle] = ["[SEP]"]
    return ["[CLS]", *words[: n - 2], "[SEP]"]


def add_segment(
    rng: np.random.Generator, atlas: dict[str, Any], model: dict[str, Any], index: int, words: list
) -> None:
    """A segment, its maps in every state."""
    name, identity = model["name"], f"wikipedia-{index}"
    shape = (model["n_layers"], model["n_heads"], len(words))
    special = [word in {"[CLS]", "[SEP]"} for word in words]
    numbers = np.cumsum([not is_special for is_special in special]) - 1
    names = [state["name"] for state in model["states"]]
    entry: dict[str, Any] = {
        "id": identity,
        "model": name,
        "corpus": "wikipedia",
        "title": f"Wikipedia, segment {index + 1}",
        "tokens": words,
        "word": [-1 if gone else int(at) for at, gone in zip(numbers, special, strict=True)],
        "maps": {state: f"{name}.{identity}.{state}" for state in names},
    }
    if len(names) > 1 and index == 1:
        entry["label"] = words[1]
        entry["predictions"] = {names[1]: {"label": words[2], "probability": 0.8315}}
    for state in names:
        atlas["maps"][entry["maps"][state]] = encode(attention(rng, *shape))
    atlas["segments"].append(entry)


def add_pair(
    rng: np.random.Generator, atlas: dict[str, Any], model: dict[str, Any], index: int, texts: list
) -> None:
    """A translator's sentence pair, of more source than target tokens, and its maps by type."""
    identity, state = f"translation-test-{index + 1}", model["states"][0]["name"]
    source = [*texts[:2], *WORDS[: 8 + index], "</s>"]
    target = ["<pad>", *WORDS[1 : 5 + index], *texts[2:3]]
    words = {"encoder": (source, source), "encoder-decoder": (target, source)}
    words["decoder"] = (target, target)
    names = {kind: f"{model['name']}.{identity}.{state}.{kind}" for kind in words}
    for each in model["types"]:
        queries, keys = words[each["name"]]
        weights = attention(rng, each["n_layers"], model["n_heads"], len(queries), len(keys))
        if each["name"] == "decoder":
            weights = np.tril(weights)
            weights /= weights.sum(axis=-1, keepdims=True)
        atlas["maps"][names[each["name"]]] = encode(weights)
    atlas["segments"].append(
        {
            "id": identity,
            "model": model["name"],
            "corpus": "translation",
            "title": f"translation, generated: test-{index + 1}",
            "tokens": source,
            "word": [*range(len(source) - 1), -1],
            "target": {"tokens": target, "word": [-1, *range(len(target) - 1)]},
            "maps": {state: names},
        }
    )


def attention(
    rng: np.random.Generator, n_layers: int, n_heads: int, length: int, keys: int | None = None
) -> np.ndarray:
    """Weights [layer, head, query, key]: each head looks by offset, to the ends, or anywhere.

    There are as many keys as queries, `length`, unless `keys` states how many.
    """
    keys = keys or length
    scores = rng.normal(scale=1.5, size=(n_layers, n_heads, length, keys))
    for head in np.ndindex(n_layers, n_heads):
        kind = rng.integers(5)
        if kind < 3:
            scores[head] += 6 * np.eye(length, keys, k=int(kind) - 1)
        elif kind == 3:
            scores[head][:, rng.choice([0, keys - 1])] += 6
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True)
