"""What makes a result stale, and what does not."""

import os
import random

from tests.workflow.tiny_study import TinyStudy, rules_importing

TRAININGS = {"finetune", "finetune_every_epoch", "finetune_random", "translator_training"}
TRAININGS |= {"argument_grid", "argument_grid_words", "argument_run", "argument_run_words"}


def test_a_core_module_reruns_what_imports_it(
    tiny_study: TinyStudy, copied_study: TinyStudy
) -> None:
    module = "core/data/cache.py"
    path = copied_study.folder / "workflow_scripts" / module
    path.write_text(path.read_text() + "\nADDED = 1\n")
    direct = rules_importing(module) & tiny_study.rules
    assert direct
    # What depends on a stale result is made again too; nothing else is.
    assert copied_study.planned() == tiny_study.with_followers(direct)


def test_a_config_key_reruns_what_reads_it(tiny_study: TinyStudy, copied_study: TinyStudy) -> None:
    copied_study.config["surface"]["threshold"] = 0.4
    copied_study.config["tasks"]["mrpc"]["from"]["generate"]["train"] = 18
    copied_study.write_config()
    # head_changes and the jobs of untrained copies have its settings.
    direct = {
        "relative_position",
        "head_changes",
        "untrained_1",
        "untrained_2",
        "generate_task",
        "generate_training",
    }
    assert copied_study.planned() == tiny_study.with_followers(direct)


def test_what_is_evaluated_on_trains_nothing_again(copied_study: TinyStudy) -> None:
    mrpc, data = copied_study.config["tasks"]["mrpc"], copied_study.config["translation"]["data"]
    mrpc["n_dev"] = 4
    mrpc["from"]["generate"]["dev"] = 8
    data["from"]["generate"]["test"] = 5
    copied_study.config["tasks"]["arct"]["from"]["generate"]["test"] = 7
    copied_study.write_config()
    planned = copied_study.planned()
    measured = {"score_classifier", "ablation_sweep", "pruning_curves", "pruning_during_training"}
    measured |= {"translation_sweep", "argument_predictions", "argument_predictions_words"}
    assert measured <= planned
    assert not planned & TRAININGS
    mrpc["from"]["generate"]["train"] = 18
    data["from"]["generate"]["train"] = 42
    copied_study.write_config()
    trained = {"finetune_every_epoch", "finetune_random", "translator_training"}
    assert trained <= copied_study.planned()


def test_settings_that_change_no_weight_train_nothing_again(copied_study: TinyStudy) -> None:
    copied_study.config["device"] = "auto"
    for chapter in ("attention", "ablation"):
        copied_study.config[chapter]["shards"] = 2
    copied_study.write_config()
    assert copied_study.planned() == set()
    copied_study.config["checkpoints"]["finetune"]["every_epoch"] = []
    copied_study.config["translation"]["train"]["every_epoch"] = False
    copied_study.write_config()
    assert not copied_study.planned() & (TRAININGS | {"ablation_sweep", "translation_sweep"})


def test_comments_and_dates_rerun_nothing_and_a_changed_directory_what_reads_it(
    tiny_study: TinyStudy, copied_study: TinyStudy
) -> None:
    """Directory products too, of which Snakemake itself sees the date alone."""
    for file in ("core/data/cache.py", "core/run/job.py", "surface/entropy.py"):
        path = copied_study.folder / "workflow_scripts" / file
        text = path.read_text()
        start = text.index('"""')
        changed = text[:start] + '"""Another docstring. ' + text[start + 3 :] + "# a comment\n"
        path.write_text(changed)
    files = sorted(copied_study.folder.rglob("*"))
    random.Random(1).shuffle(files)
    for second, file in enumerate(files):
        os.utime(file, (1_700_000_000 + second,) * 2, follow_symlinks=False)
    assert copied_study.planned() == set()
    listing = copied_study.folder / "results/tiny/tasks/mrpc.generated.sha256"
    listing.write_text(listing.read_text().replace("a", "b"))  # as after other files were made
    assert copied_study.planned() == tiny_study.with_followers({"prepare_task"})


def test_a_changed_text_or_model_reruns_what_follows(copied_study: TinyStudy) -> None:
    for file in ("texts/0.txt", "tiny-model/tokenizer.json"):
        path = copied_study.folder / file
        path.write_text(path.read_text() + "\nmore words are here , and more .\n")
    expected = {"segments", "model_card", "extract", "entropy", "clark2019_fig4"}
    assert expected <= copied_study.planned()


def test_only_a_deleted_figure_is_made_again(copied_study: TinyStudy) -> None:
    (copied_study.folder / "results/tiny/tiny/figures/clark2019-fig4.svg").unlink()
    assert copied_study.planned() == {"clark2019_fig4", "atlas_page"}
