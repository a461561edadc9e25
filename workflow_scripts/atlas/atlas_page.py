"""The atlas as one page that needs nothing else: no server, no network, no storage."""

import html
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.atlas.evidence import Row, claims_of, figures_of, judged, rows_of
from workflow_scripts.atlas.findings import chosen
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.shown_claims import fragment
from workflow_scripts.core.run import job
from workflow_scripts.core.run.files import json_in_script, script_digest

PAGE = Path(__file__).parent / "page"
# The forms in which modules of the page import and export; those of others end in a list.
IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.M)
EXPORTS = re.compile(r"\bexport\{([^}]*)\};\s*\Z")
AS = re.compile(r"(\w+) as (\w+)")
MEGABYTE = 1_000_000
# Bytes, at most, of a map's element apart from its data, and of a sentence on a text left out.
ELEMENT, SENTENCE = 200, 200


def build(atlas: Mapping[str, Any]) -> str:
    """The page that shows `atlas`."""
    template = (PAGE / "index.html").read_text(encoding="utf-8")
    script = bundle(PAGE / "app.js")
    data, held = split(atlas)
    title = html.escape(f"{atlas['study']['name']} · Attention Atlas")
    head = [
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">',
        f"<style>\n{styles()}</style>",
    ]
    body = [
        f'<script type="application/json" id="atlas">{json_in_script(data)}</script>',
        # Before the maps and not deferred, so that the page is seen while they are still read.
        f'<script id="program">{script}</script>',
        *elements(held),
    ]
    page = re.sub("<title>[^<]*</title>", lambda _: f"<title>{title}</title>", template)
    return _insert(_insert(page, "</head>", head), "</body>", body)


def bundle(start: Path) -> str:
    """The module `start` and all that it imports, as one script, with the licences of others.

    Each module runs in a function of its own, after those that it imports.
    """
    numbers: dict[Path, int] = {}
    parts: list[str] = []

    def add(path: Path) -> None:
        code, taken = path.read_text(encoding="utf-8"), []
        for names, source in IMPORT.findall(code):
            module = (path.parent / source).resolve()
            if module not in numbers:
                add(module)
            taken.append(f"const {names} = module{numbers[module]};")
        given = [f"{name}: {name}" for name in EXPORT.findall(code)]
        for inside, outside in AS.findall("".join(EXPORTS.findall(code))):
            given.append(f"{outside}: {inside}")
        for statement in (IMPORT, EXPORT, EXPORTS):
            code = statement.sub("", code)
        numbers[path] = len(numbers)
        parts.append(f"// {path.relative_to(start.parent).as_posix()}")
        parts.extend([f"const module{numbers[path]} = (() => {{", *taken, code.strip("\n")])
        parts.extend([f"return {{ {', '.join(given)} }};", "})();"])

    add(start)
    licences = sorted({file for each in numbers for file in each.parent.glob("LICENSE*")})
    texts = [f"/*\n{file.read_text(encoding='utf-8').strip()}\n*/" for file in licences]
    return "\n".join([*texts, '"use strict";', *parts]) + "\n"


def styles() -> str:
    """All style sheets of the page, style.css first and print.css, which changes others, last."""
    place = {"style.css": 0, "print.css": 2}
    paths = sorted(PAGE.rglob("*.css"), key=lambda path: (place.get(path.name, 1), path))
    return "".join(path.read_text(encoding="utf-8").rstrip("\n") + "\n" for path in paths)


def split(atlas: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The atlas without the data of its maps and figures, and that data by their elements' ids."""
    maps, figures = atlas["maps"], atlas.get("figures", [])
    held = [(f"map:{name}", entry["data"]) for name, entry in maps.items()]
    held += [(f"figure:{figure['id']}", figure["data"]) for figure in figures]
    about = {**atlas, "maps": {name: _without_data(entry) for name, entry in maps.items()}}
    if figures:
        about["figures"] = [_without_data(figure) for figure in figures]
    return about, held


def _without_data(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "data"}


def elements(held: Iterable[tuple[str, str]]) -> list[str]:
    """The elements that hold the data of maps and figures, by their ids."""
    tag = '<script type="text/plain" id="{}">{}</script>'
    return [tag.format(html.escape(name), text) for name, text in held]


def policy(script: str) -> str:
    """The page's content policy: no request at all, and no script but this one."""
    allowed = f"script-src 'sha256-{script_digest(script)}'; style-src 'unsafe-inline'"
    allowed += "; img-src data: blob:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _insert(page: str, before: str, lines: list[str]) -> str:
    start, end = page.split(before)
    return "\n".join([start.rstrip("\n"), *lines, before]) + end


def fit(atlas: dict[str, Any], megabytes: float) -> dict[str, Any]:
    """The atlas with as many of its texts as a page of `megabytes` has room for.

    Models have equal parts of the room, and what small ones leave goes to the larger; a model's
    texts come in their order, the most wanted first, and one that does not fit is left out with its
    maps, which the atlas then reports. Raises InputError where even a page without maps is larger.
    """
    without = atlas | {"segments": [], "maps": {}}
    messages = sum(len(json_in_script(segment["id"])) + SENTENCE for segment in atlas["segments"])
    room = MEGABYTE * megabytes - len(build(without).encode()) - messages
    if room < 0:
        raise InputError(
            f"atlas.html would be larger than {megabytes:g} MB without a single map: raise "
            f"atlas.megabytes, to {math.ceil(megabytes - room / MEGABYTE)} or more"
        )
    sizes: dict[str, dict[str, int]] = {}  # of the texts of each model and their maps, at most
    for segment in atlas["segments"]:
        entries = {name: atlas["maps"][name] for name in map_names(segment)}
        size = len(json_in_script(segment)) + len(json_in_script(entries)) + ELEMENT * len(entries)
        sizes.setdefault(segment["model"], {})[segment["id"]] = size
    fitting = set()
    smallest_first = sorted(sizes, key=lambda model: sum(sizes[model].values()))
    for n_left, model in zip(range(len(sizes), 0, -1), smallest_first, strict=True):
        part = room / n_left
        for name, size in sizes[model].items():
            if size <= part:
                part, room = part - size, room - size
                fitting.add((model, name))
    kept = [each for each in atlas["segments"] if (each["model"], each["id"]) in fitting]
    names = {name for segment in kept for name in map_names(segment)}
    return atlas | {
        "segments": kept,
        "maps": {name: entry for name, entry in atlas["maps"].items() if name in names},
        "left_out": atlas["left_out"] + _left_out(atlas["segments"], kept, megabytes),
    }


def _left_out(
    wanted: list[dict[str, Any]], kept: list[dict[str, Any]], megabytes: float
) -> list[str]:
    sentences = []
    for model in dict.fromkeys(segment["model"] for segment in wanted):
        ids = [segment["id"] for segment in wanted if segment["model"] == model]
        there = [segment["id"] for segment in kept if segment["model"] == model]
        if gone := [name for name in ids if name not in there]:
            sentences.append(
                f"{model}: the maps of {len(gone)} of {len(ids)} texts ({', '.join(gone)}), as the "
                f"page has at most {megabytes:g} MB (atlas.megabytes); atlas.json has them."
            )
    return sentences


def map_names(segment: dict[str, Any]) -> list[str]:
    """The ids of a text's maps; a translator's have one for each type of attention."""
    maps = segment["maps"].values()
    return [name for each in maps for name in ([each] if isinstance(each, str) else each.values())]


def findings_of(
    atlas: Mapping[str, Any],
    models: Mapping[str, Iterable[tuple[Row, Row]]],
    published: Mapping[str, Row],
    printed: Iterable[Path],
    origins: Mapping[str, str],
) -> list[dict[str, str]]:
    """The findings of each model that a view of the atlas shows, with the view's address.

    `models` are the judged claims of each with their cases, `published` the claims' own rows by
    their ids; `printed` are tables that findings may rest on.
    """
    found = []
    for model in (each["name"] for each in atlas["models"]):
        own = {path.stem: rows_of(path) for path in printed if path.parents[1].name == model}
        of = {(row["id"], row["case"]): case for row, case in models.get(model, [])}
        for finding in chosen([row for row, _ in models.get(model, [])], own, origins):
            view = finding.view or published.get(finding.claim, {"view": ""})["view"]
            case = of.get((finding.claim, finding.case), {"task": "", "run": ""})
            shown = (atlas["measures"], atlas["figures"])
            if view and (address := fragment(view, case, model, *shown)):
                parts = {"model": model, "sentence": finding.sentence, "numbers": finding.numbers}
                found.append(parts | {"verdict": finding.verdict, "address": address})
    return found


def main(
    atlas: Path,
    page: job.Out,
    megabytes: float = 20,
    file: str = "",
    about: str = "",
    claims: list[Path] = (),
    cases: list[Path] = (),
    published: list[Path] = (),
    printed: list[Path] = (),
    figures: list[Path] = (),
    listed: list[dict[str, str]] = (),
    lists: list[Path] = (),
    origins: dict | None = None,
) -> None:
    """Write the page; `file` is the study's, which the page's commands name, `about` its words.

    `claims` are the models' tables of claims, and `cases` what their rows are of, in the same
    order; `listed` states of each of the `figures` what it is. The others are as `findings_of`,
    `claims_of` and `figures_of` read them.
    """
    content = json.loads(atlas.read_text(encoding="utf-8"))
    content["study"] |= {"file": file} if file else {}
    content["study"]["about"] = [*filter(None, [about]), *content["study"]["about"]]
    behind = {row["id"]: row for path in published for row in rows_of(path)}
    translators = [model["name"] for model in content["models"] if "types" in model]
    models = judged(claims, cases, behind, translators)
    content["figures"] = figures_of(figures, listed, lists)
    content["findings"] = findings_of(content, models, behind, printed, origins or {})
    content["claims"] = claims_of(models, behind, content["figures"], content["measures"])
    page.write_text(build(fit(content, megabytes)), encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
