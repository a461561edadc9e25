"""How pages show claims: the colours of their verdicts, and the view of the atlas behind one."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

# Verdicts on claims, in order, with the names of their colours.
BADGES = {
    "reproduced": "good",
    "carries over": "good",
    "does not carry over": "bad",
    "not reproduced": "bad",
    "inconclusive": "open",
    "not tested": "none",
    "not run": "none",
}
# What stands in a verdict's place where there is none.
VERDICTLESS = ("not tested", "not run")


def fragment(
    view: str,
    of: Mapping[str, str],
    model: str,
    measures: Iterable[Mapping[str, Any]],
    figures: Iterable[Mapping[str, Any]],
) -> str:
    """The address of a view within the atlas; empty where the atlas lacks its measure or figure.

    `{model}` in `view` stands for the model, `{task}` and `{run}` for the task and the translator
    that the case is `of`. A `*` in a measure's id stands for any text: the first of the atlas's
    `measures` that fits is meant, of those of `model` where the view names none.
    """
    view = view.replace("{task}", of["task"] or "-").replace("{run}", of["run"] or "-")
    view = view.replace("{model}", model)
    keys = {"model": model} | dict(part.partition("=")[::2] for part in view.split("&"))
    parts = []
    for key, value in keys.items():
        if key == "measure":
            known = [one["id"] for one in measures if one["model"] == keys["model"]]
            value = next((name for name in known if fnmatchcase(name, value)), "")
            if not value:
                return ""
        if key == "figure" and value not in {one["id"] for one in figures}:
            return ""
        parts.append(f"{key}={value}")
    return "#" + "&".join(parts)
