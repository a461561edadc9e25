"""The grid of heads shows the atlas's kinds, each in its own letter and colour."""

from workflow_scripts.ablation import measures
from workflow_scripts.core.plots.colours import HEADS
from workflow_scripts.report.heads_grid import KIND, grids


def test_a_grid() -> None:
    kinds = ["syntactic", "special tokens", "other"]
    measure = {"id": KIND, "model": "m", "about": "The first that applies."}
    measure |= {"categories": kinds, "value": [0, 2, 1, 0, None, 2]}
    other = {"id": "entropy", "model": "m", "value": [1.0] * 6}
    models = [{"name": "m", "n_heads": 3}, {"name": "t", "n_heads": 4}]
    (grid,) = grids({"models": models, "measures": [other, measure]})
    assert grid.model == "m"
    assert grid.layers == [[0, 2, 1], [0, None, 2]]
    assert [(kind.mark, kind.n) for kind in grid.kinds] == [("s", 2), ("t", 1), ("o", 2)]
    assert [kind.colour for kind in grid.kinds] == [HEADS[name].colour for name in kinds]


def test_every_kind_of_head_has_a_colour() -> None:
    """Also on the atlas's page, whose NAMED tests/atlas/test_ramps.py holds to these colours."""
    assert set(measures.HEADS.categories) == set(HEADS)


def test_letters_can_be_read_on_every_colour() -> None:
    """By WCAG's contrast of 4.5 for text."""
    names = list(HEADS)
    measure = {"id": KIND, "model": "m", "about": "", "categories": names, "value": [0]}
    (grid,) = grids({"models": [{"name": "m", "n_heads": 1}], "measures": [measure]})
    assert len({kind.mark for kind in grid.kinds}) == len(names)
    for kind in grid.kinds:
        light, dark = sorted((luminance(kind.colour), luminance(kind.ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, kind.name


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
