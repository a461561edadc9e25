"""The Attention Atlas: what every attention head of a BERT-like model does."""

import os
import sys
from pathlib import Path
from shlex import quote

# Scripts import the package from here, wherever snakemake runs and whatever is installed.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))
sys.path.insert(0, str(ROOT))

from snakemake.persistence import PersistenceBase
from workflow_scripts.chapters import CHAPTERS, PAPERS
from workflow_scripts.core.integrity import code_digest, provenance
from workflow_scripts.core.run import warm

# A study file is whole: the default study is read only where no other was given.
if "models" not in config:

    configfile: "config.yaml"


include: "rules/common.smk"


shell.prefix(f"export PYTHONPATH={quote(str(ROOT))}${{{{PYTHONPATH:+:$PYTHONPATH}}}}; ")


warm.install(workflow)


# Each chapter may use the rules of those before it.
for chapter in CHAPTERS:
    if chapter in config:

        include: f"rules/{chapter}.smk"


include: "rules/figures.smk"
include: "rules/attention_on_the_fly.smk"
include: "rules/check.smk"


# A job's log and benchmark have its script's chapter, and its wildcards and rule. Internals of
# Snakemake: the public way, `log`, `benchmark` and `localrule` at each rule, takes 500 lines.
for each in workflow.rules:
    if each.script and not each.log:
        chapter = re.match("[a-z]+", each.params.get("script", Path(each.snakefile).name))[0]
        wildcards = dict.fromkeys(re.findall(r"{\w+", "".join(each.output[:1])))
        job = f"{chapter}/{''.join(f'{wildcard}}}.' for wildcard in wildcards)}{each.name}"
        each.log_modifier = each.benchmark_modifier = each.ruleinfo.path_modifier
        each.set_log(f"<logs>/{job}.log")
        each.benchmark = f"<benchmarks>/{job}.tsv"
    if each.script and not each.message:
        each.message = "{rule} makes {output[0]} (log: {log})"  # a line instead of ten
    if each.ruleinfo.group == "local":
        each.group = None
        workflow.localrules(each.name)


# Parts of a product are no reason to make it again: any number of them gives the same bytes.
recorded = PersistenceBase._input
PersistenceBase._input = lambda self, job: [
    file
    for file in recorded(self, job)
    if not (file.startswith(f"{RESULTS}/") and ".parts/" in file)
]


# Functions: Snakemake would else parse all their paths whenever it reads the rules, for each job too.
rule all:
    default_target: True
    input:
        lambda wildcards: FIGURES + TABLES + PAGES,
    message:
        "All is made"


rule figures:
    input:
        lambda wildcards: FIGURES,


rule tables:
    input:
        lambda wildcards: TABLES,


for paper in PAPERS:

    rule:
        name:
            paper
        input:
            lambda wildcards, paper=paper: [
                path for path in FIGURES + TABLES + PAGES if Path(path).name.startswith(paper)
            ],


# A job that Snakemake submits or spawns reads these files again, perhaps after an edit.
if workflow.is_main_process:
    dry = workflow.output_settings.dryrun  # starts no job
    os.environ[code_digest.VARIABLE] = "" if dry else code_digest.state(config, ROOT)


envvars:
    "ATLAS_TASKS",
    code_digest.VARIABLE,


if not workflow.is_main_process:
    code_digest.compare(os.environ[code_digest.VARIABLE], config, ROOT)


# Temporary products are gone now, and so are those of failed jobs.
onsuccess:
    provenance.prune(Path(RESULTS))


onerror:
    provenance.prune(Path(RESULTS))
