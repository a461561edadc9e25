"""Roles of heads against plain loops over eager's attentions, by hand, and of a tiny decoder."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.core.tiny_decoders import GPT2, LLAMA, random_decoder
from workflow_scripts.battery import measures, natural_repeats
from workflow_scripts.battery.inputs import repeated
from workflow_scripts.battery.natural_repeats import AROUND, confirmed, repeats, swapped
from workflow_scripts.battery.random_repeats import (
    as_tokens,
    mean_weights,
    means,
    scores,
    second_copy,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.core.model import attention
from workflow_scripts.core.stats.randomisation import holm

LENGTH = 12
N = 20


def eager(model, ids: np.ndarray) -> np.ndarray:
    """Attentions of the model's own eager attention, [layer, head, query, key], of one text."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(torch.from_numpy(ids)[None].long(), output_attentions=True)
    return torch.stack(outputs.attentions)[:, 0].double().numpy()


def slow_scores(pattern: np.ndarray, length: int) -> dict[str, np.ndarray]:
    """The three scores [layer, head] of one sequence, token by token."""
    found = {role: np.zeros(pattern.shape[:2]) for role in ("previous", "duplicate", "induction")}
    for token in range(length):
        first, second = 1 + token, 1 + length + token
        found["previous"] += pattern[:, :, second, second - 1] / length
        found["duplicate"] += pattern[:, :, second, first] / length
        found["induction"] += pattern[:, :, second, first + 1] / length
    return found


def slow_offsets(pattern: np.ndarray, length: int) -> np.ndarray:
    """Mean weight of the second copy on the token 0, 1, ... back: [layer, head, offset]."""
    queries = range(1 + length, 1 + 2 * length)
    return np.stack(
        [
            np.mean([pattern[:, :, query, query - offset] for query in queries], axis=0)
            for offset in range(length + 1)
        ],
        axis=-1,
    )


@pytest.fixture(scope="module", params=[GPT2, LLAMA], ids=["gpt2", "llama"])
def read(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Our weights of random sequences, and eager's patterns of the same."""
    model = random_decoder(request.param)
    ids = repeated(np.arange(5, 60), start=1, n=N, length=LENGTH, seed=1)
    patterns = np.stack([eager(model, row) for row in ids])
    attention.open_attention(model)
    (ours,) = mean_weights(model, as_tokens(ids), [[second_copy(LENGTH)]] * N, batch_tokens=80)
    return ours, patterns


def test_scores_and_nulls_are_those_of_plain_loops(read: tuple[np.ndarray, np.ndarray]) -> None:
    ours, patterns = read
    frame = scores(ours, LENGTH, threshold=0.2, bootstrap=200, seed=1)
    expected = [slow_scores(pattern, LENGTH) for pattern in patterns]
    offsets = np.stack([slow_offsets(pattern, LENGTH) for pattern in patterns])
    at = {"previous": 1, "duplicate": LENGTH, "induction": LENGTH - 1}
    p = []
    for row in frame.itertuples():
        own = np.array([each[row.role][row.layer, row.head] for each in expected])
        assert row.score == pytest.approx(own.mean(), abs=1e-6)
        of_head = offsets[:, row.layer, row.head]
        others = [offset for offset in range(LENGTH + 1) if offset != at[row.role]]
        assert row.others == pytest.approx(of_head[:, others].mean(), abs=1e-6)
        best = max(others, key=lambda offset: of_head[:, offset].mean())
        assert row.best_offset == best
        assert row.best_other == pytest.approx(of_head[:, best].mean(), abs=1e-6)
        assert row.ci_low < row.score < row.ci_high
        visible = [1 + LENGTH + token + 1 for token in range(LENGTH)]
        assert row.uniform == pytest.approx(np.mean([1 / n for n in visible]))
        p.append(sampled_p(own - of_head[:, best]))
        assert row.p == pytest.approx(p[-1], abs=0.03)
        held = row.score > 0.2 and row.score > row.best_other and row.p_corrected < 0.05
        assert row.has_role == held
    assert frame["p_corrected"].tolist() == holm(frame["p"].to_numpy()).tolist()
    assert len(frame) == 3 * patterns.shape[1] * patterns.shape[2]


def sampled_p(differences: np.ndarray) -> float:
    """The p-value of the sign-flip test by 4,000 random assignments."""
    signs = np.random.default_rng(1).choice([-1, 1], (4000, len(differences)))
    return float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9))


def perfect(tokens: np.ndarray, role: str) -> np.ndarray:
    """The pattern [query, key] of a head that does nothing but its role, or rests on the start."""
    pattern = np.zeros((len(tokens), len(tokens)))
    for query, token in enumerate(tokens):
        earlier = [key for key in range(query) if tokens[key] == token]
        key = query - 1 if role == "previous" and query else 0
        if earlier and role != "previous":
            key = earlier[0] + (role == "induction")
        pattern[query, key] = 1
    return pattern


def test_a_head_that_does_nothing_else_scores_1() -> None:
    """In its own role, and 0 in others; it alone has the role, on random and on natural repeats."""
    names = ["previous", "duplicate", "induction"]
    ids = repeated(np.arange(5, 60), start=1, n=N, length=LENGTH, seed=2)
    patterns = np.array([[[perfect(row, name) for name in names]] for row in ids])
    weights = np.array([[means(torch.from_numpy(p[0]), second_copy(LENGTH))] for p in patterns])
    frame = scores(weights, LENGTH, threshold=0.3, bootstrap=100, seed=1)
    table = frame.pivot(index="role", columns="head", values="score").loc[names].to_numpy()
    np.testing.assert_array_equal(table, np.eye(3))
    assert frame.loc[frame["has_role"], "role"].tolist() == names
    weak = scores(0.29 * weights, LENGTH, threshold=0.3, bootstrap=100, seed=1)
    assert (weak.loc[frame["has_role"], "p_corrected"] < 0.05).all()
    assert not weak["has_role"].any()
    rng = np.random.default_rng(3)
    texts = [natural(rng.permutation(40)) for _ in range(12)]
    places = [repeats(text)[0] for text in texts]
    own = [np.array([perfect(text.ids, name) for name in names]) for text in texts]
    read, of_others = (
        np.array([[means(torch.from_numpy(p), at)] for p, at in zip(own, each, strict=True)])
        for each in (places, map(swapped, places))
    )
    limits = [str(n // 2) for n in range(12)], 100, 2000, 1
    found = confirmed(frame, read, of_others, *limits)
    natural_table = found.pivot(index="role", columns="head", values="natural").loc[names]
    np.testing.assert_array_equal(natural_table.to_numpy(), np.eye(3))
    assert found["natural_p"].notna().tolist() == found["has_role"].tolist()
    assert found.loc[found["confirmed"], "role"].tolist() == names
    # As much on the tokens of other queries: the size is 0, and previous alone is confirmed.
    salient = confirmed(frame, read, read[..., [AROUND + 1 + AROUND, -AROUND - 1]], *limits)
    assert salient.loc[salient["confirmed"], "role"].tolist() == ["previous"]


def test_gain_by_hand() -> None:
    """Best wrong place and other queries' tokens of one head, two segments of two documents."""
    places = len(natural_repeats.BACK) + len(natural_repeats.FROM_FIRST)
    weights = np.full((2, 1, 1, places), 0.01)
    first = len(natural_repeats.BACK) + AROUND  # the duplicate token, the induction token next
    weights[:, 0, 0, first + 1] = [0.5, 0.3]
    weights[:, 0, 0, first + 2] = [0.1, 0.2]  # the best neighbour
    of_others = np.zeros((2, 1, 1, 2))
    of_others[:, 0, 0, 1] = [0.05, 0.15]
    roles = ["previous", "duplicate", "induction"]
    random = pd.DataFrame({"role": roles, "layer": 0, "head": 0, "has_role": True})
    frame = confirmed(random, weights, of_others, ["a", "b"], 500, 100, 1).set_index("role")
    row = frame.loc["induction"]
    numbers = row[["natural", "natural_best_other", "natural_swapped", "natural_gain"]]
    assert numbers.tolist() == pytest.approx([0.4, 0.15, 0.1, 0.25])
    assert (row["natural_gain_low"], row["natural_gain_high"]) == pytest.approx((0.1, 0.4))
    of_others[..., 1] += 0.2  # more than on the best neighbour
    frame = confirmed(random, weights, of_others, ["a", "b"], 500, 100, 1).set_index("role")
    assert frame.loc["induction", "natural_gain"] == pytest.approx(0.1)
    assert frame["natural_swapped"].isna().tolist() == [True, False, False]


def test_a_head_that_prefers_another_token_has_no_role() -> None:
    """Above the threshold, but below its best other offset, significantly so."""
    weights = np.zeros((N, 1, 1, LENGTH + 1))
    weights[..., LENGTH - 1], weights[..., 5] = 0.4, 0.6
    frame = scores(weights, LENGTH, threshold=0.3, bootstrap=100, seed=1)
    row = frame[frame["role"] == "induction"].iloc[0]
    assert (row["score"], row["best_other"]) == pytest.approx((0.4, 0.6))
    assert not row["has_role"]
    assert row["p_corrected"] < 0.001


def natural(ids: np.ndarray) -> Tokens:
    """A text of different tokens in which some occur again, one twice more, after a start token."""
    ids = np.concatenate([[99], ids, ids[8:14], ids[20:22], ids[10:11]]).astype(np.int32)
    word = np.arange(-1, len(ids) - 1, dtype=np.int32)
    return Tokens("a", ids, word, np.zeros(len(ids), np.int8), len(ids) - 1)


def test_repeats_are_those_of_plain_loops() -> None:
    """Once before, both far enough from the text's ends; all of them are counted."""
    rng = np.random.default_rng(4)
    for length in (3, 60, 200):
        ids = rng.integers(0, 60, length).astype(np.int32)
        word = np.arange(length, dtype=np.int32)
        word[rng.random(length) < 0.1] = -1
        word[0] = -1
        found, n_repeats = repeats(Tokens("a", ids, word, np.zeros(length, np.int8), length))
        ordinary = [position for position in range(length) if word[position] >= 0]
        pairs = []
        for query in ordinary:
            before = [key for key in ordinary if key < query and ids[key] == ids[query]]
            pairs += [(query, before[0])] if len(before) == 1 else []
        assert n_repeats == len(pairs)
        kept = [(i, j) for i, j in pairs if j - AROUND >= 1 and j + 1 + AROUND <= i]
        assert found.queries.tolist() == [i for i, _ in kept]
        for keys, (i, j) in zip(found.keys.tolist(), kept, strict=True):
            around = list(range(j - AROUND, j + AROUND + 2))
            assert keys == [i - back for back in range(AROUND + 1)] + around
            assert min(keys) >= 1
            assert max(keys) <= i


def test_other_queries_tokens_are_those_of_plain_loops() -> None:
    """Each query with the earlier occurrence of each other one, before it by more than AROUND."""
    rng = np.random.default_rng(6)
    ids = rng.integers(0, 90, 200).astype(np.int32)
    word = np.arange(-1, 199, dtype=np.int32)
    places, _ = repeats(Tokens("a", ids, word, np.zeros(200, np.int8), 199))
    first = {query: ids[1:].tolist().index(ids[query]) + 1 for query in places.queries.tolist()}
    expected = [
        (query, [first[other], first[other] + 1])
        for query in first
        for other in first
        if other != query and first[other] + AROUND < query
    ]
    found = swapped(places)
    assert list(zip(found.queries.tolist(), found.keys.tolist(), strict=True)) == expected
    assert len(expected) > 100


def test_natural_scores_are_those_of_plain_loops() -> None:
    """The shorter text is padded in a batch with the longer one."""
    model = random_decoder(LLAMA)
    rng = np.random.default_rng(5)
    texts = [natural(5 + rng.permutation(45)), natural(5 + rng.permutation(40))]
    patterns = [eager(model, text.ids) for text in texts]
    attention.open_attention(model)
    places = [repeats(text)[0] for text in texts]
    sets = [(each, swapped(each)) for each in places]
    weights, of_others = mean_weights(model, texts, sets, batch_tokens=400)
    roles = natural_repeats.by_role(weights, of_others)
    for number, (text, pattern) in enumerate(zip(texts, patterns, strict=True)):
        ids, sums, others, firsts = text.ids.tolist(), {}, {}, {}
        for query, token in enumerate(ids):
            before = [key for key in range(query) if ids[key] == token]
            if len(before) == 1 and before[0] > AROUND and query > before[0] + AROUND:
                first = firsts[query] = before[0]
                around = range(first - AROUND, first + AROUND + 2)
                near = {"previous": range(query - AROUND, query + 1)}
                near |= {"duplicate": around, "induction": around}
                own = {"previous": query - 1, "duplicate": first, "induction": first + 1}
                for role, key in own.items():
                    sums.setdefault(role, []).append(pattern[:, :, query, key])
                    displaced = [pattern[:, :, query, k] for k in near[role] if k != key]
                    others.setdefault(role, []).append(displaced)
        pairs = [
            pattern[:, :, query, [first, first + 1]]
            for query in firsts
            for other, first in firsts.items()
            if other != query and first + AROUND < query
        ]
        np.testing.assert_allclose(of_others[number], np.mean(pairs, axis=0), atol=1e-6)
        for role, values in sums.items():
            np.testing.assert_allclose(
                roles[role].score[number], np.mean(values, axis=0), atol=1e-6
            )
            every = [*np.mean(others[role], axis=0)]
            if role != "previous":
                place = ["duplicate", "induction"].index(role)
                every.append(of_others[number, ..., place])
            np.testing.assert_allclose(
                roles[role].others[number], np.mean(every, axis=0), atol=1e-6
            )
    assert len(sums) == 3


@pytest.mark.parametrize(("n", "column"), [(5, "has_role"), (6, "confirmed")])
def test_few_documents_leave_a_head_the_role_of_random_tokens(
    tmp_path: Path, n: int, column: str
) -> None:
    """By signs of five documents p is 2 in 32 or more, so that no head could be confirmed."""
    path = tmp_path / measures.RANDOM.file
    path.parent.mkdir()
    tables.write(pd.DataFrame({"n_documents": [n]}), path)
    badges = measures.badges(TableSet([path]))
    where = [each.where for each in badges][: len(measures.ROLES)]
    assert where == [{"role": role, column: True} for role in measures.ROLES]
    p = natural_repeats.p_values(np.ones((n, 1)), range(n), 9999, 1)[1]
    assert p == pytest.approx(2 / 2**n, abs=0.01)
