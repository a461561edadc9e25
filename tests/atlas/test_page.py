"""The page: what stands in it comes back unchanged, and it asks for nothing."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.atlas.made_up import made_up
from workflow_scripts.atlas.atlas_page import build, fit, main, map_names, policy
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
PAGE = {
    "index.html": """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Attention Atlas</title>
    <link rel="stylesheet" href="style.css">
  </head>
  <body>
    <main id="app"></main>
    <script type="module" src="app.js"></script>
  </body>
</html>
""",
    "app.js": 'import { a } from "./lib/a.js";\nconsole.log(a, "é & <b>");\n',
    "lib/a.js": "export const a = 1;\n",
    "card.css": "b { color: blue; }\n",
    "style.css": "a { background: url(data:image/png;base64,AA==); }",
}


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PAGE.items():
        path = tmp_path / "page" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "page"


def atlas(texts: list[str] = HOSTILE) -> dict:
    return {
        "study": {"name": "</title><b>demo", "seed": 1, "about": texts},
        "segments": [
            {"id": "s", "model": "m", "tokens": texts, "maps": {"pretrained": "m.s"}, "norms": {}}
        ],
        "left_out": [],
        "maps": {"m.s": {"shape": [1, 1, 1, 1], "largest": 1.0, "data": "eJz7DwABAQEA"}},
        "measures": [{"value": [0.1, None, 1e-300]}],
    }


def test_hostile_texts_come_back_unchanged(folder: Path) -> None:
    page = Page(build(atlas(), folder))
    read = json.loads(page.script(id="atlas"))
    expected = atlas()
    del expected["maps"]["m.s"]["data"]
    assert read == expected
    assert page.script(id="map:m.s") == "eJz7DwABAQEA"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_the_data_begins_or_ends_an_element(folder: Path, text: str) -> None:
    plain = [tag for tag, _ in Page(build(atlas(["plain"]), folder)).elements]
    assert [tag for tag, _ in Page(build(atlas([text]), folder)).elements] == plain
    assert plain.count("script") == 3 and plain.count("style") == 1


def test_the_program_stands_before_the_maps(folder: Path) -> None:
    """Else nothing is seen before the browser has read megabytes of them."""
    elements = Page(build(atlas(), folder)).elements
    scripts = [attrs["id"] for tag, attrs in elements if tag == "script"]
    assert scripts == ["atlas", "program", "map:m.s"]


def test_the_title_names_the_study(folder: Path) -> None:
    page = Page(build(atlas(), folder))
    titles = "".join(text for tag, _, text in page.texts if tag == "title")
    assert titles == "</title><b>demo · Attention Atlas"


def test_the_policy_allows_the_one_script_and_no_request(folder: Path) -> None:
    page = Page(build(atlas(), folder))
    metas = [attrs for tag, attrs in page.elements if tag == "meta" and "content" in attrs]
    (given,) = [m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy"]
    script = page.script(id="program")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert given == policy(script)
    assert "default-src 'none'" in given and f"script-src 'sha256-{digest}';" in given
    assert "connect-src" not in given and "unsafe-eval" not in given


def test_nothing_is_loaded_from_elsewhere(folder: Path) -> None:
    page = Page(build(atlas(), folder))
    named = [(tag, key) for tag, attrs in page.elements for key in attrs if key in ("src", "href")]
    assert named == []


def test_style_sheets_stand_in_order(folder: Path) -> None:
    styles = "".join(text for tag, _, text in Page(build(atlas(), folder)).texts if tag == "style")
    assert styles.index("a { background") < styles.index("b { color")


@pytest.mark.parametrize("text", ["</style>", "a { b: url( 'x.png') }", "@import 'x.css';"])
def test_a_style_sheet_that_asks_for_files_is_refused(folder: Path, text: str) -> None:
    (folder / "card.css").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"card\.css: .*would end the style or ask for a file"):
        build(atlas(), folder)


@pytest.mark.parametrize("bad", [{"a b": "AA=="}, {'a"': "AA=="}, {"a": "</script>"}])
def test_a_malformed_map_is_refused(folder: Path, bad: dict) -> None:
    maps = {name: {"shape": [], "largest": 1.0, "data": data} for name, data in bad.items()}
    with pytest.raises(InputError, match="is malformed"):
        build(atlas() | {"maps": maps}, folder)


def test_a_template_without_a_body_is_refused(folder: Path) -> None:
    (folder / "index.html").write_text("<html><head></head></html>", encoding="utf-8")
    with pytest.raises(InputError, match=r"index\.html: </body> must stand there once"):
        build(atlas(), folder)


def test_the_same_data_give_the_same_page(folder: Path) -> None:
    assert build(atlas(), folder) == build(atlas(), folder)


def test_the_built_page_holds_the_data(tmp_path: Path) -> None:
    (tmp_path / "atlas.json").write_text(json.dumps(atlas()), encoding="utf-8")
    main(tmp_path / "atlas.json", tmp_path / "atlas.html")
    page = Page((tmp_path / "atlas.html").read_text(encoding="utf-8"))
    assert json.loads(page.script(id="atlas"))["study"]["about"] == HOSTILE


ROOM = "as the page has at most"


def with_texts(n_models: int = 1) -> dict:
    return made_up(2, 2, n_models=n_models, segments=4, tokens=30, hostile=True)


def test_everything_is_shown_where_there_is_room(folder: Path) -> None:
    content = with_texts()
    assert fit(content, 5, folder) == content


@pytest.mark.parametrize("n_models", [1, 2])
def test_a_page_has_the_texts_it_has_room_for(folder: Path, n_models: int) -> None:
    content = with_texts(n_models)
    whole = len(build(content, folder)) / 1e6
    bare = len(build(content | {"segments": [], "maps": {}}, folder)) / 1e6
    for share in (0.2, 0.4, 0.6, 0.9):
        allowed = bare + share * (whole - bare)
        fitted = fit(content, allowed, folder)
        size = len(build(fitted, folder).encode()) / 1e6
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


def test_room_that_a_small_model_leaves_goes_to_a_larger_one(folder: Path) -> None:
    content = with_texts(2)
    few = [s for s in content["segments"] if s["model"] == "tiny-2"][:1]
    many = [s for s in content["segments"] if s["model"] == "tiny"]
    names = {name for segment in few + many for name in map_names(segment)}
    maps = {name: entry for name, entry in content["maps"].items() if name in names}
    content |= {"segments": few + many, "maps": maps}
    whole = len(build(content, folder)) / 1e6
    bare = len(build(content | {"segments": [], "maps": {}}, folder)) / 1e6
    # In equal parts four texts would not fit; one text of five is a fifth of the room.
    fitted = fit(content, bare + 1.05 * (whole - bare) + 0.003, folder)
    assert fitted["segments"] == few + many


def test_a_large_text_does_not_keep_out_small_ones(folder: Path) -> None:
    content = with_texts()
    large = content["segments"][0]["maps"]["pretrained"]
    content["maps"][large]["data"] = "A" * 1_000_000
    fitted = fit(content, 0.9, folder)
    assert fitted["segments"] == content["segments"][1:]
    assert (
        f"tiny: the maps of 1 of 4 texts ({content['segments'][0]['id']})" in fitted["left_out"][-1]
    )


def test_a_page_that_is_too_large_names_the_key(tmp_path: Path) -> None:
    (tmp_path / "atlas.json").write_text(json.dumps(with_texts()), encoding="utf-8")
    with pytest.raises(InputError, match=r"raise atlas\.megabytes, to 1 or more"):
        main(tmp_path / "atlas.json", tmp_path / "atlas.html", megabytes=0.001)
    assert not (tmp_path / "atlas.html").exists()
