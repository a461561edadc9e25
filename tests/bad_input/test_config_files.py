"""Files of a study that YAML, or Snakemake, would misread: one line with file and line."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_args

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.config import check_checkout
from workflow_scripts.core.run.config_files import check_files

ROOT = Path(__file__).parents[2]
STUDY = "study: s\nmodels: {tiny: {path: p}}\n"
LEVELS = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 10)]
REFUSED = {
    "UTF-16": (STUDY.encode("utf-16"), ":1: not UTF-8"),
    "Latin-1": (f"{STUDY}# caf\xe9\n".encode("latin-1"), ":3: not UTF-8"),
    "a control character": (f"{STUDY}a: \x01\n", ":3: a control character"),
    "a tab": (f"{STUDY}corpora:\n\ttext: {{}}\n", ":4: not YAML: .*'\\\\t'"),
    "open brackets": (f"{STUDY}a: [1\nb: }}\n", ":4: not YAML: "),
    "two documents": (f"{STUDY}---\nstudy: t\n", ":3: not YAML: .*single document"),
    "a list": ("- a\n", ": no mapping"),
    "nothing": ("", ": no mapping"),
    "a name of Python's": (f"{STUDY}a: !!python/name:os.system\n", ":3: the tag .*os.system"),
    "a call of Python's": (f"{STUDY}a: !!python/object/apply:os.system [ls]\n", ":3: the tag "),
    "a tag of somebody's": (f"{STUDY}a: !mine b\n", ":3: the tag !mine"),
    "bytes": (f"{STUDY}a: !!binary aGk=\n", ":3: the tag "),
    "a template": (f"{STUDY}__use_yte__: true\n", ":3: __use_yte__: no templates"),
    "an octal number": (f"{STUDY}seed: 010\n", ":3: 010: .*decimal digits"),
    "a hexadecimal number": (f"{STUDY}seed: 0x1F\n", ":3: 0x1F: "),
    "a sexagesimal number": (f"{STUDY}seed: 1:30\n", ":3: 1:30: "),
    "a sexagesimal decimal": (f"{STUDY}seed: 1:30.5\n", ":3: 1:30.5: "),
    "digits in groups": (f"{STUDY}seed: 1_000\n", ":3: 1_000: "),
    "an exponent without a point": (
        f"{STUDY}a: 5e-5\n",
        ":3: 5e-5: .* write 0.00005 or use quotes",
    ),
    "an infinite number": (f"{STUDY}seed: .inf\n", ":3: .inf: .*a decimal number"),
    "a date": (f"{STUDY}about: 2024-01-01\n", ":3: 2024-01-01: a date"),
    "a name that is a truth": ("study: no\n", ":1: no: .*true or false"),
    "a key that is a truth": ("models:\n  on: {path: p}\n", ":2: on: "),
    "aliases of aliases": (f"{STUDY}a0: &a0 x\n{''.join(LEVELS)}", ":9: more than 100000 values"),
    "merged aliases": (
        f"{STUDY}a0: &a0 {{b: x}}\n{''.join(LEVELS).replace('[', '{<<: [').replace(']', ']}')}",
        ":8: more than 100000 values",
    ),
    "a list that contains itself": (f"{STUDY}a: &a [1, *a]\n", ":3: more than 100000 values"),
    "a key twice": ("study: a\nstudy: b\n", ":2: study: a second time; remove one"),
    "a key below twice": ("a:\n  b: 1\n  c: 2\n  b: 3\n", ":4: b: a second time; remove one"),
    "a key in a list twice": ("a: [{b: 1, b: 2}]\n", ":1: b: a second time; remove one"),
    "a key of JSON twice": ('{"study": "a", "study": "b"}', ":1: study: a second time"),
}


@pytest.mark.parametrize(("content", "words"), REFUSED.values(), ids=REFUSED)
def test_what_would_be_misread_is_one_line(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"^{path}{words}") as error:
        check_files([path])
    assert "\n" not in str(error.value)


def test_what_is_read_as_written_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"{STUDY}a: [10, -1, 0.5, 1.e-3, true, ~, null, '010', \"no\", '1e-5', x:y]\n")
    json = tmp_path / "study.json"
    json.write_text('{\n\t"a": [1e-05, null, true, "1:30"]}')
    check_files([path, json, ROOT / "config.yaml", *(ROOT / "studies").glob("*.yaml")])


def test_a_call_ends_before_snakemake_reads_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snakemake runs a template's expressions, and shows tracebacks for what it cannot read."""
    ran = tmp_path / "ran"
    template = {"__use_yte__": True, "__variables__": {"x": f"?open({str(ran)!r}, 'w')"}}
    names = ["no-such.yaml", str(tmp_path), "template.yaml"]
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in names:
        call = ["-n", "--snakefile", str(ROOT / "Snakefile"), "--configfile", name]
        monkeypatch.setattr(sys, "argv", ["snakemake", *call])
        with pytest.raises(SystemExit) as ended:
            parse_args(call)
        assert str(ended.value.code).startswith(f"Error: {name}: ") or name == "template.yaml"
    assert "no templates" in str(ended.value.code)
    assert not ran.exists()


def test_no_code_of_a_study_s_folder_runs(tmp_path: Path) -> None:
    """Nor of another checkout, which a file of the study or the working directory lies in."""
    script = tmp_path / "workflow_scripts/core/run/call.py"
    script.parent.mkdir(parents=True)
    script.write_text("print('the code of another folder')", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "-n", "--configfile", f"{tmp_path}/study.yaml"]
    command += [f"-s{ROOT}/Snakefile"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "models.tiny.path: p: no such file" in done.stdout + done.stderr
    assert "another folder" not in done.stdout + done.stderr


def test_a_home_that_cannot_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n"])
    monkeypatch.setenv("HOME", "/dev/null/home")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    call = ["-n", "--snakefile", str(ROOT / "Snakefile")]
    with pytest.raises(SystemExit, match=r"^Error: /dev/null/home/\S+: .*; set XDG_CACHE_HOME to "):
        parse_args(call)
    monkeypatch.setenv("XDG_CACHE_HOME", str(ROOT))
    parse_args(call)
    monkeypatch.delenv("HOME")
    parse_args(call)


@pytest.mark.parametrize("name", ["a{b", "a}", "<a", "a>b"])
def test_a_checkout_that_snakemake_would_fill_in_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match=f"^/home/{name}: Snakemake fills in .*; rename the"):
        check_checkout(f"/home/{name}")
    check_checkout("/home/a b/it's/50%/$HOME/caf\xe9")


def test_snakemake_prints_that_line_alone(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(f"{STUDY}# caf\xe9\n", encoding="latin-1")
    command = [sys.executable, "-m", "snakemake", "-n", "--configfile", "study.yaml"]
    command += ["--snakefile", str(ROOT / "Snakefile")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "Error: study.yaml:3: not UTF-8; save the file as UTF-8"
    ]
