"""Weights from a directory, refused where they are not those that its config.json describes.

What `transformers` does not find among the weights it makes anew at random, and what it finds too
much it leaves out; here both are errors.
"""

import json
from pathlib import Path

import torch
import transformers
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel

from workflow_scripts.core.run.errors import InputError, one_line

AGAIN = "save the model again with save_pretrained"
INDEX = "model.safetensors.index.json"


def read_config(directory: Path) -> PretrainedConfig:
    """The config.json of a model's directory; raises InputError where it cannot be read."""
    if not (directory / "config.json").is_file():
        raise InputError(f"{directory}: no config.json; give a directory in Hugging Face format")
    try:
        return AutoConfig.from_pretrained(directory)
    except Exception as error:  # of any kind, for a file of any content
        raise InputError(
            f"{directory}/config.json: cannot be read ({one_line(error)}); fix it"
        ) from error


def load(
    kind: type, directory: Path, whole: bool = False, config: PretrainedConfig | None = None
) -> tuple[PreTrainedModel, set[str]]:
    """The model of class `kind`, float32, and the names of its parameters that were made anew.

    Without `whole` these may be the head's and the pooler's, never others of the body. Raises
    InputError for weights that cannot be read, or of another architecture or size.
    """
    config = config or read_config(directory)
    files(directory)
    indexed(directory)
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what it would report is checked here
    try:
        model, report = kind.from_pretrained(
            directory,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{directory}: the weights cannot be read ({one_line(error)}); copy them again"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    for name, found, expected in sorted(report["mismatched_keys"]):
        raise _refusal(directory, f"{name} is {[*found]}, where {[*expected]} is expected")
    missing = set(report["missing_keys"])
    lacking = missing if whole else {name for name in missing if _of_body(model, name)}
    if lacking:
        raise _refusal(directory, f"{min(lacking)} is missing{_more(lacking)}")
    if surplus := {name for name in report["unexpected_keys"] if _of_body(model, name)}:
        raise _refusal(directory, f"{min(surplus)} is not among its parameters{_more(surplus)}")
    return model, missing


def files(directory: Path) -> list[Path]:
    """The weight files of a model's directory; raises InputError where there is none."""
    found = sorted(directory.glob("*.safetensors"))
    if not found:
        pickles = sorted(path.name for path in directory.glob("pytorch_model*.bin"))
        but = f" but {pickles[0]}, a pickle, which is never read" if pickles else ""
        raise InputError(f"{directory}: no *.safetensors weights{but}; {AGAIN} (docs/data.md)")
    return found


def indexed(directory: Path) -> set[str]:
    """The names of the files in the index of weights; empty where there is no index.

    Raises InputError for an index that names other files than safetensors, such as pickles:
    `transformers` reads whatever an index names, also where it is to use safetensors alone.
    """
    path = directory / INDEX
    if not path.is_file():
        return set()
    try:
        names = set(json.loads(path.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not an index of weights ({error!r}); {AGAIN}") from error
    for name in sorted(map(str, names)):
        if not name.endswith(".safetensors"):
            raise InputError(f"{path}: {name} is no file of safetensors; {AGAIN}")
    return names


def _of_body(model: PreTrainedModel, name: str) -> bool:
    """Whether a parameter of this name belongs to one of the body's modules, but its pooler."""
    module = name.removeprefix(model.base_model_prefix + ".").partition(".")[0]
    return module != "pooler" and module in dict(model.base_model.named_children())


def _refusal(directory: Path, why: str) -> InputError:
    return InputError(
        f"{directory}: the weights are not those of the model in its config.json: {why}; {AGAIN}"
    )


def _more(names: set[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
