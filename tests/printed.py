"""What Snakemake prints of the jobs that it runs or would run."""

import re

JOB = re.compile(r"^ *(?:(?:local)?rule (\w+):$|Job \d+: (\w+) makes )", re.MULTILINE)


def rules_of(printed: str) -> list[str]:
    """The rule of each job, whether it is printed in full or by its message."""
    return [rule or of_message for rule, of_message in JOB.findall(printed)]
