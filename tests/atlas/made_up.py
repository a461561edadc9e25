"""An atlas of made-up numbers, of any size, with hostile texts: what tests and benchmarks show."""

from typing import Any

import numpy as np

from tests.atlas.made_up_forms import FORMS, TRANSLATION_FORMS, Form
from tests.atlas.made_up_maps import add_pair, add_segment, sentence
from workflow_scripts.atlas.atlas_data import GROUPS

SCRIPT = "</script><script>window.broken=1</script>"
IMAGE = '<img src=x onerror="window.broken=1">'
# What a corpus may hold, and what a page must show as it is.
HOSTILE = [
    SCRIPT,
    IMAGE,
    "\"double\" 'single' `back`",
    "&lt;b&gt; &amp;",
    "\u202eright to left",  # an override of the direction of what follows
    "line\u2028separator",
    "\U0001f469\u200d\U0001f52c\U0001f9e0",  # emoji, joined
    "\u0301\u0308",  # combining marks without a letter
    "<!--",
    "${window.broken=1}",
    "\u05e9\u05dc\u05d5\u05dd",
    "\ufffd",
]
CATEGORIES = ["vertical", "diagonal", "vertical and diagonal", "block", "heterogeneous"]
RELATIONS = ["dobj", "nsubj", "det", "amod", "prep", "pobj"]


def made_up(
    n_layers: int,
    n_heads: int,
    n_models: int = 1,
    n_measures: int = len(FORMS),
    segments: int = 3,
    tokens: int = 24,
    states: tuple[str, ...] = ("pretrained", "sst2.1"),
    hostile: bool = True,
    n_translators: int = 0,
) -> dict[str, Any]:
    """A valid atlas, always the same for the same arguments.

    Further models have the first segment's tokens too, and other tokens in the others, one fewer.
    States other than `pretrained` are named <task>.<seed>. Translators come last, with two sentence
    pairs.
    """
    rng = np.random.default_rng(0)
    texts = HOSTILE if hostile else ["plain"]
    atlas: dict[str, Any] = {
        "format": "attention-atlas",
        "version": 1,
        "study": {
            "name": "made-up",
            "seed": 1,
            "about": ["All numbers of this study are made up.", *(texts if hostile else [])],
        },
        "models": [],
        "papers": [{"name": name, "title": title} for name, title in GROUPS.items()],
        "measures": [],
        "segments": [],
        "maps": {},
        "left_out": ["2 segments were left out: the page has room for 3.", *texts[:2]],
    }
    for number in range(n_models):
        name = "tiny" if number == 0 else f"tiny-{number + 1}"
        model = described(name, n_layers, n_heads, states)
        if hostile:
            model["title"] += f" {texts[number % len(texts)]}"
        atlas["models"].append(model)
        for index in range(n_measures):
            made = measure(rng, FORMS[index % len(FORMS)], model)
            if index >= len(FORMS):
                made["id"] += f".{index}"
            if hostile and index % 5 == 1:
                made["title"] += f" {texts[index % len(texts)]}"
            if hostile and made["label"]:
                made["label"][0] = SCRIPT
            made["about"] += f" {texts[index % len(texts)]}" if hostile else ""
            atlas["measures"].append(made)
        for index in range(segments):
            words = sentence(tokens if index == 0 else tokens - number, texts if hostile else [])
            add_segment(rng, atlas, model, index, words)
    for seed in range(1, n_translators + 1):
        model = translator(seed, n_heads)
        atlas["models"].append(model)
        atlas["measures"] += [measure(rng, form, model) for form in TRANSLATION_FORMS]
        for index in range(2):
            add_pair(rng, atlas, model, index, texts if hostile else [])
    return atlas


def described(name: str, n_layers: int, n_heads: int, states: tuple[str, ...]) -> dict[str, Any]:
    """A model's entry."""
    named = []
    for state in states:
        task, _, seed = state.partition(".")
        title = f"fine-tuned on {task.upper()}, seed {seed}"
        trained = {"name": state, "title": title, "task": task, "seed": int(seed or 1)}
        named.append(trained if seed else {"name": state, "title": state})
    return {
        "name": name,
        "title": name,
        "architecture": "bert",
        "n_layers": n_layers,
        "n_heads": n_heads,
        "source": "made up",
        "states": named,
    }


def translator(seed: int, n_heads: int) -> dict[str, Any]:
    """The entry of a translator of two encoder layers and one decoder layer."""
    names = {
        "encoder": ("Enc-Enc", 2),
        "encoder-decoder": ("Enc-Dec", 1),
        "decoder": ("Dec-Dec", 1),
    }
    model = described(f"translation.{seed}", 4, n_heads, ("trained",))
    model["types"] = [
        {"name": name, "title": title, "n_layers": n_layers}
        for name, (title, n_layers) in names.items()
    ]
    return model


def measure(rng: np.random.Generator, form: Form, model: dict[str, Any]) -> dict[str, Any]:
    """One measure of one model; each optional part is there or missing as its form states."""
    layers, heads = model["n_layers"], model["n_heads"]
    size, parts = layers * heads, form.parts.split()
    low, high = form.range
    # Near each other in the same layer, as in real models.
    height = np.repeat(rng.uniform(0, 0.5, layers), heads) + rng.uniform(0, 0.5, size)
    value = low + (high - low) * height
    if form.scale == "category":
        value = np.floor(value)
    half = (high - low) * rng.uniform(0.01, 0.12, size)
    missing = rng.random(size) < (1 if "all" in parts else 0.1 if "missing" in parts else 0)
    null: Any = form.null
    if null == "heads":
        null = listed(rng.uniform(low, (low + high) / 2, size), np.zeros(size, bool))
    states = [state["name"] for state in model["states"]]
    trained = [state for state in states if form.task and state.startswith(f"{form.task}.")]
    p = np.minimum(1, 10 ** rng.uniform(-5, 1, size))
    counts = rng.integers(50, 400, size)
    table = f"{model['name']}/made-up/{form.group.lower().replace(' ', '-')}.parquet"
    return {
        "id": form.id,
        "model": model["name"],
        "paper": form.paper,
        "group": form.group,
        "title": form.title,
        "unit": form.unit,
        "scale": form.scale,
        "about": f"{form.title}, made up; the interval covers nothing.",
        "source": {
            "table": table,
            "column": "value",
            "where": {"of": form.id},
            "factor": 100 if form.unit == "%" else 1,
        },
        "state": trained[0] if trained else states[0],
        "task": form.task,
        "null": null,
        "null_title": form.null_title,
        "decimals": {"%": 1, "points": 1}.get(form.unit, 0 if form.scale == "category" else 3),
        "better": form.better,
        "categories": CATEGORIES if form.scale == "category" else None,
        "label": [str(label) for label in rng.choice(RELATIONS, size)]
        if "label" in parts
        else None,
        "value": value.astype(int).tolist() if form.scale == "category" else listed(value, missing),
        "low": listed(value - half, missing) if "interval" in parts else None,
        "high": listed(value + half, missing) if "interval" in parts else None,
        "n": 300 if "n" in parts else counts.tolist() if "ns" in parts else None,
        "p": listed(p, missing) if "p" in parts else None,
    }


def listed(values: np.ndarray, missing: np.ndarray) -> list[float | None]:
    """Numbers as JSON has them, with six digits, None where missing."""
    pairs = zip(values, missing, strict=True)
    return [None if gone else float(f"{value:.6g}") for value, gone in pairs]
