"""Every number on the page is the one of atlas.json."""

import yaml

from tests.default_study import ROOT
from tests.web.conftest import Opener, Study
from tests.web.expected import hatched, head_name, sentence
from tests.web.page import cells, go

DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def test_the_grid_has_every_number_of_every_measure(study: Study, show: Opener) -> None:
    """Value, unit, label, interval, rank and n of each head, as a screen reader reads them out."""
    page = show(study)
    for model in study.atlas["models"]:
        heads = [head_name(model, index) for index in range(model["n_layers"] * model["n_heads"])]
        measures = study.measures(model["name"])
        assert measures
        for measure in measures:
            go(page, f"model={model['name']}&measure={measure['id']}")
            found = cells(page)
            assert found.keys() == set(heads)
            for index, head in enumerate(heads):
                assert found[head]["label"] == sentence(model, measure, index), measure["id"]
                assert found[head]["hatched"] == hatched(measure, index), (measure["id"], head)


def test_the_page_holds_what_the_file_holds(demo: Study, show: Opener) -> None:
    """Maps, too: each stands in a script of its own."""
    page = show(demo)
    read = "document.getElementById('atlas').textContent"
    inside = page.evaluate(f"JSON.parse({read})")
    for name, entry in inside["maps"].items():
        entry["data"] = page.evaluate(f"document.getElementById('map:{name}').textContent")
    assert all(inside.pop(name) for name in ("findings", "claims", "figures"))
    assert inside["study"]["about"].pop(0) == DEFAULT["report"]["about"]
    assert inside["study"].pop("file") == "config.yaml"  # which its line to copy names
    assert inside == demo.atlas
