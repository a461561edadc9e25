"""Heads in the plane by their distances, and whether layers hold together (Clark, Figure 6)."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import squareform
from scipy.stats import permutation_test
from sklearn.manifold import MDS

from workflow_scripts.chapters import collect
from workflow_scripts.clusters.measures import EMBEDDING, OF_DECODERS
from workflow_scripts.core.data import tables
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import CONFIDENCE

# As in the released notebook: a head that exceeds several thresholds has the first behaviour.
*ORDER, NO_BEHAVIOUR = EMBEDDING.categories


def square(frame: pd.DataFrame) -> np.ndarray:
    """The pairs' distances as a symmetric matrix [heads, heads], heads layer by layer."""
    ordered = frame.sort_values(["layer_a", "head_a", "layer_b", "head_b"])
    return squareform(ordered["distance"].to_numpy())


def embed(matrix: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    """Coordinates [heads, 2] whose distances match `matrix` as well as possible, and the stress.

    Metric multidimensional scaling; the stress is normalised (0 is perfect, 0.2 is poor).
    """
    scaling = MDS(
        n_components=2,
        metric="precomputed",
        n_init=8,
        init="random",
        max_iter=1000,
        random_state=seed,
        normalized_stress=False,
    )
    coordinates = scaling.fit_transform(matrix)
    embedded = np.linalg.norm(coordinates[:, None] - coordinates[None], axis=-1)
    stress = np.sqrt(((embedded - matrix) ** 2).sum() / (matrix**2).sum())
    return coordinates, float(stress)


def behaviours(numbers: pd.DataFrame, thresholds: Mapping[str, float]) -> pd.Series:
    """The first behaviour in `ORDER` whose threshold each head's number exceeds, or other.

    `numbers` has a row for each (layer, head) and a column for each behaviour; one that has
    attention to the first token, in the place of [CLS], is of a decoder.
    """
    order = OF_DECODERS[:-1] if "first" in numbers else ORDER
    result = pd.Series(NO_BEHAVIOUR, index=numbers.index, name="behaviour")
    for name in reversed(order):
        result[numbers[name] > thresholds[name]] = name
    return result


def within_and_between(matrix: np.ndarray, layers: np.ndarray) -> tuple[float, float]:
    """Mean distance between heads of one layer and between heads of different layers."""
    a, b = np.triu_indices(len(matrix), k=1)
    same = layers[a] == layers[b]
    values = matrix[a, b]
    return float(values[same].mean()), float(values[~same].mean())


def shuffle(
    matrix: np.ndarray, layers: np.ndarray, draws: int, seed: int
) -> tuple[float, float, float]:
    """The one-sided p-value that heads of one layer are closer, from permutations of the heads.

    It is exact where the heads have no more than `draws`. With it the 2.5th and 97.5th percentile
    of the shuffled difference, the mean distance between layers minus that within.
    """

    def difference(shuffled: np.ndarray) -> float:
        within, between = within_and_between(matrix, shuffled)
        return between - within

    test = permutation_test(
        (layers,),
        difference,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=draws,
        vectorized=False,
        rng=np.random.default_rng(seed),
    )
    low, high = np.percentile(test.null_distribution, CONFIDENCE)
    return float(test.pvalue), float(low), float(high)


def cohesion(matrix: np.ndarray, layers: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    """Mean distances within and between layers: for all, with a test, and for each layer."""
    within, between = within_and_between(matrix, layers)
    p, low, high = shuffle(matrix, layers, draws, seed)
    permutations = min(draws, math.factorial(len(layers)))
    everything = {"layer": "all", "within": within, "between": between}
    everything |= {"p": p, "permutations": permutations}
    rows = [everything | {"shuffled_low": low, "shuffled_high": high}]
    for layer in np.unique(layers):
        inside = matrix[np.ix_(layers == layer, layers == layer)]
        pairs = inside[np.triu_indices(len(inside), k=1)]
        outside = matrix[np.ix_(layers == layer, layers != layer)]
        row = {"within": pairs.mean() if len(pairs) else np.nan, "between": outside.mean()}
        rows.append({"layer": str(layer + 1)} | row)
    return pd.DataFrame(rows).assign(difference=lambda f: f["between"] - f["within"])


def from_uniform(pairs: pd.DataFrame) -> list[float]:
    """The mean distance of a decoder's heads from uniform attention: of all, then of each layer."""
    sides = [
        pairs[[f"layer_{side}", f"head_{side}", f"uniform_{side}"]].set_axis(
            ["layer", "head", "uniform"], axis="columns"
        )
        for side in "ab"
    ]
    heads = pd.concat(sides).drop_duplicates(["layer", "head"])
    return [heads["uniform"].mean(), *heads.groupby("layer")["uniform"].mean()]


def main(
    distances_table: Path,
    known: list[Path],
    embedding: job.Out,
    table: job.Out,
    thresholds: dict,
    permutations: int,
    seed: int = 1,
) -> None:
    """Write the heads' coordinates with their behaviours, and the table of layers.

    `known` are the tables of the chapters that define by what numbers behaviours are distinguished.
    """
    pairs = tables.read(distances_table)
    matrix, found = square(pairs), TableSet(known)
    chapters = [each for each in collect("measures").values() if hasattr(each, "behaviours")]
    numbers = [chapter.behaviours(found) for chapter in chapters]
    heads = behaviours(pd.concat(numbers, axis="columns"), thresholds).reset_index()
    coordinates, stress = embed(matrix, seed)
    frame = heads.assign(x=coordinates[:, 0], y=coordinates[:, 1], stress=stress)
    tables.write(frame, embedding)
    layers = cohesion(matrix, heads["layer"].to_numpy(), permutations, seed)
    layers.loc[layers["layer"] == "all", "stress"] = stress  # it is of all heads together
    if "uniform_a" in pairs:
        layers["uniform"] = from_uniform(pairs)
    tables.write_csv(layers, table)


if __name__ == "__main__":
    job.run(main, globals())
