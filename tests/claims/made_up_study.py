"""A small study whose tables are made up, with what claims read of it."""

from collections.abc import Sequence
from pathlib import Path

from tests.claims import made_up_arguments, made_up_papers
from tests.claims.made_up import MadeUpTables

MODEL, DECODER = "made-up", "decoder"


def made_up_study(folder: Path, seeds: Sequence[int]) -> Path:
    """The results of a study of these seeds, of an encoder and a decoder, below the folder."""
    study = MadeUpTables(folder / "results", MODEL, (6, 4), seeds)
    made_up_papers.clark(study)
    study.norms(("cls", "sep"), "norm")
    study.modes("ablation", ("mrpc", "sst2"), ("uniform", "zero"), ("zero", "resample"))
    made_up_papers.kovaleva_printed(study)
    made_up_papers.kovaleva_heads(study)
    made_up_papers.classifiers(study)
    made_up_papers.translators(study)
    made_up_arguments.write(study)
    decoder = MadeUpTables(study.results, DECODER, (4, 6), [1])
    made_up_papers.decoders(decoder)
    decoder.norms(["first"], "residual")
    decoder.modes("next-token", ["text"], ("zero", "resample"), ("zero", "mean"))
    return study.results
