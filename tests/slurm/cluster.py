"""A real SLURM of one node on this machine, with files, ports and sockets of its own.

Nothing in /etc/slurm or /run/munge is read or written, so that it runs next to a SLURM that the
machine already belongs to. `python -m tests.slurm.cluster COMMAND` runs a command on it.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import yaml

PROGRAMS = ("munged", "munge", "unmunge", "slurmctld", "slurmd", "scontrol", "srun", "setpriv")
PACKAGES = "slurmctld slurmd slurm-client munge"
CONF = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/slurmctld
SlurmdSpoolDir={folder}/slurmd
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
SlurmctldTimeout=120
SlurmdTimeout=10
MessageTimeout=5
KillWait=2
MinJobAge=3600
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:2 State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES MaxTime=2-0 State=UP
PartitionName=gpu Nodes={host} MaxTime=2-0 State=UP
"""
# Two GPUs to allocate, without hardware.
GRES = "AutoDetect=off\nName=gpu File=/dev/null\nName=gpu File=/dev/zero\n"
# A variable of every process of a job.
NODE = b"SLURMD_NODENAME="


class CannotStart(Exception):
    """Why there is no SLURM on this machine."""


class Cluster:
    """munged, slurmctld and slurmd in a folder; the last two can be killed and started again."""

    def __init__(self) -> None:
        """Write the configuration of a node with this machine's processors and memory."""
        self.folder = Path(tempfile.mkdtemp(prefix="atlas-slurm-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.host = socket.gethostname().split(".")[0]
        self.memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        self.conf = self.folder / "slurm.conf"
        inherited = {name: os.environ[name] for name in os.environ if not name.startswith("SLURM_")}
        self.environment = inherited | {
            "SLURM_CONF": str(self.conf),
            "PATH": f"{self.folder}/bin:{search_path()}",
        }
        self.running: dict[str, subprocess.Popen] = {}
        for name in ("slurmctld", "slurmd", "bin"):
            (self.folder / name).mkdir()
        self.conf.write_text(
            CONF.format(
                host=self.host,
                user=getpass.getuser(),
                folder=self.folder,
                ports=free_ports(2),
                cpus=max(2, os.cpu_count() or 2),
                memory=self.memory,
            )
        )
        (self.folder / "gres.conf").write_text(GRES)
        (self.folder / "plugstack.conf").write_text("")
        # Snakemake's plugin starts srun without SLURM_CONF.
        srun = self.folder / "bin/srun"
        real = shutil.which("srun", path=search_path())
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.conf} exec {real} "$@"\n')
        srun.chmod(0o755)
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)

    def start(self) -> Self:
        """Start the daemons, each after the one that it needs answers."""
        try:
            self.start_munged()
            self.start_slurmctld()
            self.start_slurmd()
        except BaseException:
            self.stop()
            raise
        return self

    def start_munged(self) -> None:
        """Start munged; a credential can be made and read."""
        files = [f"--{use}-file={self.folder}/munge.{use}" for use in ("key", "seed", "pid", "log")]
        self._start("munged", "--foreground", f"--socket={self.munge_socket}", *files)
        self._wait_for(self.munge_works, "munge -n | unmunge")

    def start_slurmctld(self) -> None:
        """Start slurmctld with the state that it saved, if any; it answers."""
        self._start("slurmctld", "-D", "-f", str(self.conf))
        self._wait_for(lambda: "is UP" in self.output("scontrol", "ping"), "scontrol ping")

    def start_slurmd(self) -> None:
        """Start slurmd; the node is ready for jobs."""
        self._start("slurmd", "-D", "-f", str(self.conf))
        self._wait_for(lambda: self.node_state() in ("idle", "mixed", "allocated"), "sinfo")

    @property
    def munge_socket(self) -> Path:
        """Where munged listens."""
        return self.folder / "munge.socket"

    def munge_works(self) -> bool:
        """Whether a credential that munge makes can be read again."""
        socket_option = f"--socket={self.munge_socket}"
        munge, unmunge = ["munge", "-n", socket_option], ["unmunge", socket_option]
        made = subprocess.run(munge, capture_output=True)
        read = subprocess.run(unmunge, input=made.stdout, capture_output=True)
        return made.returncode == 0 and read.returncode == 0

    def node_state(self) -> str:
        """What sinfo reports about the node: idle, mixed, allocated, down, ..."""
        return self.output("sinfo", "-h", "-o", "%T", "-p", "cpu").strip().rstrip("*")

    def output(self, *command: str) -> str:
        """What a SLURM command prints; a failure's message is in it."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        return done.stdout + done.stderr

    def jobs(self) -> list[dict[str, str]]:
        """What slurmctld has on every job since it started: `scontrol show job`, oldest first."""
        lines = self.output("scontrol", "show", "job", "--oneliner", "--detail").splitlines()
        jobs = [
            dict(field.split("=", 1) for field in line.split() if "=" in field) for line in lines
        ]
        return [job for job in jobs if "JobId" in job]

    def write_partitions(self, folder: Path) -> None:
        """Adapt the profile in a folder to this cluster: GPUs are to be had in one partition."""
        profile = folder / "profiles/slurm"
        command = [sys.executable, str(profile / "partitions.py")]
        listed = subprocess.run(command, env=self.environment, check=True, capture_output=True)
        file = yaml.safe_load(listed.stdout)
        file["partitions"]["cpu"]["max_gpu"] = 0  # its node is also that of the other
        (profile / "partitions.yaml").write_text(yaml.safe_dump(file, sort_keys=False))

    def hide_sacct(self) -> None:
        """Let `which`, by which the plugin looks for sacct, find none."""
        which = self.folder / "bin/which"
        which.write_text(
            f'#!/bin/sh\n[ "$1" = sacct ] || exec {shutil.which("which")} "$@"\nexit 1\n'
        )
        which.chmod(0o755)

    def kill(self, daemon: str) -> None:
        """Kill a daemon with SIGKILL."""
        process = self.running.pop(daemon)
        process.kill()
        process.wait()

    def cut_power(self) -> None:
        """Kill slurmd and all that its node runs, at once."""
        self.kill("slurmd")
        self._kill_processes(lambda name, variables: name == "slurmstepd" or NODE in variables)

    def _kill_processes(self, chosen: Callable[[str, bytes], bool]) -> None:
        """Kill processes of this cluster and its users by their name and their variables."""
        # All are stopped first, so that none sees another end and cleans up after it.
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):  # it has ended
                    name = (process / "comm").read_text().strip()
                    variables = (process / "environ").read_bytes()
                    if f"SLURM_CONF={self.conf}".encode() in variables and chosen(name, variables):
                        os.kill(int(process.name), sent)

    def save_jobs(self, job: str) -> None:
        """Change a running job, and wait until slurmctld has saved what it knows of jobs."""
        saved = self.folder / "slurmctld/job_state"
        before = saved.stat().st_mtime_ns if saved.exists() else 0
        self.output("scontrol", "update", f"jobid={job}", "timelimit=50")
        self._wait_for(lambda: saved.exists() and saved.stat().st_mtime_ns > before, "job_state")

    def stop(self) -> None:
        """Cancel all jobs, end the daemons and remove the folder."""
        if {"munged", "slurmctld", "slurmd"} <= set(self.running):
            self.output("scancel", "--full", "--signal=KILL", "--me")
            self.output("scancel", "--me")
            deadline = time.monotonic() + 20
            while self.output("squeue", "-h").strip() and time.monotonic() < deadline:
                time.sleep(0.2)
        for daemon in ("slurmd", "slurmctld", "munged"):
            if process := self.running.pop(daemon, None):
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self._kill_processes(lambda *_: True)  # what a test that failed has left
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, daemon: str, *options: str) -> None:
        """Start a daemon that ends when this process does; its output goes to a file."""
        command = ["setpriv", "--pdeathsig", "TERM", daemon, *options]
        with (self.folder / f"{daemon}.log").open("ab") as log:
            self.running[daemon] = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _wait_for(self, ready: Callable[[], bool], check: str, seconds: float = 120) -> None:
        """Wait until a daemon that was started is ready."""
        deadline = time.monotonic() + seconds
        while not ready():
            ended = [name for name, process in self.running.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = [path.read_text(errors="replace") for path in self.folder.glob("*.log")]
                raise CannotStart(f"{check}: not ready; ended: {ended}\n" + "\n".join(logs))
            time.sleep(0.1)


def missing() -> str:
    """Why the cluster cannot be started here; empty where it can."""
    if absent := [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]:
        return f"no {', '.join(absent)}: apt-get install --no-install-recommends {PACKAGES}"
    return ""


def search_path() -> str:
    """Where programs are looked for; the daemons' folder is not on every user's path."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin"


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main(command: list[str]) -> int:
    """Run a command on a cluster of its own and give its exit status."""
    if reason := missing():
        raise SystemExit(reason)
    cluster = Cluster().start()
    try:
        return subprocess.run(command, env=cluster.environment).returncode
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
