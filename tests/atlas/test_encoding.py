"""Maps as text: what comes back, how exactly, and what the browser's decoder reads."""

import json
import subprocess
from shutil import which

import numpy as np
import pytest

from workflow_scripts.atlas.encoding import bound, decode, encode

NODE = which("node")


def maps(seed: int = 1, largest: float = 1.0) -> np.ndarray:
    """Rows that sum to `largest`, some peaked and some flat: [layer, head, query, key]."""
    rng = np.random.default_rng(seed)
    sharpness = rng.uniform(0, 12, (2, 3, 7, 1))
    scores = np.exp(sharpness * rng.normal(size=(2, 3, 7, 7)))
    return largest * scores / scores.sum(-1, keepdims=True)


@pytest.mark.parametrize("largest", [1.0, 1e-6, 37.5])
def test_values_come_back_within_the_bound(largest: float) -> None:
    values = maps(largest=largest)
    entry = encode(values)
    error = np.abs(decode(entry) - values)
    allowed = bound(values, entry["largest"])
    assert (error <= allowed * (1 + 1e-5)).all()
    assert (error > allowed / 2).any(), "the bound is far from what happens"
    assert allowed.max() <= entry["largest"] / 250


def test_the_bytes_by_hand() -> None:
    """Of 1, 0.25, 0.01 and 0 with a largest of 4: 255 * sqrt(v / 4) = 127.5, 63.75, 12.75, 0."""
    values = np.array([[4.0, 1.0], [0.25, 0.01], [0.0, 0.0]])
    entry = encode(values)
    assert entry["shape"] == [3, 2] and entry["largest"] == 4.0
    expected = [[4.0, 4 * (128 / 255) ** 2], [4 * (64 / 255) ** 2, 4 * (13 / 255) ** 2], [0, 0]]
    np.testing.assert_allclose(decode(entry), expected, rtol=1e-6)


def test_half_precision_as_in_a_cache() -> None:
    values = maps().astype(np.float16)
    entry = encode(values)
    assert entry["largest"] == float(values.max())
    assert (np.abs(decode(entry) - values) <= bound(values.astype(float), 1.0) + 1e-6).all()


@pytest.mark.parametrize("shape", [(2, 2), (0, 3)])
def test_zeros_and_nothing(shape: tuple[int, int]) -> None:
    entry = encode(np.zeros(shape))
    assert entry["largest"] == 0
    assert decode(entry).shape == shape and not decode(entry).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e-9])
def test_what_is_no_weight_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        encode(np.array([0.5, bad]))


@pytest.mark.parametrize("damage", [{"data": "AAAA"}, {"data": "%"}, {"shape": [2, 3, 7, 8]}])
def test_a_damaged_entry_is_refused(damage: dict) -> None:
    with pytest.raises(ValueError, match="damaged"):
        decode(encode(maps()) | damage)


def test_the_same_values_give_the_same_text() -> None:
    assert encode(maps()) == encode(maps())
    assert encode(maps()) != encode(maps(seed=2))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_browser_inflates_it() -> None:
    """DecompressionStream with "deflate", as the page reads maps."""
    program = """
        const entry = JSON.parse(process.argv[1]);
        const bytes = Uint8Array.from(atob(entry.data), (c) => c.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        const steps = new Uint8Array(await new Response(stream).arrayBuffer());
        console.log(JSON.stringify([...steps].map((b) => entry.largest * (b / 255) ** 2)));
    """
    entry = encode(maps())
    command = [NODE, "--input-type=module", "-e", program, json.dumps(entry)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read = np.array(json.loads(done.stdout)).reshape(entry["shape"])
    np.testing.assert_allclose(read, decode(entry), rtol=1e-6)
