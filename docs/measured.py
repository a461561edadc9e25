"""Write measured.csv, what the jobs of a run took: `python docs/measured.py results/demo`.

Read from the files of the rules' `benchmark:`. Seconds are by the clock, so the machine must do
nothing else (Snakemake reads a job's CPU time every half minute, which is too seldom). Of a job of
less than a second the largest memory was hardly seen.
"""

import sys
from pathlib import Path

import pandas as pd

MEASURED = Path(__file__).parent / "measured.csv"


def measured(results: Path) -> pd.DataFrame:
    """One row for each rule: its jobs, their mean seconds and their largest memory in MB."""
    files = sorted((results / "benchmarks").rglob("*.tsv"))
    if not files:
        sys.exit(f"Error: {results / 'benchmarks'}: no benchmarks; name the results of a study")
    runs = pd.concat(
        pd.read_csv(file, sep="\t", na_values="-").assign(rule=file.stem.rpartition(".")[2])
        for file in files
    )
    grouped = runs.groupby("rule")
    table = grouped.agg(jobs=("s", "size"), seconds=("s", "mean"), peak_mb=("max_rss", "max"))
    return table.round({"seconds": 2, "peak_mb": 0}).astype({"peak_mb": int}).reset_index()


if __name__ == "__main__":
    measured(Path(sys.argv[1])).to_csv(MEASURED, index=False)
