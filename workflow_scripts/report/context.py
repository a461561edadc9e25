"""What the steps of the report are given next to the values of their rules."""

from types import SimpleNamespace
from typing import Any


def with_report(namespace: dict[str, Any]) -> dict[str, Any]:
    """The namespace of a script whose `main` may ask for two more things of Snakemake.

    `config` is the study's config. `report_href` gives the address of a product from another's page
    in the report; a `main` that asks for it has None as its default, for runs from a shell.
    """
    snakemake = namespace.get("snakemake")
    if snakemake is None:
        return namespace
    more = {"config": snakemake.config, "report_href": snakemake.report_href}
    job = SimpleNamespace(
        input=snakemake.input,
        output=snakemake.output,
        params=dict(snakemake.params.items()) | more,
        threads=snakemake.threads,
        log=snakemake.log,
    )
    return namespace | {"snakemake": job}
