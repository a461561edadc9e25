"""What this machine has: disk, memory, cores and GPUs, against what a study asks for."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.core.run.findings import ERROR, NOTE, OK, Finding
from workflow_scripts.core.run.units import size
from workflow_scripts.preflight.plan import Job

# The share of the disk declared by jobs that their products surely take; the default study's: 0.15.
LEAST = 0.05


def free_disk(folder: Path) -> int:
    """Bytes that this user may still write where `folder` is or will be."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory() -> int | None:
    """Bytes of memory that a new process can have; None where the system does not report it."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.is_file():
        return None
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    return int(fields["MemAvailable"].split()[0]) * 1024


def cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def disk_finding(results: Path, jobs: Sequence[Job], free: int) -> Finding:
    """Whether the free disk holds what the jobs declare to write.

    A note where it does not, an error where it is not even the share LEAST of it.
    """
    declared = 1e6 * sum(job.disk_mb for job in jobs)
    has = f"{size(free)} free; the large products declare {size(declared)} (docs/preflight.md), "
    has += "as if every example had max_tokens tokens"
    if free < LEAST * declared:
        fix = (
            "free some, work in another --directory, or lower n_segments, n_sentences, "
            "task_examples or max_tokens"
        )
        return Finding(f"disk of {results}", ERROR, f"{results}: only {has}: {fix}")
    if free < declared:
        return Finding(f"disk of {results}", NOTE, f"{has}; it may suffice, as most are shorter")
    return Finding(f"disk of {results}", OK, has)


def memory_finding(jobs: Sequence[Job], free: int | None, submits: bool) -> Finding:
    """Whether the largest job fits into the free memory, where jobs run here."""
    largest = max(jobs, key=lambda job: job.mem_mb, default=None)
    if largest is None:
        return Finding("memory", OK, "no job")
    asks = f"{largest.rule} asks for {size(largest.mem_mb * 1e6)}"
    if submits or free is None:
        return Finding("memory", OK, f"{asks}, of the cluster" if submits else asks)
    has = f"{asks}, {size(free)} are free here"
    if largest.mem_mb * 1e6 > free:
        return Finding("memory", NOTE, f"{has}: run it alone, or on a machine with more")
    return Finding("memory", OK, has)


def cores_finding(jobs: Sequence[Job], here: int, given: int | None, submits: bool) -> Finding:
    """Whether jobs get the threads that they ask for."""
    threads = max((job.threads for job in jobs), default=1)
    if submits:
        return Finding("cores", OK, f"a job asks for up to {threads}, of the cluster")
    used = f"{here} here, {given or here} given to Snakemake"
    if (given or here) > here:
        return Finding("cores", NOTE, f"{used}: more than there are only slow jobs down")
    if threads > (given or here):
        return Finding("cores", NOTE, f"{used}; a job asks for {threads} and gets fewer")
    return Finding("cores", OK, f"{used}; a job asks for up to {threads}")


def gpus() -> tuple[list[str], str]:
    """The GPUs that torch sees, with their memory, and what hides some."""
    import torch

    names = []
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            about = torch.cuda.get_device_properties(number)
            names.append(f"{about.name} ({size(about.total_memory)})")
    elif torch.backends.mps.is_available():
        names.append("Apple GPU")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hidden = f"CUDA_VISIBLE_DEVICES is {visible!r}" if visible is not None else ""
    if not names and torch.version.cuda is None and shutil.which("nvidia-smi"):
        hidden = "nvidia-smi is here, but this torch is built without CUDA"
    return names, hidden


def gpu_finding(device: str, seen: tuple[list[str], str], n_jobs: int, submits: bool) -> Finding:
    """What runs the `n_jobs` jobs that use a model, and the profile that fits."""
    names, hidden = seen
    here = f"torch sees {', '.join(names) if names else 'no GPU'} here"
    here += f" ({hidden})" if hidden else ""
    wants = f"device: {device}, {n_jobs} jobs that use a model"
    if device == "cpu":
        unused = "; --profile profiles/gpu with device: auto would use it" if names else ""
        return Finding("GPU", OK, f"{wants}; {here}{unused}")
    if submits:
        return Finding("GPU", OK, f"{wants} ask the cluster for a GPU each; {here}")
    if device in ("cuda", "mps") and not names:
        fix = "set device to auto or cpu, or submit them: --profile profiles/slurm"
        return Finding("GPU", ERROR, f"{wants}; {here}: {fix}")
    if names:
        return Finding("GPU", OK, f"{wants}; {here}; --profile profiles/gpu runs one at a time")
    advice = "they run on the cores (profiles/default)"
    if shutil.which("sbatch"):
        advice += "; SLURM is here: --profile profiles/slurm submits them"
    return Finding("GPU", OK, f"{wants}; {here}: {advice}")
