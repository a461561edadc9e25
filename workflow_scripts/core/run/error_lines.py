"""The line of an error, first and last among what Snakemake prints about it.

Snakemake prints some twenty lines around the failure of a job, and more when the run ends.
`ErrorLines` listens to its messages, puts the line that the failed step wrote into its log before
them, and repeats each line when the process ends.
"""

import atexit
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake.logging import LogEvent

START = "Error: "


class ErrorLines(logging.Filter):
    """A filter that lets every message of Snakemake pass and writes error lines before some."""

    def __init__(self, logger: logging.Logger) -> None:
        """Listen to `logger`, and repeat the lines at the end of this process."""
        super().__init__()
        self.logger = logger
        # The line of each failed job or group; a job that succeeds at last is no failure.
        self.lines: dict[Any, list[str]] = {}
        # Of the log files of each job, what was there before it started.
        self.earlier: dict[str, tuple[int, int] | None] = {}
        logger.addFilter(self)
        atexit.register(self.repeat)

    def filter(self, record: logging.LogRecord) -> bool:
        """Note what a message says of a job; every message passes."""
        match getattr(record, "event", None):
            case LogEvent.JOB_INFO:
                self.earlier |= {log: _stamp(log) for log in record.log}
            case LogEvent.JOB_FINISHED:
                self.lines.pop(record.job_id, None)
            case LogEvent.JOB_ERROR if not record.indent:  # a job of a group is part of its error
                found = self._found(record.log)
                self.lines[record.jobid] = found or [_unsaid(record.__dict__)]
                if not found or "external_jobid" in record.aux:  # else its process has shown it
                    self.show(self.lines[record.jobid])
            case LogEvent.GROUP_ERROR:
                self._group(record)
            case LogEvent.ERROR if record.exception == "MissingOutputException":
                words = " ".join(record.getMessage().partition("\n")[2].split())
                self.lines[words] = [START + words]
                self.show(self.lines[words])
        return True

    def show(self, lines: Iterable[str]) -> None:
        """Write lines among the messages."""
        for line in dict.fromkeys(lines):
            self.logger.error(line)

    def add(self, error: Exception) -> None:
        """Write the line of an error that keeps the workflow from being read."""
        self.lines["workflow"] = [START + str(error)]
        self.show(self.lines["workflow"])

    def repeat(self) -> None:
        """Write every line once more, to stderr; Snakemake has closed its log by then."""
        for line in dict.fromkeys(line for lines in self.lines.values() for line in lines):
            print(line, file=sys.stderr)

    def _group(self, record: logging.LogRecord) -> None:
        members = record.job_error_info
        for info in members:
            self.lines[info["jobid"]] = self._found(info["log"])
        lines = [line for info in members for line in self.lines[info["jobid"]]]
        if not lines:
            lines = self._found(record.aux_logs) or [_unsaid(info) for info in members]
            self.lines |= {info["jobid"]: lines for info in members}
        self.show(lines)

    def _found(self, logs: Iterable[str]) -> list[str]:
        """The last error line in the first log that has one since the job started, if any."""
        for log in logs:
            stamp = _stamp(log)
            if stamp is None or stamp == self.earlier.get(log):
                continue
            text = Path(log).read_text(encoding="utf-8", errors="replace")
            lines = [line for line in text.splitlines() if line.startswith(START)]
            if lines:
                return [lines[-1]]
        return []


def _stamp(log: str) -> tuple[int, int] | None:
    """Modification time in ns and size in bytes of a file; None where there is none."""
    try:
        status = Path(log).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _unsaid(info: dict[str, Any]) -> str:
    """The line for a job that ended without an error line of its own, killed for example."""
    said = " ".join((info["rule_msg"] or "it ended without an error message of its own").split())
    product = info["output"][0] if info["output"] else "no output"
    log = f"; its log: {info['log'][0]}" if info["log"] else ""
    return f"{START}rule {info['rule_name']} ({product}): {said}{log}"
