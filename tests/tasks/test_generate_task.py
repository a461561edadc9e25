"""Generated tasks: the official format, honest labels, and words enough."""

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.generated.grammar import (
    TOWN,
    active,
    fronted,
    new_fact,
    passive,
    to_text,
    unacceptable,
)
from workflow_scripts.tasks import generate_task
from workflow_scripts.tasks.glue_files import read_directory


@pytest.mark.parametrize("name", generate_task.WRITERS)
def test_the_files_are_read_by_the_official_reader(tmp_path: Path, name: str) -> None:
    generate_task.main(tmp_path / "made", name, n_train=90, n_dev=40)
    splits = read_directory(tmp_path / "made", TASKS[name])
    assert splits.keys() == TASKS[name].files.keys()
    assert [len(part.rows) for part in splits.values()] == [90] + [40] * (len(splits) - 1)
    assert all(part.malformed == [] for part in splits.values())
    labels = Counter(row["label"] for row in splits["train"].rows)
    if TASKS[name].labels:
        assert set(labels) == set(range(TASKS[name].n_labels))
        assert min(labels.values()) >= 15
    else:
        assert min(labels) >= 0 and max(labels) == 5
        assert len(labels) > 8


def test_one_mistake_makes_a_sentence_unacceptable() -> None:
    kinds = Counter()
    for seed in range(300):
        fact = new_fact(random.Random(seed), (TOWN,), negated=0.3)
        details = ("place", "time")[: seed % 3]
        words = unacceptable(fact, random.Random(seed), details).lower().rstrip(".").split()
        # The same stream of random numbers writes the sentence without the mistake.
        rng = random.Random(seed)
        form = rng.choice([active, passive, fronted if "time" in details else active])
        right = to_text(form(fact, rng, details, True)).lower().rstrip(".").split()
        assert words != right
        if sorted(words) == sorted(right):
            kinds["misplaced"] += 1
            assert any(before != "the" and after == "the" for before, after in pairwise(words))
        elif right.count("the") > words.count("the"):
            kinds["missing"] += 1
            assert len(words) == len(right) - 1
        else:
            kinds["verb"] += 1
            verb = fact.verb
            after_did = {"didn't", "did"} & set(right)
            wrong = (verb.past if after_did else verb.base)[0]
            assert f" {wrong} " in " ".join(words)
            assert wrong not in (verb.base if after_did else verb.past + verb.participle)
    assert min(kinds[kind] for kind in ("misplaced", "missing", "verb")) > 20
