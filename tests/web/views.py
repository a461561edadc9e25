"""The views that tests and pictures show, as fragments of the page's address."""

from typing import Any


def views(atlas: dict[str, Any]) -> dict[str, str]:
    """Fragment of each view, by name; comparisons as far as the study has what they need."""
    models = atlas["models"]
    first = models[0]
    layers, heads, name = first["n_layers"], first["n_heads"], first["name"]
    middle, other = f"{(layers + 1) // 2}-{heads}", f"{layers}-{(heads + 1) // 2}"
    numeric = [
        measure["id"]
        for measure in atlas["measures"]
        if measure["model"] == name and measure["scale"] != "category"
    ]
    own = [segment for segment in atlas["segments"] if segment["model"] == name]
    tuned = next((segment for segment in own if len(segment["maps"]) > 1), None)
    found = {
        "opening": "",
        "grid": "view=grid",
        "grid-measure": f"measure={numeric[0]}",
        "maps": "view=maps",
        "claims": f"view=claims&model={name}",
        "figures": "view=figures",
        "about": "view=about",
        "card": f"view=head&head={middle}",
        "card-matrix": f"view=head&head={middle}&map=matrix",
        "maps-measure": f"view=maps&measure={numeric[0]}",
        "compare-heads": f"view=compare&a={name}/{middle}/pretrained&b={name}/{other}/pretrained",
    }
    if tuned:
        found["maps-segment"] = f"view=maps&segment={tuned['id']}"
        before, after = list(tuned["maps"])[:2]
        found["compare-states"] = (
            f"view=compare&segment={tuned['id']}"
            f"&a={name}/{middle}/{before}&b={name}/{middle}/{after}"
        )
    if translator := next((model for model in models if "types" in model), None):
        where = f"view=head&model={translator['name']}&head=Enc-Dec 1-1"
        found |= {"card-translator": where, "card-translator-matrix": f"{where}&map=matrix"}
    if models[-1].get("types"):
        found["maps-translator"] = f"view=maps&model={models[-1]['name']}"
    if len(models) > 1:
        second = models[1]["name"]
        found["compare-models"] = (
            f"view=compare&a={name}/{middle}/pretrained&b={second}/{middle}/pretrained"
        )
    translators = [model for model in models if "types" in model]
    if translators:
        name, state = translators[0]["name"], translators[0]["states"][0]["name"]
        found["grid-translator"] = f"view=grid&model={name}"
        sides = [f"{side}={name}/Dec-Dec 1-{head}/{state}" for side, head in (("a", 1), ("b", 2))]
        found["compare-translators"] = f"view=compare&{'&'.join(sides)}"
    if decoder := next((model for model in models if model.get("causal")), None):
        name, head = decoder["name"], f"{(decoder['n_layers'] + 1) // 2}-1"
        at = f"model={name}&head={head}&first=hidden"
        found["grid-decoder"] = f"view=grid&model={name}"
        found["maps-decoder"] = f"view=maps&{at}"
        found["card-decoder"] = f"view=head&{at}"
        found["card-decoder-matrix"] = f"view=head&{at}&map=matrix"
        sides = f"a={name}/{head}/pretrained&b={name}/1-1/pretrained"
        found["compare-decoder"] = f"view=compare&{sides}"
        if decoder is not first:
            sides = f"a={first['name']}/1-1/pretrained&b={name}/{head}/pretrained"
            found["compare-shapes"] = f"view=compare&{sides}"
    return found
