"""What scripts say to attention caches of another model: `foreign_caches.py study.yaml folder`.

The working directory holds a finished study. Every script of workflow_scripts whose `main` takes
attention caches is called as a job of the whole study calls it, once for each parameter of CACHES,
whose caches are then exact copies but for the digest of the weights. Scripts write to `folder`.
Printed is a JSON object: by script and parameter the error, or null where the caches were read.
"""

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from workflow_scripts.core.data.cache import Cache, CacheWriter
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job as jobs

# The names of the parameters that take attention caches.
CACHES = {"attention", "attention_caches", "body", "caches", "random_attention", "shards", "tuned"}
MODEL = "results/tiny/tiny"
TARGETS = {"all", f"{MODEL}/patterns/sheets/mrpc.pretrained.1"}
ROOT = Path(__file__).parents[2]


def cache_parameters(module: ModuleType) -> list[str]:
    """The parameters of a script's `main` that take attention caches."""
    names = set(inspect.signature(module.main).parameters) & CACHES
    return sorted(names - set(jobs.output_names(module.main)))


def scripts() -> dict[str, ModuleType]:
    """The scripts that take attention caches, by their paths below workflow_scripts/."""
    found = {}
    for path in sorted((ROOT / "workflow_scripts").glob("*/*.py")):
        if "\ndef main(" in path.read_text(encoding="utf-8"):
            module = import_module(f"workflow_scripts.{path.parent.name}.{path.stem}")
            if cache_parameters(module):
                found[f"{path.parent.name}/{path.name}"] = module
    return found


def planned(config: dict[str, Any]) -> dict[str, Any]:
    """A job of each script of the study."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        settings = ResourceSettings(cores=1), ConfigSettings(config=config)
        plan = api.workflow(*settings, snakefile=ROOT / "Snakefile", workdir=Path.cwd())
        plan.dag(DAGSettings(targets=TARGETS, forceall=True)).execute_workflow(executor="dryrun")
        return {job.params.get("script"): job for job in plan._workflow.dag.jobs}


def with_other_weights(cache: Path, copied: Path) -> Path:
    """A copy of a cache, or shard, that another model has made."""
    with h5py.File(cache) as file:
        card = {"name": "tiny", "weights": json.loads(file.attrs["meta"])["weights"]}
    with Cache(cache, card) as own:
        n = range(len(own))
        tokens = [Tokens(own.ids[index], **own.tokens(index), n_words=0) for index in n]
        meta = own.meta | {"model": "another", "weights": "others"}
        shape = own.n_layers, own.n_heads
        with CacheWriter(copied, tokens, *shape, meta, positions=np.array(n)) as writer:
            for index, example in enumerate(own):
                writer.write(index, example.pattern)
    return copied


def refused(module: ModuleType, job: Any, name: str, folder: Path) -> str | None:
    """What a script says where the caches that `name` takes are another model's."""
    values = jobs.values_of(module.main, job)
    values |= {output: folder / output for output in jobs.output_names(module.main)}
    given = values[name] if isinstance(values[name], list) else [values[name]]
    assert given, f"{module.__name__}: the study gives {name} nothing"
    # Some caches are removed after their last reader: any other will do.
    there = [path if path.exists() else Path(MODEL, "attention/mrpc.h5") for path in given]
    copies = [with_other_weights(path, folder / f"{k}.h5") for k, path in enumerate(there)]
    try:
        module.main(**values | {name: copies if isinstance(values[name], list) else copies[0]})
    except InputError as error:
        return str(error)
    return None


def main(study: Path, folder: Path) -> None:
    """Print what all scripts say."""
    job_of, found = planned(yaml.safe_load(study.read_text(encoding="utf-8"))), {}
    for script, module in scripts().items():
        for name in cache_parameters(module):
            own = folder / module.__name__ / name
            own.mkdir(parents=True)
            found[f"{script}: {name}"] = refused(module, job_of[script], name, own)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
