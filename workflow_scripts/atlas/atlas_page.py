"""The atlas as one page that needs nothing else: no server, no network, no storage.

The page's files (`page/`) and the data become one HTML file. Its content policy forbids every
request, and allows the one script by its digest.
"""

import html
import json
import math
import re
from pathlib import Path
from typing import Any

from workflow_scripts.atlas.bundle import PAGE, bundle
from workflow_scripts.core.data.inline import as_script, digest
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

# What index.html names for work on the page itself; the built page holds it inline.
LINKED = re.compile(
    r'[^\S\n]*<link rel="stylesheet"[^>]*>\n?|[^\S\n]*<script[^>]*src=[^>]*></script>\n?'
)
ID = re.compile(r"[A-Za-z0-9._-]+")
BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
MEGABYTE = 1_000_000
# Bytes, at most, of a map's element apart from its data, and of a sentence on a text left out.
ELEMENT, SENTENCE = 200, 200


def build(atlas: dict[str, Any], folder: Path = PAGE) -> str:
    """The page that shows `atlas`, from the files of `folder`.

    Raises InputError where a file of the page cannot be used, or a map's id or data is malformed.
    """
    template = LINKED.sub("", _read(folder / "index.html"))
    script = bundle(folder / "app.js", folder)
    data, maps = split(atlas)
    title = html.escape(f"{atlas['study']['name']} · Attention Atlas")
    head = [
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">',
        f"<style>\n{styles(folder)}</style>",
    ]
    body = [
        f'<script type="application/json" id="atlas">{as_script(data)}</script>',
        # Before the maps and not deferred, so that the page is seen while they are still read.
        f'<script id="program">{script}</script>',
        *(f'<script type="text/plain" id="map:{name}">{text}</script>' for name, text in maps),
    ]
    page = re.sub("<title>[^<]*</title>", lambda _: f"<title>{title}</title>", template)
    page = _insert(page, "</head>", head, folder)
    return _insert(page, "</body>", body, folder)


def split(atlas: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The atlas without the data of its maps, and that data by the maps' ids."""
    about, data = {}, []
    for name, entry in atlas["maps"].items():
        if not ID.fullmatch(name) or not BASE64.fullmatch(entry["data"]):
            raise InputError(f"atlas.json: map {name[:60]!r} is malformed; delete it and run again")
        about[name] = {key: value for key, value in entry.items() if key != "data"}
        data.append((name, entry["data"]))
    return atlas | {"maps": about}, data


def policy(script: str) -> str:
    """The page's content policy: no request at all, and no script but this one."""
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest(script)}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def styles(folder: Path) -> str:
    """All style sheets of the page, style.css first and print.css, which changes others, last."""
    place = {"style.css": 0, "print.css": 2}
    paths = sorted(folder.rglob("*.css"), key=lambda path: (place.get(path.name, 1), path))
    texts = [_read(path) for path in paths]
    for path, text in zip(paths, texts, strict=True):
        if match := re.search(r"</style|url\(\s*[\"']?(?!data:)|@import", text, re.I):
            raise InputError(f"{path}: {match[0]!r} would end the style or ask for a file; drop it")
    return "".join(text.rstrip("\n") + "\n" for text in texts)


def _insert(page: str, before: str, lines: list[str], folder: Path) -> str:
    if page.count(before) != 1:
        raise InputError(f"{folder / 'index.html'}: {before} must stand there once")
    start, end = page.split(before)
    return "\n".join([start.rstrip("\n"), *lines, before]) + end


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error}); restore it") from error


def fit(atlas: dict[str, Any], megabytes: float, folder: Path = PAGE) -> dict[str, Any]:
    """The atlas with as many of its texts as a page of `megabytes` has room for.

    Models have equal parts of the room, and what small ones leave goes to the larger; a model's
    texts come in their order, the most wanted first, and one that does not fit is left out with its
    maps, which the atlas then reports. Raises InputError where even a page without maps is larger.
    """
    without = atlas | {"segments": [], "maps": {}}
    messages = sum(len(as_script(segment["id"])) + SENTENCE for segment in atlas["segments"])
    room = MEGABYTE * megabytes - len(build(without, folder).encode()) - messages
    if room < 0:
        raise InputError(
            f"atlas.html would be larger than {megabytes:g} MB without a single map: raise "
            f"atlas.megabytes, to {math.ceil(megabytes - room / MEGABYTE)} or more"
        )
    sizes: dict[str, dict[str, int]] = {}  # of the texts of each model
    for segment in atlas["segments"]:
        size = size_of(segment, atlas["maps"])
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
    """The page's message on the texts that it has no room for, a sentence for each model."""
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


def size_of(segment: dict[str, Any], maps: dict[str, Any]) -> int:
    """Bytes of a text and its maps on the page, at most."""
    entries = {name: maps[name] for name in map_names(segment)}
    return len(as_script(segment)) + len(as_script(entries)) + ELEMENT * len(entries)


def map_names(segment: dict[str, Any]) -> list[str]:
    """The ids of a text's maps and norms; a translator's have one for each type of attention."""
    maps = segment["maps"].values()
    of_types = [
        name for each in maps for name in ([each] if isinstance(each, str) else each.values())
    ]
    return [*of_types, *segment["norms"].values()]


def main(atlas: Path, page: Out, megabytes: float = 20) -> None:
    """Write the page."""
    content = json.loads(atlas.read_text(encoding="utf-8"))
    page.write_text(build(fit(content, megabytes)), encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
