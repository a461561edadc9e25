"""What the page must show of a measure, from atlas.json alone, apart from its own code."""

import base64
import math
import zlib
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap

from workflow_scripts.core.plots import colours

ON_DARK = {
    "#000000": "#f2f2f2",
    "#0072b2": "#4fa3f0",
    "#332288": "#8f84d6",
    "#882255": "#d0749b",
    "#cccccc": "#8a8f96",
    "#b2182b": "#d2827a",
    "#2166ac": "#6ca9e6",
}
OKABE_ITO = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
# The colours that the figures give to kinds, by their keys and names.
NAMED = {
    name: look.colour.lower()
    for group in (colours.TOKENS, colours.HEADS, colours.EFFECTS, colours.CLASSES)
    for key, look in group.items()
    for name in (key, look.name)
}
P_LEVEL = 0.05
MINUS = "\u2212"


def number(value: float, decimals: int) -> str:
    """Rounded, halves away from zero, with a true minus and none before a zero."""
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return str(abs(rounded)) if rounded == 0 else str(rounded).replace("-", MINUS)


def value_text(measure: dict[str, Any], index: int) -> str:
    """A head's value with its unit."""
    value = measure["value"][index]
    if value is None:
        return "unknown"
    if measure["scale"] == "category":
        return measure["categories"][value]
    unit = measure["unit"]
    return number(value, measure["decimals"]) + (unit if unit in {"", "%"} else f" {unit}")


def interval(measure: dict[str, Any], index: int) -> tuple[float, float] | None:
    """The ends of a head's interval."""
    if measure["low"] is None or measure["low"][index] is None:
        return None
    return measure["low"][index], measure["high"][index]


def count(measure: dict[str, Any], index: int) -> int | None:
    """How many observations a head's value is over."""
    return measure["n"][index] if isinstance(measure["n"], list) else measure["n"]


def count_text(measure: dict[str, Any], index: int) -> str:
    """The same with what is counted."""
    n, of = count(measure, index), measure.get("n_of", "")
    return f"{n} {of.removesuffix('s') if n == 1 else of}".strip()


def rank(measure: dict[str, Any], index: int) -> int | None:
    """1 for the best; equal values share the better rank."""
    value = measure["value"][index]
    if value is None or measure["scale"] == "category":
        return None
    known = [other for other in measure["value"] if other is not None]
    return 1 + sum(
        other < value if measure["better"] == "low" else other > value for other in known
    )


def rank_text(measure: dict[str, Any], index: int) -> str:
    """The rank in words; empty where there is none."""
    known = sum(value is not None for value in measure["value"])
    lowest = " from the lowest" if measure["better"] == "low" else ""
    place = rank(measure, index)
    return f"{place} of {known}{lowest}" if place else ""


def better_alone(measure: dict[str, Any]) -> bool:
    """Whether only values better than the baseline count, and not those below it."""
    effect = measure["null_title"] == "no effect"
    return bool(measure["better"]) and measure["null"] is not None and not effect


def hatched(measure: dict[str, Any], index: int) -> bool:
    """Whether the head is not better than the baseline, or does not differ from it."""
    null, ends = measure["null"], interval(measure, index)
    null = null[index] if isinstance(null, list) else null
    sign = -1 if measure["better"] == "low" else 1
    if measure["p"] is not None:
        p = measure["p"][index]
        worse = better_alone(measure) and sign * measure["value"][index] <= sign * null
        return p is not None and (p >= P_LEVEL or worse)
    if ends is None or null is None:
        return False
    if better_alone(measure):
        return min(sign * end for end in ends) <= sign * null
    return ends[0] <= null <= ends[1]


def sentence(model: dict[str, Any], measure: dict[str, Any], index: int) -> str:
    """What a screen reader reads out of a head."""
    ends, place, n = interval(measure, index), rank_text(measure, index), count(measure, index)
    parts = [f"Head {head_name(model, index)}, {measure['title']} {value_text(measure, index)}"]
    if measure["label"] and measure["label"][index]:
        parts.append(measure["label"][index])
    if ends:
        parts.append("interval " + " to ".join(number(end, measure["decimals"]) for end in ends))
    if place:
        parts.append(f"rank {place}")
    if n:
        parts.append(f"n {count_text(measure, index)}")
    if hatched(measure, index):
        words = "not better than" if better_alone(measure) else "no detectable difference from"
        parts.append(f"hatched: {words} the baseline")
    roles = [badge["title"] for badge in model.get("badges", []) if index in badge["heads"]]
    if roles:
        parts.append(f"roles: {', '.join(roles)}")
    return ", ".join(parts)


def head_name(model: dict[str, Any], index: int) -> str:
    """`<layer>-<head>`, from 1, after its type of attention where there are several."""
    *types, layer, head = head_key(model, index)
    titles = {each["name"]: each["title"] for each in model.get("types", [])}
    return " ".join([*map(titles.get, types), f"{layer + 1}-{head + 1}"])


def head_key(model: dict[str, Any], index: int) -> tuple[Any, ...]:
    """Layer and head, from 0, after the type of attention where there are several."""
    layer, head = divmod(index, model["n_heads"])
    for each in model.get("types", []):
        if layer < each["n_layers"]:
            return each["name"], layer, head
        layer -= each["n_layers"]
    return layer, head


def domain(measure: dict[str, Any]) -> tuple[float, float]:
    """The range that the colours span: round numbers; about the null where it is diverging."""
    known = [value for value in measure["value"] if value is not None]
    low, high = min(known), max(known)
    null = measure["null"] if isinstance(measure["null"], int | float) else None
    if measure["scale"] == "diverging":
        centre = null or 0
        reach = max(abs(low - centre), abs(high - centre)) or 1
        step = round_step(reach / 10)
        reach = math.ceil(reach / step - 1e-9) * step
        return centre - reach, centre + reach
    if null is not None:
        low, high = min(low, null), max(high, null)
    if 0 <= low < high / 2:
        low = 0
    step = round_step((high - low or abs(high) or 1) / 20)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (low, high) if low < high else (low, low + step)


def round_step(size: float) -> float:
    """1, 2 or 5 times a power of ten, the nearest not below `size`."""
    power = 10 ** math.floor(math.log10(size))
    return next((step for step in (1, 2, 5) if step * power >= size * (1 - 1e-9)), 10) * power


def ramp(measure: dict[str, Any], dark: bool) -> Colormap:
    """Matplotlib's colours; on a dark page more is brighter; red is harm, lower similarity dark."""
    names = {"sequential": ("Blues", "Blues_r"), "diverging": ("RdBu_r", "berlin")}
    colour_map = colormaps[names[measure["scale"]][dark]]
    side = "harm" if measure["scale"] == "diverging" else "better"
    return colour_map.reversed() if measure.get(side) == "low" else colour_map


def kind_colour(categories: list[str], value: int) -> str:
    """A category's colour: the figures' where they have one for each of these names."""
    if all(name in NAMED for name in categories):
        return NAMED[categories[value]]
    return OKABE_ITO[value]


def colour(measure: dict[str, Any], index: int, dark: bool) -> tuple[int, ...] | None:
    """A head's red, green and blue, 0 to 255; None where its value is unknown."""
    value = measure["value"][index]
    if value is None:
        return None
    if measure["scale"] == "category":
        code = kind_colour(measure["categories"], value)
        code = ON_DARK.get(code, code) if dark else code
        return tuple(int(code[at : at + 2], 16) for at in (1, 3, 5))
    low, high = domain(measure)
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return tuple(round(255 * part) for part in ramp(measure, dark)(share)[:3])


def weights(atlas: dict[str, Any], segment: dict[str, Any], state: str) -> np.ndarray:
    """A segment's maps float64 [layer, head, query, key]."""
    return decoded(atlas["maps"][segment["maps"][state]])


def decoded(entry: dict[str, Any]) -> np.ndarray:
    """A map as the format's description has it: the largest weight times (byte / 255) squared."""
    levels = np.frombuffer(zlib.decompress(base64.b64decode(entry["data"])), np.uint8)
    return entry["largest"] * (levels.reshape(entry["shape"]) / 255) ** 2
