"""Tasks of the study's own, also of classifiers that are fine-tuned already, and their labels."""

from collections.abc import Mapping
from typing import Any

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run import model_sources

ORDER = "in the order of the numbers of the model's outputs"


def enter_labels(config: dict[str, Any], root: dict[str, Any]) -> None:
    """Enter the labels of own tasks that have none: those of their classifier, in config.json.

    Files of a task that is then `numbered` may also hold the numbers of the labels. Raises
    InputError where there are no labels, for keys of a task that contradict each other, and for
    what a classifier's study cannot have.
    """
    _check_keys(config["tasks"])
    own = config["tasks"].keys() - root["properties"]["tasks"]["properties"].keys()
    for name, model in config["models"].items():
        if "task" in model:
            _check(f"config: models.{name}.task: {model['task']!r}", model, config, own)
    for task in own:
        entry = config["tasks"][task]
        if "labels" not in entry:
            given = [model for model in config["models"].values() if model.get("task") == task]
            if not given:
                what = root["$defs"]["own_task"]["properties"]["labels"]["description"]
                raise InputError(f"config: tasks.{task}.labels: missing; add it: {what}")
            entry["labels"] = labels = _labels_of(given[0], task)
            entry["numbered"] = not any(label.isdecimal() for label in labels)


def _check_keys(tasks: dict[str, Any]) -> None:
    """Raise InputError where the keys of a task contradict each other."""
    for name, task in tasks.items():
        labels, where = task.get("labels", []), f"config: tasks.{name}"
        if labels and task["format"] == "ratings" and (labels == "score" or len(labels) != 2):
            raise InputError(f"{where}.labels: ratings have two, the negative first; correct them")
        if labels != "score" and len({*map(str, labels)}) < len(labels):
            raise InputError(f"{where}.labels: two are one in a file, as it has texts; remove one")
        if labels and task["label"] in task.get("text", []):
            raise InputError(f"{where}.text: {task['label']!r} is the label's column; remove it")


def _check(what: str, model: Mapping[str, Any], config: dict[str, Any], own: set[str]) -> None:
    task, finetune = model["task"], config["checkpoints"]["finetune"]
    others = sorted(config["tasks"].keys() - {task})
    if model["kind"] != "encoder":
        raise InputError(f"{what}: only encoders are read as classifiers; remove task")
    if task not in own:
        raise InputError(f"{what} is a task of the papers'; give it a name of your own")
    if others:
        raise InputError(
            f"{what}: such a study has one task; remove tasks.{', tasks.'.join(others)}"
        )
    if len(finetune["seeds"]) > 1 or finetune["every_epoch"]:
        raise InputError(
            f"{what}: it is trained already; give one seed and no every_epoch in "
            "checkpoints.finetune"
        )


def _labels_of(source: Mapping[str, Any], task: str) -> list[str] | str:
    """The names of a classifier's outputs in the order of their numbers, or score for one output.

    Of a hub's repository config.json is read where it has been fetched before.
    """
    try:
        stated = model_sources.config_of(source)
        names = stated.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})  # two are not written
        names = [str(names[number]) for number in sorted(names, key=int)]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"config: tasks.{task}.labels: missing, and the model's config.json shows no id2label "
            f"({one_line(error)}); write the labels as the file of the task spells them, {ORDER}"
        ) from error
    return names if len(names) > 1 else "score"
