"""A dry run of the same call without the target `preflight`: its jobs, in order, as JSON lines.

A process of its own: `python -m workflow_scripts.preflight.dry_run OUT CALL`, CALL as JSON.
Snakemake parses the call's arguments itself, profiles included; a dry run locks nothing.
"""

import json
import logging
import sys
from pathlib import Path
from typing import Any

from snakemake import cli
from snakemake.logging import logger
from snakemake.resources import Resources


class Collector(logging.Filter):
    """Notes the jobs that Snakemake reports; lets every record pass."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[dict[str, Any]] = []
        self._grouped = 0
        self._group = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """Note what a record reports."""
        event = getattr(record, "event", None)
        name = getattr(event, "name", "")
        if name == "GROUP_INFO":
            self._grouped, self._group = len(record.jobs), str(record.group_id)
        elif name == "JOB_INFO":
            group = self._group if self._grouped > 0 else ""
            self._grouped -= 1
            self.jobs.append(described(record) | {"group": group})
        return True


def described(record: logging.LogRecord) -> dict[str, Any]:
    """What the planning needs of a job's report."""
    asked = {key: record.resources.get(key) for key in ("mem_mb", "disk_mb", "gpu", "runtime")}
    return {
        "rule": record.rule_name,
        "input": list(record.input),
        "output": list(record.output),
        "benchmark": record.benchmark or "",
        "threads": int(record.threads),
        **{key: value if isinstance(value, int) else 0 for key, value in asked.items()},
    }


def main() -> None:
    """Write the jobs to the first argument; end with Snakemake's own status."""
    out, call = Path(sys.argv[1]), json.loads(sys.argv[2])
    collector = Collector()
    logger.addFilter(collector)
    parser, args = cli.parse_args(call["arguments"])
    args.targets = [target for target in args.targets if target != call["without"]]
    args.dryrun = True
    # A job that declares no disk counts none, also where Snakemake submits it.
    args.default_resources = args.default_resources or Resources.default("bare")
    args.default_resources["disk_mb"] = 0
    # Relative ones started from where the call was made.
    args.directory = Path(call["directory"])
    args.configfile = [Path(file) for file in call["configfiles"]]
    done = cli.args_to_api(args, parser)
    lines = [json.dumps(job) + "\n" for job in collector.jobs]
    out.write_text("".join(lines), encoding="utf-8")
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
