"""The bundler: what a script of several modules gives, and what it refuses."""

import json
import subprocess
from pathlib import Path
from shutil import which

import pytest

from workflow_scripts.atlas.bundle import PAGE, bundle
from workflow_scripts.core.errors import InputError

NODE = which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

MODULES = {
    "app.js": """// The start.
import { shout, Word } from "./lib/words.js";
import {
  twice,
  LIMIT,
} from "./lib/numbers.js";
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
    "vendor/small.js": "var n=function(e){return e+1};export{n as h};\n//# sourceMappingURL=a.map",
}


def write(folder: Path, modules: dict[str, str]) -> Path:
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "app.js"


def run(path: Path) -> list:
    done = subprocess.run([NODE, path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@needs_node
def test_a_bundle_does_what_its_modules_do(tmp_path: Path) -> None:
    start = write(tmp_path, MODULES)
    write(tmp_path, {"package.json": '{"type": "module"}'})
    bundled = tmp_path / "bundled.js"
    bundled.write_text(bundle(start, tmp_path), encoding="utf-8")
    assert run(start) == run(bundled) == ["A2words", 8, 3, "b", 2, "app"]


def test_each_module_stands_once_and_after_what_it_imports(tmp_path: Path) -> None:
    text = bundle(write(tmp_path, MODULES), tmp_path)
    names = [line[3:] for line in text.splitlines() if line.startswith("// ") and "." in line]
    assert [name for name in names if name in MODULES] == [
        "lib/numbers.js",
        "lib/words.js",
        "vendor/small.js",
        "app.js",
    ]
    assert text == bundle(tmp_path / "app.js", tmp_path)
    assert "sourceMappingURL" not in text


def test_licences_of_bundled_modules_come_along(tmp_path: Path) -> None:
    write(tmp_path, {"vendor/LICENSE.small": "Small's licence.\n", "other/LICENSE": "Unused."})
    text = bundle(write(tmp_path, MODULES), tmp_path)
    assert text.startswith("/*\nSmall's licence.\n*/\n") and "Unused" not in text


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('import small from "./vendor/small.js";', "not: import small"),
        ('import * as words from "./lib/words.js";', r"not: import \*"),
        ('import { shout as loud } from "./lib/words.js";', "not: import { shout as loud }"),
        ('import "./lib/words.js";', "not: import"),
        ('import { shout } from "preact";', "not: import { shout }"),
        ("import { shout } from './lib/words.js';", "not: import { shout }"),
        ('  import { shout } from "./lib/words.js";', "not: import { shout }"),
        ('const words = await import("./lib/words.js");', "not: const words"),
        ("const here = import.meta.url;", "not: const here"),
        ("export default 1;", "not: export default"),
        ("export let changing = 1;", "not: export let"),
        ("export const { a } = {};", "not: export const {"),
        ('export { shout } from "./lib/words.js";', "not: export { shout }"),
        ('export * from "./lib/words.js";', r"not: export \*"),
        ('import { whisper } from "./lib/words.js";', "words.js exports no whisper"),
        ('import { hidden } from "./lib/words.js";', "words.js exports no hidden"),
        ('import { a } from "./lib/gone.js";', "there is no file ./lib/gone.js"),
        ('import { a } from "../outside.js";', "../outside.js lies outside"),
        ('import { a } from "./lib/../../outside.js";', "lies outside"),
        ('const end = "</script>";', "</script would end the script element"),
        ('const end = "</SCRIPT>";', "would end the script element"),
        ('const comment = "<!-- hidden";', "<!-- would end"),
    ],
)
def test_what_is_refused_is_named_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    write(tmp_path, {"outside.js": "export const a = 1;\n"})
    folder = tmp_path / "page"
    start = write(folder, MODULES | {"app.js": f"// one\n// two\n{line}\nconst last = 1;\n"})
    with pytest.raises(InputError, match=rf"app\.js:3: .*{why}"):
        bundle(start, folder)


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    modules = {
        "app.js": 'import { a } from "./a.js";\n',
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;\n',
        "b.js": '\nimport { a } from "./a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(InputError, match=r"b\.js:2: .*app\.js -> a\.js -> b\.js -> a\.js"):
        bundle(write(tmp_path, modules), tmp_path)


def test_a_module_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_bytes(b"const a = '\xff';\n")
    with pytest.raises(InputError, match=r"app\.js: cannot be read as UTF-8"):
        bundle(tmp_path / "app.js", tmp_path)


@needs_node
def test_the_bundle_of_the_page_is_a_script(tmp_path: Path) -> None:
    bundled = tmp_path / "bundled.mjs"
    bundled.write_text(bundle(PAGE / "app.js"), encoding="utf-8")
    subprocess.run([NODE, "--check", bundled], check=True)
