"""Generated tasks: the official format, honest labels, and words enough."""

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated.grammar import (
    LABORATORY,
    ROLES,
    TOWN,
    VERBS,
    active,
    changed,
    fronted,
    linked,
    new_fact,
    opposite,
    passive,
    question,
    sentence,
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


@pytest.mark.parametrize("name", generate_task.WRITERS)
def test_the_same_seed_gives_the_same_files(tmp_path: Path, name: str) -> None:
    for folder, seed, n in (("a", 1, 20), ("b", 1, 30), ("c", 2, 20)):
        generate_task.main(tmp_path / folder, name, n_train=n, n_dev=n, seed=seed)
    a, b, c = ((tmp_path / folder / "train.tsv").read_text().split("\n") for folder in "abc")
    assert a[:20] == b[:20], "more examples change the first ones"
    assert a != c


def test_sst2_is_not_generated(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tasks.sst2.generate"):
        generate_task.main(tmp_path / "made", "sst2", n_train=2, n_dev=2)


def test_words_are_many_and_mismatched_mnli_has_others(tmp_path: Path) -> None:
    generate_task.main(tmp_path / "made", "mnli", n_train=300, n_dev=100)
    splits = read_directory(tmp_path / "made", TASKS["mnli"])
    words = {
        split: {word for row in part.rows for text in row["texts"] for word in text.split()}
        for split, part in splits.items()
    }
    assert len(words["train"]) > 250
    nouns = {word for group in LABORATORY.things for word in group[-1].split()}
    assert words["dev_mismatched"] & nouns
    assert not words["train"] & (nouns - {word for group in TOWN.things for word in group})


def town_fact(seed: int):
    return new_fact(random.Random(seed), (TOWN,))


def test_what_a_fact_states() -> None:
    fact = town_fact(3)
    rng = random.Random(1)
    for form in (active, passive):
        roles = {role for _, role in form(fact, rng, ("place", "time"), True) if role}
        assert roles == set(ROLES)
    text = sentence(fact, rng)
    assert text[0].isupper() and text.endswith(".")
    assert any(noun in text for noun in fact.agent)
    assert any(noun in text for noun in fact.theme)
    for role in ("agent", "theme", "place", "time"):
        asked = question(fact, role, rng)
        assert asked.endswith("?")
        asked_for = {"agent": fact.agent, "theme": fact.theme}.get(role, ())
        assert not any(f" {noun} " in asked or f" {noun}?" in asked for noun in asked_for)


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


@pytest.mark.parametrize("role", ROLES)
def test_a_changed_role_is_the_only_change(role: str) -> None:
    fact = town_fact(4)
    altered = changed(fact, role, random.Random(2), (TOWN,))
    for name in ROLES:
        assert (getattr(fact, name) == getattr(altered, name)) == (name != role)


def test_every_verb_has_an_opposite_and_all_its_forms() -> None:
    for base, verb in VERBS.items():
        assert verb.opposite in VERBS
        assert verb.opposite != base
        assert len(verb.base) == len(verb.past) == len(verb.participle)
    assert opposite(town_fact(1)).verb != town_fact(1).verb


def test_similarity_is_the_weight_of_the_shared_roles() -> None:
    assert sum(generate_task.WEIGHTS.values()) == 5
    assert set(generate_task.WEIGHTS) == set(ROLES)


def test_linked_sentences_keep_predicate_and_roles_apart() -> None:
    for seed in range(60):
        pieces = linked(town_fact(seed), random.Random(seed))
        words = [(word, role) for text, role in pieces for word in text.split()]
        positions = {
            role: [k for k, (_, role_of_word) in enumerate(words) if role_of_word == role]
            for role in ("agent", "verb", "theme")
        }
        for role in ("agent", "theme"):
            assert min(abs(a - b) for a in positions["verb"] for b in positions[role]) >= 2
