"""The Attention Atlas: what every attention head of a BERT-like model does."""

import sys
from pathlib import Path
from shlex import quote

# Scripts import the package from here, wherever snakemake runs and whatever is installed.
sys.path.insert(0, workflow.basedir)
shell.prefix(f"export PYTHONPATH={quote(workflow.basedir)}${{{{PYTHONPATH:+:$PYTHONPATH}}}}; ")

# A study file is whole: the default study is read only where no other was given.
if "models" not in config:

    configfile: "config.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/corpora.smk"
include: "rules/tasks.smk"
include: "rules/attention.smk"
include: "rules/checkpoints.smk"


# A study without one of these parts goes without its chapter.
if "surface" in config:

    include: "rules/surface.smk"


if "syntax" in config:

    include: "rules/syntax.smk"


if "coreference" in config:

    include: "rules/coreference.smk"


if "probes" in config:

    include: "rules/probes.smk"


if "clusters" in config:

    include: "rules/clusters.smk"


if "patterns" in config:

    include: "rules/patterns.smk"


if "frames" in config:

    include: "rules/frames.smk"


if "finetuning" in config:

    include: "rules/finetuning.smk"


if "ablation" in config:

    include: "rules/ablation.smk"


if "pruning" in config:

    include: "rules/pruning.smk"


if "arguments" in config:

    include: "rules/arguments.smk"


rule all:
    default_target: True
    input:
        FIGURES,
        TABLES,


rule figures:
    input:
        FIGURES,


rule tables:
    input:
        TABLES,


rule clark2019:
    input:
        [path for path in FIGURES + TABLES if Path(path).name.startswith("clark2019")],


rule kovaleva2019:
    input:
        [path for path in FIGURES + TABLES if Path(path).name.startswith("kovaleva2019")],


rule michel2019:
    input:
        [path for path in FIGURES + TABLES if Path(path).name.startswith("michel2019")],


rule niven2019:
    input:
        [path for path in FIGURES + TABLES if Path(path).name.startswith("niven2019")],
