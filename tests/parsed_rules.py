"""The workflow as Snakemake reads it: `parsed_rules.py study.yaml ...` prints it as JSON."""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from snakemake.api import SnakemakeApi
from snakemake.iocontainers import Wildcards
from snakemake.parser import parse as translate
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings
from snakemake.sourcecache import LocalSourceFile, SourceCache

from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.integrity import digests

ROOT = Path(__file__).parents[1]
HUB = {"from": f"hub:organisation/name@{'0' * 40}"}
# Changes to the default study with which it has other rules, and all tasks.
OTHERWISE = {
    "tasks": {task: HUB for task in TASKS} | {"arct": {"from": "fetch:arct"}},
    "attention": {"shards": 2},
    "ablation": {"shards": 2},
    "compare": {"before": "minilm", "after": "minilm"},  # shapes are of jobs, not of rules
    "context": {"corpus": "wikipedia", "gate_steps": 1},
    "translation": {
        "data": {"from": {"generate": {"train": 40, "validation": 6, "test": 6}}},
        "model": HUB,
    },
}


@dataclass(frozen=True)
class Rule:
    """One rule; `script` is below workflow_scripts/, `code` the digest of what it means.

    Inputs that follow from wildcards alone are left out; of the params that do, the value is None.
    """

    name: str
    file: str
    script: str | None
    code: str | None
    conda: str | None
    log: list[str]
    benchmark: str | None
    input: list[str]
    output: list[str]
    params: dict[str, Any]
    runs: bool


@dataclass(frozen=True)
class Parsed:
    """The workflow of one study: its rules, rule files, tables of measures, and report's entries.

    `unlisted` names each rule that makes, or reads, a directory without the list of its files'
    digests, or reads it by its date; `listed` the rules that read one as they should.
    """

    rules: dict[str, Rule]
    files: list[str]
    measured: list[str]
    entries: list[dict[str, Any]]
    unlisted: list[str]
    listed: list[str]


@cache
def parsed() -> tuple[Parsed, Parsed]:
    """The workflow of the default study, and that of one that makes other choices."""
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("default.yaml", "otherwise.yaml")]
        otherwise = deepcopy(study) | OTHERWISE
        otherwise["models"]["smollm2"]["chapters"] += ["context"]
        for path, choices in zip(paths, (study, otherwise), strict=True):
            path.write_text(yaml.safe_dump(choices), encoding="utf-8")
        command = [sys.executable, "-m", "tests.parsed_rules", *map(str, paths)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    default, otherwise = (
        Parsed({rule["name"]: Rule(**rule) for rule in rules}, *others)
        for rules, *others in json.loads(done.stdout.splitlines()[-1])
    )
    return default, otherwise


def parsed_rules() -> dict[str, Rule]:
    """All rules by name, those included that only some studies have."""
    default, otherwise = parsed()
    return otherwise.rules | default.rules


def snakefiles() -> list[Path]:
    """The Snakefile and all rule files."""
    return [ROOT / "Snakefile", *sorted((ROOT / "rules").rglob("*.smk"))]


def compiled_snakefiles() -> dict[Path, ast.Module]:
    """The Python that Snakemake makes of the Snakefile and of each rule file."""
    with tempfile.TemporaryDirectory() as folder:
        workflow = SimpleNamespace(sourcecache=SourceCache(Path(folder), Path(folder)))
        files = {path: LocalSourceFile(str(path)) for path in snakefiles()}
        codes = {path: translate(file, workflow, {})[0] for path, file in files.items()}
    return {path: ast.parse(code) for path, code in codes.items()}


def parse(study: Path) -> Any:
    """Snakemake's workflow for a study, without a plan of its jobs."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        config = ConfigSettings(config=yaml.safe_load(study.read_text(encoding="utf-8")))
        resources = ResourceSettings(cores=1)
        call = api.workflow(resources, config, snakefile=ROOT / "Snakefile")
        call.list_rules()
        return call._workflow


def parts_of(workflow: Any) -> tuple[list[Any], ...]:
    """The parts of `Parsed`, as JSON can write them."""
    files = [Path(file.get_path_or_uri(secret_free=True)).name for file in workflow.included]
    known = workflow.globals
    measured = [file for path, _, of in known["MEASURED"] for file in known["for_all"](path, **of)]
    entries = [asdict(entry) for entry in known["ENTRIES"]]
    rules = [asdict(rule_of(rule)) for rule in workflow.rules]
    return rules, files, measured, entries, *folders(workflow)


def folders(workflow: Any) -> tuple[list[str], list[str]]:
    """The parts `unlisted` and `listed`."""
    made = [(rule, path) for rule in workflow.rules for path in rule.output if path.is_directory]
    unlisted = {
        f"{rule.name} makes {path}"
        for rule, path in made
        if f"{path}{digests.LISTING}" not in map(str, rule.output)
    }
    listed = set()
    for rule in workflow.rules:
        for wildcards in cases(rule, workflow):
            read = rule.expand_input(wildcards)[0]
            for path in read:
                if any(directory.match(path) for _, directory in made):
                    if path.is_ancient and f"{path}{digests.LISTING}" in map(str, read):
                        listed.add(rule.name)
                    else:
                        unlisted.add(f"{rule.name} reads {path}")
    return sorted(unlisted), sorted(listed)


def cases(rule: Any, workflow: Any) -> Iterator[Wildcards]:
    """The wildcards of some jobs of a rule: every corpus and task, else one value of each."""
    known = workflow.globals
    values = {"init": ["finetuned"], "seed": ["1"], "trained_on": ["original"], "family": ["bov"]}
    values |= {"cache": ["sst2"], "scatteritem": ["1-of-2"], "requirement": list(known["SDISTS"])}
    values["download"] = ["gum"]
    tables = {
        "text": "TEXTS",
        "treebank": "TREEBANKS",
        "coref": "COREFERENCE",
        "run": "TRANSLATION_RUNS",
    }
    tables |= {
        "task": "TASKS",
        "frames": "FRAMES",
        "vectors": "VECTORS",
        "corpus": "CORPORA",
    }
    values |= {name: list(known[table]) for name, table in tables.items() if table in known}
    chapter = Path(rule.snakefile).stem.partition("_")[0]
    values["model"] = known["SERVED"].get(chapter, known["MODELS"])
    names = sorted(rule.wildcard_names)
    if unknown := set(names) - set(values):
        raise ValueError(f"rule {rule.name}: {unknown}: add values in tests/parsed_rules.py")
    for case in product(*(values[name] for name in names)):
        yield Wildcards(fromdict=dict(zip(names, case, strict=True)))


def rule_of(rule: Any) -> Rule:
    """What tests ask of one of Snakemake's rules."""
    params = {key: None if callable(value) else value for key, value in rule.params.items()}
    script = None
    if rule.script and ("{params.script}" not in rule.script or "script" in params):
        script = rule.script.replace("{params.script}", params.get("script", ""))
    return Rule(
        name=rule.name,
        file=Path(rule.snakefile).name,
        script=script and script.partition("workflow_scripts/")[2],
        code=rule.params.code(None) if "code" in params else None,
        conda=rule.conda_env and Path(rule.conda_env).name,
        log=list(map(str, rule.log)),
        benchmark=rule.benchmark and str(rule.benchmark),
        input=[str(path) for path in rule.input if not callable(path)],
        output=list(map(str, rule.output)),
        params=params,
        runs=not rule.norun,
    )


if __name__ == "__main__":
    print(json.dumps([parts_of(parse(Path(path))) for path in sys.argv[1:]]))
