"""Retrieval heads, after Wu et al. 2024, section 2.

While a token of the needle is to be produced, a head copies it if its most attended token is inside
the needle and is that token. The answer is teacher-forced, so that the score is defined for models
that do not find the needle; how often the model would have produced it is reported next to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.battery.head_roles import with_role
from workflow_scripts.battery.needles import Haystack, haystacks, make_needles
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, causal, devices, models
from workflow_scripts.core.model.attention import Watcher
from workflow_scripts.core.model.onednn import OneDNN
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean, per_head


@dataclass
class MostAttended(Watcher):
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
    with torch.inference_mode(), OneDNN(), attention.watching(model, watcher):
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


def needle_rows(texts: Sequence[Haystack], produced: Sequence[np.ndarray]) -> pd.DataFrame:
    """One row per needle: its text, depth and tokens, and how many of them the model produces."""
    return pd.DataFrame(
        {
            "needle": 1 + number,
            "segment": text.segment,
            "depth": text.depth,
            "n_tokens": len(text.ids),
            "answer_tokens": len(text.answer),
            "produced": int(each.sum()),
            "whole": bool(each.all()),
        }
        for number, (text, each) in enumerate(zip(texts, produced, strict=True))
    )


def main(
    model: Path,
    corpus: Path,
    retrieval_scores: Out,
    table: Out,
    needles: Out,
    n_needles: int,
    n_tokens: int,
    threshold: float,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
    files: list[Path] = (),
) -> None:
    """Write each head's retrieval score, and what the model produces of each needle."""
    card = read_card(model)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    start = [] if card["start"] is None else [card["start"]]
    made = make_needles(n_needles, seed)
    texts = haystacks(read_examples(corpus), made, tokenizer, n_tokens, start)
    longest = max(len(text.ids) for text in texts)
    if longest > card["max_positions"]:
        raise InputError(
            f"config: battery.retrieval.n_tokens: {n_tokens} and a needle are {longest} tokens, "
            f"but {card['name']} has {card['max_positions']} positions; lower it"
        )
    language_model = causal.load(directory, devices.pick(device))
    found, produced = [], []
    for text in job.progress(texts, desc="needles"):
        keys, own = retrieved(language_model, text)
        found.append(shares(keys, own, text))
        produced.append(own)
    frame = scores(found, threshold, bootstrap, seed)
    tables.write(frame, retrieval_scores)
    tables.write_csv(needle_rows(texts, produced), needles)
    shown = frame.assign(head=labels(frame)).sort_values("score", ascending=False, kind="stable")
    columns = ["head", *(name for name in frame if name not in ("layer", "head", "role"))]
    tables.write_csv(shown[columns], table)


if __name__ == "__main__":
    job.run(main, globals())
