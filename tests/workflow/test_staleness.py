"""What makes a result stale, and what does not."""

from pathlib import Path

import pytest

from tests.workflow.tiny_study import TinyStudy, rules_importing

# Not part of a whole run.
ASKED_FOR = {"contact_sheets"}


def test_a_finished_study_has_nothing_to_do(tiny_study: TinyStudy) -> None:
    assert tiny_study.planned() == set()


@pytest.mark.parametrize(
    "file", ["workflow_scripts/core/data/cache.py", "workflow_scripts/surface/entropy.py"]
)
def test_a_comment_or_docstring_reruns_nothing(copied_study: TinyStudy, file: str) -> None:
    path = copied_study.folder / file
    text = path.read_text()
    start = text.index('"""')
    path.write_text(text[:start] + '"""Another docstring. ' + text[start + 3 :] + "# a comment\n")
    assert copied_study.planned() == set()


@pytest.mark.parametrize(
    "module", ["core/model/mlm_masking.py", "core/data/cache.py", "core/model/batches.py"]
)
def test_a_core_module_reruns_what_imports_it(copied_study: TinyStudy, module: str) -> None:
    path = copied_study.folder / "workflow_scripts" / module
    path.write_text(path.read_text() + "\nADDED = 1\n")
    direct = rules_importing(copied_study, module) - ASKED_FOR
    planned = copied_study.planned()
    assert direct <= planned
    # What follows from a stale result is made anew too; nothing else is.
    assert planned - direct <= followers(copied_study, direct)


def followers(tiny_study: TinyStudy, rules: set[str]) -> set[str]:
    """Rules that stand behind `rules` in the DAG."""
    done = tiny_study.snakemake("--dry-run", "--forcerun", *sorted(rules)) if rules else None
    if done is None:
        return set()
    import re

    return set(re.findall(r"^(?:local)?rule (\w+):", done.stdout, re.M)) - {"all"}


def test_a_plotting_script_reruns_its_plot(copied_study: TinyStudy) -> None:
    path = next((copied_study.folder / "workflow_scripts/surface").glob("*fig4*.py"))
    path.write_text(path.read_text() + "\nADDED = 1\n")
    assert copied_study.planned() == {"clark2019_fig4"}


@pytest.mark.parametrize(
    ("path", "value", "direct"),
    [
        (["surface", "threshold"], 0.4, "position"),
        (["surface", "gradients", "n_segments"], 5, "gradients"),
        (["checkpoints", "mlm_head", "epochs"], 2, "mlm_head"),
        (["attention", "batch_tokens"], 300, "extract"),
    ],
)
def test_a_config_key_reruns_what_reads_it(
    copied_study: TinyStudy, path: list[str], value: object, direct: str
) -> None:
    place = copied_study.config
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    copied_study.write_config()
    planned = copied_study.planned()
    assert direct in planned
    others = {"segments", "model", "extract", "mlm_head", "gradients", "entropy"} - {direct}
    assert not (planned & others) - followers(copied_study, {direct})


@pytest.mark.parametrize(
    "file",
    [
        "results/tiny/corpora/made-up.jsonl",
        "results/tiny/tiny/attention/made-up.h5",
        "results/tiny/tiny/surface/entropy.parquet",
        "texts/0.txt",
        "tiny-model/model.safetensors",
    ],
)
def test_touching_an_input_reruns_nothing(copied_study: TinyStudy, file: str) -> None:
    path: Path = copied_study.folder / file
    path.touch()
    assert copied_study.planned() == set()


def test_a_changed_text_or_model_reruns_what_follows(copied_study: TinyStudy) -> None:
    text = copied_study.folder / "texts/0.txt"
    text.write_text(text.read_text() + "\nmore words are here , and more .\n")
    assert {"segments", "extract", "entropy", "clark2019_fig4"} <= copied_study.planned()


def test_one_deleted_figure_is_made_anew_alone(copied_study: TinyStudy) -> None:
    figure = copied_study.folder / "results/tiny/tiny/figures/clark2019-fig4.svg"
    figure.unlink()
    assert copied_study.planned() == {"clark2019_fig4"}
    copied_study.run()
    assert figure.is_file()
