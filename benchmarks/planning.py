"""Planning of the default study with many models, and of as many plain jobs by Snakemake alone.

The models are one path under many names. The plain jobs each have two inputs and three outputs, and
neither params, resources nor environments. Times are the processor's: planning waits for nothing.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from common import ROOT, Busy, arguments, report

PLAIN = """
MODELS = range({models})
STEPS = range({steps})
KINDS = ["csv", "svg", "pdf"]


rule all:
    input:
        [f"{{m}}/{{s}}.{{kind}}" for m in MODELS for s in STEPS for kind in KINDS],


for s in STEPS:

    rule:
        input:
            [f"{{{{m}}}}/{{before}}.csv" for before in (s // 2, s // 3) if before < s],
        output:
            [f"{{{{m}}}}/{{s}}.{{kind}}" for kind in KINDS],
        shell:
            "touch {{output}}"
"""


def planned(folder: Path, *options: str) -> tuple[float, int]:
    """Processor seconds of a dry run in an empty folder, and the number of its jobs."""
    command = [sys.executable, "-W", "ignore", "-m", "snakemake", "--dry-run", "--quiet", "rules"]
    before = os.times()
    done = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    seconds = sum(after[2:4]) - sum(before[2:4])  # of children: one thread plans
    return seconds, int(re.findall(r"^total +(\d+)$", done.stdout + done.stderr, re.M)[-1])


def main() -> None:
    """Time one dry run for each number of models, and one of as many plain jobs."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, nargs="+", help="numbers of models")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    model = study["models"]["minilm"]
    del study["battery"]  # which reads decoders
    before, detail = Busy.now(), {}
    for n in options.models or ((1, 20, 80, 200) if options.full else (1, 5, 20)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            study["models"] = {f"model-{number}": model for number in range(n)}
            (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
            called = ("--snakefile", str(ROOT / "Snakefile"), "--configfile", "study.yaml")
            seconds, jobs = planned(folder, *called)
            plain = PLAIN.format(models=n, steps=jobs // n)
            (folder / "Snakefile").write_text(plain, encoding="utf-8")
            alone, others = planned(folder)
        detail[n] = {"jobs": jobs, "seconds": seconds, "plain_jobs": others, "plain": alone}
    report("planning", Busy.now().others_since(before), detail=detail)


if __name__ == "__main__":
    main()
