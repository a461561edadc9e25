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
    segments = [segment for segment in atlas["segments"] if segment["model"] == name]
    states = [state for state in (segments[0]["maps"] if segments else {}) if state != "pretrained"]
    found = {
        "grid": "",
        "scatter": f"view=scatter&x={numeric[0]}&y={numeric[1]}",
        "table": "view=table",
        "about": "view=about",
        "card": f"view=head&head={middle}",
        "card-matrix": f"view=head&head={middle}&map=matrix",
        "card-overlay": f"view=head&head={middle}&with={other}",
        "compare-heads": f"view=compare&a={name}/{middle}/pretrained&b={name}/{other}/pretrained",
    }
    if states:
        found["compare-states"] = (
            f"view=compare&a={name}/{middle}/pretrained&b={name}/{middle}/{states[0]}"
        )
    if len(models) > 1:
        second = models[1]["name"]
        found["compare-models"] = (
            f"view=compare&a={name}/{middle}/pretrained&b={second}/{middle}/pretrained"
        )
    return found
