"""What Snakemake prints of the jobs that it runs or would run."""

import re
from collections.abc import Iterator

JOB = re.compile(r"^ *(?:(?:local)?rule (\w+):$|Job \d+: (\w+) makes )", re.MULTILINE)


def rules_of(printed: str) -> list[str]:
    """The rule of each job, whether it is printed in full or by its message."""
    return [rule or of_message for rule, of_message in JOB.findall(printed)]


def outputs(plan: str) -> Iterator[str]:
    """The files that the jobs of a dry run would write."""
    for line in re.findall(r"^ +output: (.+)$", plan, re.M):
        yield from line.split(", ")
    for line in re.findall(r"^ *Job \d+: \w+ makes (.+) \(", plan, re.M):  # a rule with a message
        yield from line.split(" ")
