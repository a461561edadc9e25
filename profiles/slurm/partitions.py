"""Write what the partitions of this cluster have: `python partitions.py > partitions.yaml`.

The SLURM plugin of Snakemake chooses a partition for each job by this file. A job that fits none
is sent to the last entry, a partition that does not exist, so that sbatch refuses it at once: the
plugin would else leave it to the cluster's default partition, where it might wait for ever.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import yaml

SINFO = ["sinfo", "--noheader", "--Node", "--format=%R|%c|%m|%G|%l"]
# Chosen last: the plugin counts GPUs that a job does not ask for against a partition.
NONE_FITS = {"no-partition-fits": {"max_gpu": 1_000_000}}
GPUS = re.compile(r"(?:^|,)gpu(?::[^:,(]+)?:(\d+)")
HEAD = """\
# The partitions of a cluster, and the most that a job may ask for on one node of each.
# `python profiles/slurm/partitions.py > profiles/slurm/partitions.yaml` writes it for yours.
"""


def partitions(lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The limits of each partition, from sinfo's line for each node of each partition.

    GPUs stand in a line as generic resources, such as `gpu:a100:4(S:0-1),shard:8`.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        name, cpus, mem_mb, gres, time = line.split("|")
        limits = found.setdefault(name, {"max_threads": 0, "max_mem_mb": 0, "max_gpu": 0})
        gpus = sum(map(int, GPUS.findall(gres)))
        node = {"max_threads": int(cpus), "max_mem_mb": int(mem_mb), "max_gpu": gpus}
        limits |= {key: max(limits[key], value) for key, value in node.items()}
        if time != "infinite":
            limits["max_runtime"] = time
    return found | NONE_FITS


def main() -> None:
    """Print the file for the cluster that sinfo reports."""
    try:
        listed = subprocess.run(SINFO, check=True, capture_output=True, text=True)  # noqa: S603
    except FileNotFoundError:
        sys.exit("Error: there is no sinfo here; run this where SLURM's commands are")
    except subprocess.CalledProcessError as error:
        sys.exit(f"Error: sinfo failed: {error.stderr.strip()}")
    found = partitions(listed.stdout.split("\n")[:-1])
    print(HEAD + yaml.safe_dump({"partitions": found}, sort_keys=False), end="")


if __name__ == "__main__":
    main()
