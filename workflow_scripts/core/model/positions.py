"""How many tokens a model reads: what config.json states may count other positions, too."""

from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError


def max_positions(model: PreTrainedModel) -> int:
    """Maximum number of tokens of an input.

    RoBERTa's 514 positions, say, are those of 512 tokens: the first are up to that of padding.
    Raises InputError where the config does not bound it.
    """
    stated = getattr(model.config, "max_position_embeddings", None)
    if stated is None or stated < 1:
        raise InputError(
            f"{model.config.model_type}: max_position_embeddings in config.json is {stated}; use "
            "another model"
        )
    for name, module in model.named_modules():
        if name.endswith("position_embeddings"):
            padding = getattr(module, "padding_idx", None)
            return stated if padding is None else stated - padding - 1
    return stated
