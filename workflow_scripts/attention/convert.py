"""A model that is not read as it is, such as a GGUF file, as a directory that every job reads."""

from pathlib import Path

from workflow_scripts.core.model import conversion, models
from workflow_scripts.core.run import job


def main(source: dict, converted: job.Out, files: list[Path] = ()) -> None:
    """Write the model that `source` names (`files`: its files, where local, for the record)."""
    conversion.convert(models.Source(**source), converted)


if __name__ == "__main__":
    job.run(main, globals())
