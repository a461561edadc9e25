"""What a step of the report may ask of Snakemake."""

from types import SimpleNamespace

from snakemake.iocontainers import Params

from workflow_scripts.report.context import with_report


def test_the_config_and_addresses_stand_among_the_parameters() -> None:
    given = SimpleNamespace(
        input="in",
        output="out",
        params=Params(fromdict={"model": "m"}),
        threads=2,
        log=["l"],
        config={"study": "s"},
        report_href=str.upper,
    )
    namespace = with_report({"snakemake": given, "other": 1})
    job = namespace["snakemake"]
    assert dict(job.params) == {"model": "m", "config": {"study": "s"}, "report_href": str.upper}
    assert (job.input, job.output, job.threads, job.log) == ("in", "out", 2, ["l"])
    assert namespace["other"] == 1


def test_a_shell_has_neither() -> None:
    assert with_report({"other": 1}) == {"other": 1}
