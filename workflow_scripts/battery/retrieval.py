"""Retrieval heads and the needles they find in haystacks, after Wu et al. 2024, section 2.

While a token of the needle is to be produced, a head copies it if its most attended token is inside
the needle and is that token. The answer is teacher-forced, so that the score is defined for models
that do not find the needle. The needles are made up here, so that no model has read them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from workflow_scripts.battery.head_roles import with_role
from workflow_scripts.battery.inputs import encode
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Units
from workflow_scripts.core.model import attention, causal_engine, models, running
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean, per_head

NAMES = "Amara Bruno Celeste Dmitri Esme Farid Greta Hiro Imani Jonas Katya Lionel Mirela".split()
THINGS = (
    "seven green lemons;a broken violin;two silver keys;an old compass;forty paper cranes;"
    "a wooden flute;three blue marbles;a jar of honey;a torn map;five copper bells;"
    "a velvet glove;nine white candles;a stuffed owl;a bag of walnuts;a glass dolphin"
).split(";")
PLACES = "attic;boathouse;cellar;greenhouse;lighthouse;observatory;pantry;stable;tower;windmill"
N_THINGS = 3
ENDS = (".", "?", "!")


@dataclass(frozen=True)
class Needle:
    """A sentence and a question; the answer is the sentence's, word for word."""

    sentence: str
    question: str
    answer: str


@dataclass(frozen=True)
class Haystack:
    """The tokens of a text with a needle, its question and answer.

    `needle` are the positions of the answer's tokens inside the text, `answer` those of the same
    tokens at the end; `depth` is the share of the text that stands before the needle, `segment` the
    id of the corpus' segment with which the text begins.
    """

    ids: np.ndarray
    needle: np.ndarray
    answer: np.ndarray
    depth: float
    segment: str


def make_needles(n: int, seed: int) -> list[Needle]:
    """Needles of different names, things and places, as far as these suffice."""
    rng = np.random.default_rng(seed)
    needles = []
    for _ in range(n):
        name, place = rng.choice(NAMES), rng.choice(PLACES.split(";"))
        one, two, three = rng.choice(THINGS, N_THINGS, replace=False)
        answer = f" {one}, {two} and {three}"
        start = f"In the {place} {name} keeps"
        question = f"\n\nQuestion: What does {name} keep in the {place}?\nAnswer: {start}"
        needles.append(Needle(f" {start}{answer}.", question, answer))
    return needles


def haystacks(
    examples: Sequence[Example],
    needles: Sequence[Needle],
    tokenizer: PreTrainedTokenizerFast,
    n_tokens: int,
    start: Sequence[int],
) -> list[Haystack]:
    """Each needle in `n_tokens` tokens of text of its own, at depths spread evenly from 0 to 1.

    A text goes on over segments of the corpus from one document on; the needle stands after the end
    of a sentence, the nearest to its depth. `start` is what the tokenizer puts first. Raises
    InputError where the corpus has too little text.
    """
    made, place = [], 0
    for needle, depth in zip(needles, np.linspace(0, 1, len(needles)), strict=True):
        segment = examples[place].id if place < len(examples) else ""
        ids: list[int] = []
        while len(ids) < n_tokens:
            if place == len(examples):
                raise InputError(
                    f"config: battery.retrieval: {len(needles)} texts of {n_tokens} tokens need a "
                    "longer corpus; lower n_needles or n_tokens, or raise the corpus' n_segments"
                )
            ids += encode("\n".join(filter(None, examples[place].texts)) + "\n", tokenizer)
            place += 1
        made.append(_hidden(needle, depth, ids[:n_tokens], tokenizer, list(start), segment))
    return made


def _hidden(
    needle: Needle,
    depth: float,
    ids: list[int],
    tokenizer: PreTrainedTokenizerFast,
    start: list[int],
    segment: str,
) -> Haystack:
    texts = tokenizer.batch_decode([[index] for index in ids])
    ends = [0] + [at + 1 for at, text in enumerate(texts) if text.rstrip().endswith(ENDS)]
    cut = min(ends, key=lambda end: abs(end - depth * len(ids)))
    answer = encode(needle.answer, tokenizer)
    before = encode(needle.sentence.removesuffix(f"{needle.answer}."), tokenizer)
    parts = [start, ids[:cut], before, answer, encode(".", tokenizer), ids[cut:]]
    parts += [encode(needle.question, tokenizer), answer]
    starts = np.cumsum([0, *map(len, parts)])
    return Haystack(
        np.array([index for part in parts for index in part]),
        starts[3] + np.arange(len(answer)),
        starts[7] + np.arange(len(answer)),
        cut / len(ids),
        segment,
    )


@dataclass
class MostAttended(attention.Watcher):
    """Collects each layer's most attended keys of some queries, [head, query], of one text."""

    queries: np.ndarray
    keys: list[np.ndarray] = field(default_factory=list)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.keys.append(pattern[0, :, torch.from_numpy(self.queries)].argmax(-1).cpu().numpy())
        return pattern


def retrieved(model: PreTrainedModel, text: Haystack) -> tuple[np.ndarray, np.ndarray]:
    """The most attended keys [layer, head, answer token], and whether the model produces the token.

    Both at the query from which the token of the answer is predicted; the latter is bool [answer
    token]: the token has the largest logit after the correct ones before it.
    """
    watcher = MostAttended(text.answer - 1)
    ids = torch.from_numpy(text.ids)[None].to(model.device)
    with torch.inference_mode(), running.OneDNN(), attention.watching(model, watcher):
        kept = len(text.ids) - int(watcher.queries[0])  # the logits of the rest are not needed
        logits = model(ids, use_cache=False, logits_to_keep=kept).logits[0]
    produced = logits[:-1].argmax(-1).cpu().numpy() == text.ids[text.answer]
    return np.stack(watcher.keys), produced


def copied(keys: np.ndarray, text: Haystack, shift: int = 0) -> np.ndarray:
    """Whether the most attended key is in the needle and holds the answer's token: bool, as `keys`.

    With `shift`, the token that is so many later in the answer, which begins again after its end.
    """
    tokens = text.ids[text.answer]
    inside = (keys >= text.needle[0]) & (keys <= text.needle[-1])
    return inside & (text.ids[keys] == np.roll(tokens, -shift))


def shares(keys: np.ndarray, produced: np.ndarray, text: Haystack) -> dict[str, np.ndarray]:
    """A needle's scores, each [layer, head].

    `score` is the share of the answer's tokens that the head copies, `others` the null: the same
    for the answer's other tokens, mean over all shifts; `produced` the share copied of the tokens
    that the model itself produces, NaN where it produces none.
    """
    own = copied(keys, text)
    others = [copied(keys, text, shift).mean(-1) for shift in range(1, len(text.answer))]
    of_produced = own[..., produced].mean(-1) if produced.any() else np.full(own.shape[:2], np.nan)
    return {"score": own.mean(-1), "others": np.mean(others, axis=0), "produced": of_produced}


def scores(
    found: Sequence[dict[str, np.ndarray]], threshold: float, bootstrap: int, seed: int
) -> pd.DataFrame:
    """One row per head: means over needles, with 95% intervals over them.

    p and p_corrected are those of score minus others over needles. A head `has_role` where
    p_corrected is below LEVEL, the score above `others` and not below `threshold`.
    """
    values = {name: np.stack([each[name] for each in found]) for name in found[0]}
    frame = per_head({"retrieval": values["score"]}, "role", "score", bootstrap, seed, INDEPENDENT)
    frame["others"] = values["others"].mean(axis=0).ravel()
    ends = bootstrap_mean(values["produced"], bootstrap, seed, INDEPENDENT)
    for name, end in zip(("produced", "produced_low", "produced_high"), ends, strict=True):
        frame[name] = end.ravel()
    above = (frame["score"] > frame["others"]) & (frame["score"] >= threshold)
    return with_role(frame, values["score"] - values["others"], above)


def opened(
    model: Path, corpus: Path, n_needles: int, n_tokens: int, device: str, seed: int
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast, list[Needle], list[Haystack]]:
    """The decoder, its tokenizer, the needles and their texts. Raises InputError for long ones."""
    card = read_card(model)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    start = [] if card["start"] is None else [card["start"]]
    needles = make_needles(n_needles, seed)
    texts = haystacks(read_examples(corpus), needles, tokenizer, n_tokens, start)
    longest = max(len(text.ids) for text in texts)
    if longest > card["max_positions"]:
        raise InputError(
            f"config: battery.retrieval.n_tokens: {n_tokens} and a needle are {longest} tokens, "
            f"but {card['name']} has {card['max_positions']} positions; lower it"
        )
    decoder = causal_engine.load_causal(directory, running.pick_device(device))
    return decoder, tokenizer, needles, texts


def each_needle(
    model: Path, corpus: Path, n_needles: int, n_tokens: int, device: str, seed: int
) -> Iterator[tuple[Haystack, np.ndarray, dict[str, np.ndarray]]]:
    """Each needle's text, which tokens of its answer the model produces, and its `shares`."""
    decoder, _, _, texts = opened(model, corpus, n_needles, n_tokens, device, seed)
    for text in job.progress(texts, desc="needles"):
        keys, produced = retrieved(decoder, text)
        yield text, produced, shares(keys, produced, text)


def units(
    model: Path, corpus: Path, n_needles: int, n_tokens: int, device: str = "auto", seed: int = 1
) -> Units:
    """Each needle's scores, [needle, layer, head], for comparisons of models."""
    of_needles = each_needle(model, corpus, n_needles, n_tokens, device, seed)
    scored = np.stack([found["score"] for _, _, found in of_needles])
    return {"score": (scored, np.ones(len(scored), int))}


def main(
    model: Path,
    corpus: Path,
    retrieval_scores: job.Out,
    table: job.Out,
    needles: job.Out,
    n_needles: int,
    n_tokens: int,
    threshold: float,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write each head's retrieval score, and of each needle how many tokens the model produces."""
    of_needles = each_needle(model, corpus, n_needles, n_tokens, device, seed)
    found, rows = [], []
    for number, (text, produced, of_needle) in enumerate(of_needles, 1):
        found.append(of_needle)
        row = {"needle": number, "segment": text.segment, "depth": text.depth}
        row |= {"n_tokens": len(text.ids), "answer_tokens": len(text.answer)}
        rows.append(row | {"produced": int(produced.sum()), "whole": bool(produced.all())})
    frame = scores(found, threshold, bootstrap, seed)
    tables.write(frame, retrieval_scores)
    tables.write_csv(pd.DataFrame(rows), needles)
    shown = frame.assign(head=head_labels(frame))
    shown = shown.sort_values("score", ascending=False, kind="stable")
    columns = ["head", *(name for name in frame if name not in ("layer", "head", "role"))]
    tables.write_csv(shown[columns], table)


if __name__ == "__main__":
    job.run(main, globals())
