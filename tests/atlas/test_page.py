"""The page: what stands in it comes back unchanged, and it asks for nothing."""

import base64
import hashlib
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import pandas as pd
import pytest

from tests.atlas.made_up import made_up
from workflow_scripts.atlas.atlas_page import (
    PAGE,
    build,
    bundle,
    findings_of,
    fit,
    main,
    map_names,
)
from workflow_scripts.core.errors import InputError

HOSTILE = [
    "</script><script>alert(1)</script>",
    "</SCRIPT >",
    "<!-- <script>",
    "]]> &lt; &amp; &#60;",
    "quotes \" ' ` \\ \\u003c \\",
    "line\u2028and\u2029paragraph\r\n\t\0\x7f",
    "\u202eright to left\u200f \u2066",
    "half a pair \ud83d or \ude00",
    "漢字 🙂 e\u0301",
]
# Modules in every form that the page's have, and one of others with its licence.
MODULES = {
    "app.js": """// The start.
import { shout, Word } from "./lib/words.js";
import { twice, LIMIT } from "./lib/numbers.js";
import { h } from "./vendor/small.js";

const hidden = "app";
console.log(JSON.stringify([shout("a"), twice(4), LIMIT, new Word("b").text, h(1), hidden]));
""",
    "lib/words.js": """import { twice } from "./numbers.js";

const hidden = "words";

/** States it loudly: export function is no statement within a comment. */
export function shout(text) {
  return `${text.toUpperCase()}${twice(1)}${hidden}`;
}

export class Word {
  constructor(text) {
    this.text = text;
  }
}

export async function later() {
  return hidden;
}
""",
    "lib/numbers.js": """export const LIMIT = 3;
const hidden = "numbers";
export const twice = (x) => (hidden ? 2 * x : 0);
""",
    "vendor/small.js": "var n=function(e){return e+1};export{n as h};\n",
    "vendor/LICENSE.small": "Small's licence.\n",
    "other/LICENSE": "Unused.",
    "package.json": '{"type": "module"}',
}
NODE = which("node")


class Page(HTMLParser):
    """Elements with their attributes, and the text of scripts and styles, as a browser reads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.inside: tuple[str, dict] | None = None
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[tuple[str, dict, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.inside = (tag, dict(attrs))
        self.elements.append(self.inside)

    def handle_endtag(self, tag: str) -> None:
        self.inside = None

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.texts.append((*self.inside, data))

    def script(self, **attributes: str) -> str:
        return "".join(
            text
            for tag, attrs, text in self.texts
            if tag == "script" and attributes.items() <= attrs.items()
        )


def atlas(texts: list[str] = HOSTILE) -> dict:
    return {
        "study": {"name": "</title><b>demo", "seed": 1, "about": texts},
        "segments": [{"id": "s", "model": "m", "tokens": texts, "maps": {"pretrained": "m.s"}}],
        "left_out": [],
        "maps": {"m.s": {"shape": [1, 1, 1, 1], "largest": 1.0, "data": "eJz7DwABAQEA"}},
        "measures": [{"value": [0.1, None, 1e-300]}],
    }


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_bundle_does_what_its_modules_do(tmp_path: Path) -> None:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    text = bundle(tmp_path / "app.js")
    (tmp_path / "bundled.js").write_text(text, encoding="utf-8")
    said = [
        json.loads(subprocess.run([NODE, tmp_path / name], capture_output=True, check=True).stdout)
        for name in ("app.js", "bundled.js")
    ]
    assert said == [["A2words", 8, 3, "b", 2, "app"]] * 2
    assert text.startswith("/*\nSmall's licence.\n*/\n") and "Unused" not in text


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_bundle_of_the_page_is_a_script_that_ends_no_element(tmp_path: Path) -> None:
    text = bundle(PAGE / "app.js")
    (tmp_path / "bundled.cjs").write_text(text, encoding="utf-8")
    subprocess.run([NODE, "--check", tmp_path / "bundled.cjs"], check=True)
    assert not re.search("</script|<!--", text, re.I)


def test_hostile_texts_come_back_unchanged() -> None:
    page = Page(build(atlas()))
    expected = atlas()
    del expected["maps"]["m.s"]["data"]
    assert json.loads(page.script(id="atlas")) == expected
    assert page.script(id="map:m.s") == "eJz7DwABAQEA"
    titles = "".join(text for tag, _, text in page.texts if tag == "title")
    assert titles == "</title><b>demo · Attention Atlas"
    plain = [tag for tag, _ in Page(build(atlas(["plain"]))).elements]
    assert [tag for tag, _ in page.elements] == plain


def test_the_program_stands_before_the_maps() -> None:
    """Else nothing is seen before the browser has read megabytes of them."""
    scripts = [attrs["id"] for tag, attrs in Page(build(atlas())).elements if tag == "script"]
    assert scripts == ["atlas", "program", "map:m.s"]


def test_the_policy_allows_the_one_script_and_no_request() -> None:
    page = Page(build(atlas()))
    metas = [attrs for tag, attrs in page.elements if tag == "meta" and "content" in attrs]
    (given,) = [m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy"]
    script = page.script(id="program")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in given and f"script-src 'sha256-{digest}';" in given
    assert "connect-src" not in given and "unsafe-eval" not in given
    linked = [attrs for _, attrs in page.elements if attrs.keys() & {"src", "href"}]
    assert linked == [{"rel": "icon", "href": "data:,"}]


ROOM = "as the page has at most"


def with_texts(n_models: int = 1) -> dict:
    return made_up(2, 2, n_models=n_models, segments=4, tokens=30, hostile=True)


@pytest.mark.parametrize("n_models", [1, 2])
def test_a_page_has_the_texts_it_has_room_for(n_models: int) -> None:
    content = with_texts(n_models)
    assert fit(content, 5) == content
    whole = len(build(content)) / 1e6
    bare = len(build(content | {"segments": [], "maps": {}})) / 1e6
    for share in (0.2, 0.4, 0.6, 0.9):
        allowed = bare + share * (whole - bare)
        fitted = fit(content, allowed)
        size = len(build(fitted).encode()) / 1e6
        n = len(fitted["segments"])
        assert size <= allowed and n < 4 * n_models
        # Room is left for at most what one text of each model takes, and for the messages.
        assert size > allowed - n_models * ((whole - bare) / 4 / n_models * 1.2 + 0.0025)
        per_model = [
            sum(s["model"] == m["name"] for s in fitted["segments"]) for m in fitted["models"]
        ]
        assert max(per_model) - min(per_model) <= 1
        first = [s for s in content["segments"] if s["model"] == "tiny"][: per_model[0]]
        assert [s for s in fitted["segments"] if s["model"] == "tiny"] == first
        used = {name for s in fitted["segments"] for name in map_names(s)}
        assert set(fitted["maps"]) == used
        messages = " ".join(sentence for sentence in fitted["left_out"] if ROOM in sentence)
        left = [s["id"] for s in content["segments"] if s not in fitted["segments"]]
        assert all(name in messages for name in left)


def test_a_large_text_does_not_keep_out_small_ones() -> None:
    content = with_texts()
    large = content["segments"][0]["maps"]["pretrained"]
    content["maps"][large]["data"] = "A" * 1_000_000
    fitted = fit(content, 0.9)
    assert fitted["segments"] == content["segments"][1:]
    assert (
        f"tiny: the maps of 1 of 4 texts ({content['segments'][0]['id']})" in fitted["left_out"][-1]
    )


def test_a_page_that_is_too_large_names_the_key(tmp_path: Path) -> None:
    (tmp_path / "atlas.json").write_text(json.dumps(with_texts()), encoding="utf-8")
    with pytest.raises(InputError, match=r"raise atlas\.megabytes, to 1 or more"):
        main(tmp_path / "atlas.json", tmp_path / "atlas.html", megabytes=0.001)
    assert not (tmp_path / "atlas.html").exists()


def test_findings_lead_to_the_views_that_the_atlas_has(tmp_path: Path) -> None:
    """Of a claim without a measure in the atlas there is none; a table's needs no claims."""
    row = {"case": "SST-2", "ours": "2", "ci_low": "1", "ci_high": "3", "unit": "points"}
    row |= dict.fromkeys(("interval", "n", "n_of", "seeds", "about"), "")
    names = ["kovaleva-last-layers", "michel-prune-40"]
    rows = [row | {"id": name, "verdict": "carries over"} for name in names]
    views = ["measure=similarity.{task}.*", "measure=importance.{task}.*"]
    published = {name: {"view": view} for name, view in zip(names, views, strict=True)}
    position = {"target": ["next"], "head": ["1-2"], "attention": [0.9], "n": [5]}
    position |= {"ci_low": [0.8], "ci_high": [0.95]}
    printed = tmp_path / "m" / "tables" / "clark2019-position.csv"
    printed.parent.mkdir(parents=True)
    pd.DataFrame(position).to_csv(printed, index=False)
    atlas = {"models": [{"name": "m"}], "figures": []}
    atlas["measures"] = [{"model": "m", "id": "similarity.sst2.1"}]
    models = {"m": [(each, {"task": "sst2", "run": ""}) for each in rows]}
    found = findings_of(atlas, models, published, [printed], {})
    addresses = ["#model=m&view=head&head=1-2", "#model=m&measure=similarity.sst2.1"]
    assert [finding["address"] for finding in found] == addresses
    assert [finding["verdict"] for finding in found] == ["", "carries over"]
    alone = findings_of(atlas, {}, {}, [printed], {})
    assert [finding["address"] for finding in alone] == addresses[:1]
    assert findings_of(atlas, {}, {}, [printed], {"text": "generated"}) == []
