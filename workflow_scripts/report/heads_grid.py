"""The grid of heads on the front page, by the kinds that the atlas has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workflow_scripts.core.plots.colours import BLACK, HEADS, WHITE

KIND = "behaviour.stratum"  # the atlas's measure


@dataclass(frozen=True)
class Kind:
    """A kind of head: its name, mark and colour in the grid, its number of heads, its data."""

    name: str
    mark: str  # the atlas's: the first letter of a word that no other kind begins with
    colour: str
    n: int
    note: str | None = None  # of data that are not real

    @property
    def ink(self) -> str:
        """Black or white, whichever is read on the colour."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return BLACK if 0.299 * red + 0.587 * green + 0.114 * blue > 100 else WHITE


@dataclass(frozen=True)
class Grid:
    """The heads of a model, layer by layer, each as a number of `kinds` (None for none)."""

    model: str
    about: str
    kinds: list[Kind]
    layers: list[list[int | None]]


def grids(atlas: Mapping[str, Any]) -> list[Grid]:
    """A grid for each model of the atlas whose heads have kinds."""
    n_heads = {model["name"]: model["n_heads"] for model in atlas["models"]}
    found = []
    for measure in atlas["measures"]:
        if measure["id"] != KIND:
            continue
        values, n = measure["value"], n_heads[measure["model"]]
        kinds = []
        for i, name in enumerate(measure["categories"]):
            taken = {other[0] for other in measure["categories"] if other != name}
            mark = next((word[0] for word in name.split() if word[0] not in taken), name[0])
            note = notes[i] if (notes := measure.get("category_notes")) else None
            kinds.append(Kind(name, mark, HEADS[name].colour, values.count(i), note))
        layers = [values[start : start + n] for start in range(0, len(values), n)]
        found.append(Grid(measure["model"], measure["about"], kinds, layers))
    return found
