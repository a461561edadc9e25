"""Made-up claims and figures of an atlas, with its hostile texts."""

import base64
import zlib
from typing import Any

from tests.atlas.made_up import HOSTILE

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30" viewBox="0 0 60 30"/>'
RULE = {"rule": "above 50 %", "rule_low": 50.0, "unit": "%"}
CASES = (
    {"verdict": "carries over", "badge": "good", "ours": 61.0, "ci_low": 55.0, "ci_high": 67.0},
    {"verdict": "inconclusive", "badge": "open", "ours": 50.5, "ci_low": 45.0, "ci_high": 56.0},
    {"verdict": "not tested", "badge": "none", "because": "generated data", "ours": 40.0},
    {"verdict": "not run", "badge": "none"},
)


def with_evidence(atlas: dict[str, Any]) -> dict[str, Any]:
    """The atlas with two figures, and three claims about its first model: central, not, central."""
    model = atlas["models"][0]["name"]
    of = {"model": model, "paper": "A & B", "place": "Table 1", "paper_model": "BERT"} | RULE
    of |= {"statement": f"Over half. {HOSTILE[0]}", "later": HOSTILE[1], "paper_value": 58.0}
    of |= {"figures": [f"{model}/a-fig1"], "address": f"#model={model}&view=grid"}
    claims = [
        {**of, **case, "id": "one", "case": f"case {i}", "central": 1, "note": "n = 9 words"}
        for i, case in enumerate(CASES)
    ]
    claims += [{**of, **CASES[0], "id": "two", "central": 0}]
    claims += [{**of, **CASES[0], "id": "three", "central": 2}]
    figures = [
        {
            "id": f"{model}/a-fig{i}",
            "title": f"Figure {i}, {HOSTILE[i]}",
            "model": model,
            "label": "",
            "category": f"Paper {i}",
            "caption": [["", "Points are "], ["emphasis", "heads"], ["literal", HOSTILE[1]]],
            "width": 60,
            "height": 30,
            "files": {"heads.tsv": HOSTILE[0]} if i == 1 else {},
            "data": base64.b64encode(zlib.compress(SVG.encode())).decode(),
        }
        for i in (1, 2)
    ]
    return atlas | {"claims": claims, "figures": figures}
