"""The maps of a decoder that the atlas shows: of prompts, and of what it generates after them.

A prompt is the beginning of a text that the study has. The model goes on with it greedily: each
next token is the one with the largest logit. The maps are those of a forward pass over the whole.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from workflow_scripts.atlas.texts import (
    ANY_LENGTH,
    entry_of,
    spread,
    title_of,
    with_maps,
    write_maps,
)
from workflow_scripts.core.data.annotations import Example, read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import PRETRAINED
from workflow_scripts.core.model import causal_engine, models, running
from workflow_scripts.core.model.extraction import forward
from workflow_scripts.core.run import job

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


def prompts(
    examples: Sequence[Example], tokenizer: "PreTrainedTokenizerFast", n: int, most: int
) -> Iterator[tuple[int, Tokens]]:
    """`n` examples from all over a corpus, by their numbers: the first `most` tokens of each.

    They are chosen as an encoder's are, by their whole lengths. Special tokens at the end, after
    which a model would begin another text, are left out.
    """
    lengths = np.array(
        [len(each) for each in tokenize(examples, tokenizer, ANY_LENGTH, ANY_LENGTH)]
    )
    for index in spread(lengths, n):
        (tokens,) = tokenize([examples[index]], tokenizer, most, ANY_LENGTH)
        length = int(np.flatnonzero(tokens.word >= 0)[-1]) + 1
        parts = (tokens.ids[:length], tokens.word[:length], tokens.segment[:length])
        yield index, Tokens(tokens.id, *parts, tokens.n_words)


def continued(model: "PreTrainedModel", ids: np.ndarray, n: int) -> np.ndarray:
    """`ids` [token] with at most `n` more, each the one with the largest logit.

    The token that ends a text is the last one.
    """
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    grown = torch.from_numpy(ids).long()[None].to(model.device)
    read, past = grown, None
    with torch.inference_mode():
        for _ in range(n):
            output = model(input_ids=read, past_key_values=past, use_cache=True)
            read, past = output.logits[:, -1:].argmax(dim=-1), output.past_key_values
            grown = torch.cat([grown, read], dim=1)
            if read.item() in ends:
                break
    return grown[0].cpu().numpy().astype(ids.dtype)


def words_after(
    tokenizer: "PreTrainedTokenizerFast", ids: np.ndarray, word: np.ndarray
) -> np.ndarray:
    """The word of each token of `ids`, of which `word` knows the first: -1 for special tokens.

    A token that was generated goes on with the word before it where letters or digits meet.
    """
    words = word.tolist()
    before = tokenizer.decode(ids[: len(words)])
    for position in range(len(words), len(ids)):
        text = tokenizer.decode(ids[: position + 1])
        first, last = text[len(before) : len(before) + 1], before[-1:]
        if int(ids[position]) in tokenizer.all_special_ids:
            words.append(-1)
        else:
            joined = words[-1] >= 0 and first.isalnum() and last.isalnum()
            words.append(max(words) + (not joined))
        before = text
    return np.array(words, dtype=word.dtype)


def main(
    model: Path,
    texts: list[Path],
    maps: job.Out,
    kinds: dict,
    segments: int,
    prompt_tokens: int,
    generated_tokens: int,
    generated: list = (),
    device: str = "auto",
) -> None:
    """Write the texts of one decoder, and their maps.

    `kinds` states what each corpus is, in the order of `texts`; `generated` names those that no
    person wrote. Raises InputError where the model has no room for so many tokens.
    """
    card = read_card(model)
    if prompt_tokens + generated_tokens > card["max_positions"]:
        raise InputError(
            f"config: atlas: prompt_tokens and generated_tokens are {prompt_tokens} and "
            f"{generated_tokens}, but {card['name']} reads at most {card['max_positions']}; "
            "lower them"
        )
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    decoder = causal_engine.load_causal(directory, running.pick_device(device))
    made = []
    shown = zip(kinds.items(), texts, strict=True)
    for (name, kind), path in job.progress(list(shown), desc="maps"):
        source = f"{name}, generated" if name in generated else name
        examples = read_examples(path)
        n = segments if kind == "text" else min(1, segments)
        for index, prompt in prompts(examples, tokenizer, n, prompt_tokens):
            ids = continued(decoder, prompt.ids, generated_tokens)
            word = words_after(tokenizer, ids, prompt.word)
            parts = (ids, word, np.zeros(len(ids), np.int8))
            whole = Tokens(prompt.id, *parts, int(word.max()) + 1)
            pattern = forward(decoder, [whole])[:, 0]
            example = examples[index]
            title = title_of(source, example.document, example.id)
            about = (f"{name}-{index}", card["name"], name, title)
            segment = entry_of(*about, whole, tokenizer) | {"generated": len(whole) - len(prompt)}
            made.append(with_maps(segment, {PRETRAINED: pattern}))
    write_maps(made, maps)


if __name__ == "__main__":
    job.run(main, globals())
