"""The model in a GGUF file as a directory that every job reads: float32 weights, safetensors."""

from pathlib import Path

from workflow_scripts.core.model import gguf_files, models
from workflow_scripts.core.run import job


def main(source: dict, dequantised: job.Out, files: list[Path] = ()) -> None:
    """Write the model that `source` names (`files`: its file, where local, for the record).

    Its config states as `quantised` what most weights were stored as.
    """
    file = models.resolve(models.Source(**source))
    (tokenizer, quantised), model = gguf_files.read_header(file), gguf_files.load(file)
    if quantised:
        model.config.quantised = quantised
    models.save(model, tokenizer, dequantised)


if __name__ == "__main__":
    job.run(main, globals())
