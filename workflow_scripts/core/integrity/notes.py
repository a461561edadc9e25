"""What Snakemake does not remember of a product, taken from the product's record.

Snakemake compares a plan with its notes in `.snakemake`. Of results that were copied without them
it knows neither parameters nor inputs, so that nothing would be stale; of results that were copied
over others it has the notes of those.
"""

from functools import cache
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord, PersistenceBase

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import provenance

NOTED = PersistenceBase.metadata


def restore() -> None:
    """Let the plans of this process use the records of products that Snakemake has no notes of."""
    PersistenceBase.metadata = _noted_or_recorded


def _noted_or_recorded(persistence: PersistenceBase, product: Any) -> MetadataRecord | None:
    noted = NOTED(persistence, product)
    if noted is not None and noted.endtime in (_date(Path(product)), None):
        return noted  # of this very file: a note has its date, as of the job or of --touch
    return _recorded(persistence, product) or noted


def _date(path: Path) -> float | None:
    return path.stat().st_mtime if path.exists() else None


@cache  # a plan asks ten times for each product; each plan has a persistence of its own
def _recorded(persistence: PersistenceBase, product: Any) -> MetadataRecord | None:
    """The notes that Snakemake would have of an output of a job, by its record; None without one.

    Environments are not in it: they are not compared then.
    """
    path = Path(product)
    try:
        record = provenance.last(path)
    except InputError as error:
        raise WorkflowError(str(error)) from error
    if record is None:
        return None
    inputs = {
        str(provenance.now_at(name, record["output"], path)): used
        for name, used in record["inputs"].items()
    }
    repeated = [
        str(provenance.now_at(name, record["output"], path)) for name in record.get("repeated", [])
    ]
    # Snakemake does not compare what it derives from inputs, outputs, threads or resources.
    derived = {
        name
        for name, given in product.rule.params.items()
        if product.rule._is_deriving_function(given)
    }
    params = record["params"] | {"code": record["code"]}
    compared = sorted(repr(value) for name, value in params.items() if name not in derived)
    made = _date(path) or 0.0
    return MetadataRecord(
        rule=product.rule.name,
        input=sorted([*inputs, *repeated]),
        params=compared,
        input_checksums={name: f"sha256:{used['sha256']}" for name, used in inputs.items() if used},
        record_format_version=RECORD_FORMAT_VERSION,
        incomplete=False,
        starttime=made,
        endtime=made,
        job_hash=hash((product.rule.name, *inputs, *compared)),
    )
