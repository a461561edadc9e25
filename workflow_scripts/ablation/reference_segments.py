"""The segments of running text from which disabled heads of a decoder take their outputs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.replacements import FROM_TEXTS
from workflow_scripts.core.model.segments import Segments


def reference_texts(
    corpus: Path,
    others: Sequence[Example],
    modes: Iterable[str],
    reference: int,
    card: dict[str, Any],
    max_tokens: int,
) -> list[Tokens]:
    """The first `reference` of the `others` as tokens; none where no mode takes outputs from texts.

    `others` are the segments of the corpus that are not measured. Raises InputError where a mode
    needs them and there are none.
    """
    taken = [mode for mode in modes if mode in FROM_TEXTS]
    if not taken:
        return []
    if not others:
        raise InputError(
            f"{corpus}: mode {taken[0]} needs segments other than those measured; lower "
            f"ablation.text.n_segments or remove {taken[0]} from ablation.text.modes"
        )
    return Segments.of(others[:reference], card, max_tokens).tokens
