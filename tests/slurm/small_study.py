"""A small workflow whose job waits for a sign, so that a fault can be injected while it runs."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.slurm.cluster import Cluster

ROOT = Path(__file__).parents[2]
# The job leaves half of its product on disk until it is let go on.
SNAKEFILE = (
    f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
include: {str(ROOT / "rules/common_slurm.smk")!r}
"""
    + """
localrules: all, table

rule all:
    input: "table.csv"

rule slow:
    output: "slow.csv"
    log: "slow.log"
    resources: mem_mb=1000, runtime=60
    shell:
        "exec 2> {log}; echo started >> starts; echo half > {output}; "
        "until [ -e go ]; do sleep 0.1; done; echo whole > {output}"

rule table:
    input: "slow.csv"
    output: "table.csv"
    shell: "cp {input} {output}"
"""
)


class SmallStudy:
    """The workflow in a folder, with the profiles of the project, and its runs on a cluster."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster
        (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
        shutil.copytree(ROOT / "profiles", folder / "profiles")
        cluster.write_partitions(folder)
        self.printed = folder / "printed.txt"

    def start(self, *options: str) -> subprocess.Popen:
        """Start snakemake with the profile of SLURM; what it prints goes to `printed`."""
        command = [sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", *options]
        command += ["--slurm-init-seconds-before-status-checks", "1"]
        command += ["--seconds-between-status-checks", "1", "--max-status-checks-per-second", "1"]
        with self.printed.open("ab") as printed:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.cluster.environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
            )

    def wait_for_half(self) -> None:
        """Wait until the job runs and has written half of its product."""
        wait_for(self.half_written, self.log)

    def go(self) -> None:
        """Let the job go on."""
        (self.folder / "go").touch()

    def run(self, *options: str) -> int:
        """Run snakemake to its end; the exit status."""
        return self.end(self.start(*options))

    def end(self, head: subprocess.Popen, seconds: float = 600) -> int:
        """The exit status of a head that ends by itself."""
        try:
            return head.wait(seconds)
        except subprocess.TimeoutExpired:
            head.send_signal(signal.SIGKILL)
            raise AssertionError("snakemake waits for ever:\n" + self.log()) from None

    def log(self) -> str:
        """What snakemake and SLURM's jobs have printed so far."""
        return self.printed.read_text(errors="replace") + self.cluster.output("squeue", "-t", "all")

    def starts(self) -> int:
        """How many times the job was started."""
        return len((self.folder / "starts").read_text().splitlines())

    def table(self) -> str:
        """The finished table."""
        return (self.folder / "table.csv").read_text()

    def half_written(self) -> bool:
        """Whether half of the job's product is there."""
        path = self.folder / "slow.csv"
        return path.exists() and path.read_text() == "half\n"

    def jobs(self) -> list[dict[str, str]]:
        """What SLURM reports about this study's jobs, oldest first."""
        return [job for job in self.cluster.jobs() if job["WorkDir"] == str(self.folder)]

    def ids(self) -> list[str]:
        """The ids of this study's jobs in SLURM."""
        return [job["JobId"] for job in self.jobs()]

    def states(self) -> list[str]:
        """What became of this study's jobs according to SLURM."""
        return [job["JobState"] for job in self.jobs()]


def wait_for(happened: Callable[[], bool], log: Callable[[], str], seconds: float = 600) -> None:
    """Wait until something has happened."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, log()
        time.sleep(0.1)
