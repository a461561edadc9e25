"""Tables of every chapter that the atlas reads, for a made-up model, with random numbers."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.atlas import atlas_data
from workflow_scripts.chapters import collect
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.measures.forms import Table

CLASSES = ("vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous")
METRICS = {"sst2": ["accuracy"], "mnli": ["accuracy"], "stsb": ["pearson", "spearman"]}
SPLITS = {"sst2": ["dev", "dev_tweets"], "mnli": ["dev", "dev_mismatched"], "stsb": ["dev"]}
INTERVAL = ("ci_low", "ci_high")


def declared() -> list[Table]:
    """The tables of heads that chapters declare, as their modules name them."""
    modules = collect("measures").values()
    return [each for module in modules for each in vars(module).values() if isinstance(each, Table)]


class MadeUpModel:
    """Writes a model's card and its tables below `folder`; all paths are in `products`."""

    def __init__(self, folder: Path, name: str = "tiny", shape: tuple[int, int] = (2, 3)) -> None:
        self.folder, self.name, self.shape = folder / name, name, shape
        self.rng = np.random.default_rng(len(name) + shape[1])
        self.card = self.folder / "attention/model.json"
        self.products: list[Path] = []
        self.card.parent.mkdir(parents=True)
        about = {"name": name, "source": {"path": "tiny-model"}, "architecture": "bert"}
        write_card(about | {"n_layers": shape[0], "n_heads": shape[1]}, self.card)

    def write(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table and remember its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = tables.write_csv if path.suffix == ".csv" else tables.write
        writer(frame, path)
        self.products.append(path)

    def rows(self, axes: Mapping[str, Sequence], *numbers: str, **same: Any) -> pd.DataFrame:
        """A row for each value of `axes` and each head, shuffled, with random `numbers`."""
        heads = {"layer": range(self.shape[0]), "head": range(self.shape[1])}
        every = axes | heads
        frame = pd.DataFrame(list(product(*every.values())), columns=list(every))
        for number in numbers:
            frame[number] = self.rng.random(len(frame))
        order = self.rng.permutation(len(frame))
        return frame.assign(**same).iloc[order].reset_index(drop=True)

    def by_unit(self, frame: pd.DataFrame, number: str, to: str = "sums") -> pd.DataFrame:
        """The rows with lists of sums and counts of nine units, whose ratio is the number."""
        counts = np.arange(1.0, 10) % 4 + 1
        spread = np.random.default_rng(1).uniform(-0.05, 0.05, (len(frame), len(counts)))
        spread -= (spread @ counts / counts.sum())[:, None]
        lists = {to: list(counts * (frame[number].to_numpy()[:, None] + spread))}
        return frame.assign(**lists, counts=[counts] * len(frame))

    def surface(self) -> None:
        """Kinds of heads, entropy, special tokens, position and gradients."""
        frame = self.rows({})
        frame["stratum"] = self.rng.choice(["syntactic", "frames", "unclassified"], len(frame))
        self.write("attention/kinds.parquet", frame)
        over = {"n": 12, "n_documents": 4}
        largest = ("largest", "largest_low", "largest_high")
        numbers = ("entropy", *INTERVAL, *largest, "at_most_tenth")
        frame = self.rows({"query": ["all", "cls"]}, *numbers, **over)
        frame = self.by_unit(frame, "at_most_tenth", "at_most_tenth_sums")
        frame = self.by_unit(frame, "entropy")
        frame.loc[frame["query"] == "cls", ["ci_low", "ci_high"]] = np.nan  # of one document
        relative = ("relative", "relative_low", "relative_high")  # of a decoder
        for name, nats in zip(relative, ("entropy", *INTERVAL), strict=True):
            frame[name] = frame[nats] / 4.84
        self.write("surface/entropy.parquet", frame.assign(uniform=4.84))
        targets = ["cls", "first", "sep", "punctuation", "sep_to_sep", "other_to_sep"]
        frame = self.rows({"target": targets}, "attention", *INTERVAL, **over)
        frame["uniform"] = frame["target"].map(targets.index) / 64
        self.write("surface/special_tokens.parquet", self.by_unit(frame, "attention"))
        targets = ["self", "previous", "next"]
        frame = self.rows({"target": targets}, "attention", *INTERVAL, **over)
        self.write("surface/position.parquet", frame)
        above = ("difference", "difference_low", "difference_high")
        frame = self.rows({}, "attention", *INTERVAL, "other", *above, **over)
        self.write("surface/same_word.parquet", frame)
        targets = ["cls", "sep", "punctuation", "unmasked"]
        over |= {"masked_lm_head": "fitted"}
        frame = self.rows({"target": targets}, "gradient", *INTERVAL, **over)
        self.write("surface/gradients.parquet", self.by_unit(frame, "gradient"))

    def syntax(self) -> None:
        """Relations, one of them rare, one with a colon, and one that no head is asked for."""
        counts = {"all": 900, "dobj": 40, "nmod:poss": 30, "punct": 90, "rare": 2, "none": 25}
        directions = ["dependent_to_head", "head_to_dependent"]
        axes = {"direction": directions, "relation": list(counts)}
        frame = self.rows(axes, "accuracy", *INTERVAL)
        frame["n"] = frame["relation"].map(counts)
        frame.loc[frame["relation"] == "none", ["accuracy", *INTERVAL]] = np.nan
        self.write("syntax/scores.parquet", frame)
        offsets = [
            {"offset": offset, "relation": name, "accuracy": self.rng.random()}
            for offset in (1, -1, 2, -2)
            for name in counts
        ]
        frame = pd.DataFrame(offsets)
        frame.loc[frame["relation"] == "none", "accuracy"] = np.nan
        self.write("syntax/offsets.parquet", frame)

    def coreference(self) -> None:
        """Antecedents, without any name among the mentions."""
        kinds = ["all", "pronoun", "proper", "nominal", "other_word"]
        axes = {"candidates": ["words", "mentions"], "type": kinds}
        frame = self.rows(axes, "accuracy", *INTERVAL, n=50)
        frame.loc[frame["type"] == "proper", ["accuracy", *INTERVAL]] = np.nan
        self.write("coreference/scores.parquet", frame)
        systems = [
            {"system": system, "type": kind, "accuracy": self.rng.random()}
            for system in ("nearest", "head_match", "rules")
            for kind in kinds
        ]
        frame = pd.DataFrame(systems)
        frame.loc[frame["type"] == "proper", "accuracy"] = np.nan
        self.write("coreference/rules.parquet", frame)

    def clusters(self) -> None:
        """Kinds of heads, and their places."""
        frame = self.rows({}, "x", "y", stress=0.2)
        kinds = ["broad", "previous", "next", "other"]
        frame["behaviour"] = self.rng.choice(kinds, len(frame))
        self.write("clusters/embedding.parquet", frame)

    def patterns(self, tasks: Sequence[str], seeds: Sequence[int]) -> None:
        """Shares of the classes before and after fine-tuning."""
        runs = [(task, "pretrained", 0) for task in tasks]
        runs += [(task, "fine-tuned", seed) for task in tasks for seed in seeds]
        frames = []
        for (task, stage, seed), method in product(runs, ["network", "rules"]):
            about = {"task": task, "stage": stage, "seed": seed, "method": method, "n": 20}
            about |= {"annotated_model": "minilm", "annotated_stage": "pretrained"}
            frame = self.rows({"class": CLASSES}, "share").assign(**about)
            total = frame.groupby(["layer", "head"])["share"].transform("sum")
            frames.append(frame.assign(share=frame["share"] / total))
        self.write("patterns/shares.parquet", pd.concat(frames, ignore_index=True))

    def frames(self) -> None:
        """Frame links and their controls."""
        directions = ["either", "from predicate", "to predicate"]
        numbers = ("attention", *INTERVAL, "difference", "difference_low", "difference_high")
        over = {"n": 20, "n_compared": 17}
        frame = self.rows({"direction": directions}, *numbers, "p_corrected", **over)
        self.write("frames/scores.parquet", frame)

    def finetuning(self, task: str, seed: int) -> None:
        """What fine-tuning changes; STS-B has no links that are far apart."""
        name, run = f"finetuning/{task}.{seed}", {"task": task, "seed": seed}
        stages = {"stage": ["pretrained", "fine-tuned"]}
        frame = self.rows({}, "similarity", *INTERVAL, n=6, **run)
        self.write(f"{name}.similarity.parquet", frame)
        axes = {"kind": ["noun", "cls"], "query": ["all", "cls"], **stages}
        numbers = ("attention", *INTERVAL, "share", "share_low", "share_high")
        frame = self.rows(axes, *numbers, tokens=0.125, n=4, n_without=2, **run)
        self.write(f"{name}.features.parquet", frame)
        axes = {"link": ["verb-subject", "noun-pronoun"], "far": [False, True], **stages}
        frame = self.rows(axes, "attention", *INTERVAL, "neighbours", n=5, links=8, **run)
        if task == "stsb":
            frame.loc[frame["far"], ["attention", *INTERVAL]] = np.nan
            frame.loc[frame["far"], "n"] = 0
        self.write(f"{name}.links.parquet", frame)
        frame = self.rows(
            {"measure": ["copy", "shared"], **stages}, "excess", *INTERVAL, n=5, **run
        )
        if task == "sst2":  # of single sentences
            frame = frame.assign(n=0, excess=np.nan, ci_low=np.nan, ci_high=np.nan)
        self.write(f"{name}.shared.parquet", frame)

    def ablation(self, tasks: Sequence[str], seeds: Sequence[int]) -> None:
        """Effects of heads disabled and left alone, of layers, and the verdict on each head."""
        for task, seed in product(tasks, seeds):
            frames = []
            units = [("head", "uniform"), ("head", "zero"), ("all-but-one", "zero")]
            for unit, mode in [*units, ("layer", "zero")]:
                axes = {"split": SPLITS[task], "metric": METRICS[task]}
                numbers = ("effect", *INTERVAL, "p", "p_corrected")
                about = {"unit": unit, "mode": mode, "baseline": 0.8, "n": 6}
                frames.append(self.rows(axes, *numbers, **about))
            frames[-1]["head"] = -1
            frame = pd.concat(frames, ignore_index=True).assign(task=task, seed=seed)
            self.write(f"ablation/{task}.finetuned.{seed}.scores.parquet", frame)
        frame = self.rows({}, "effect", stratum="unclassified")
        for task in tasks:
            frame[f"verdict_{task}"] = self.rng.choice(["loss", "cannot tell"], len(frame))
        self.write("tables/kovaleva2019-heads.csv", frame)

    def pruning(self, task: str, seed: int) -> None:
        """Importance."""
        axes = {"variant": ["paper", "released"]}
        frame = self.rows(axes, "importance", *INTERVAL, "normalised", n=8, task=task, seed=seed)
        self.write(f"pruning/{task}.finetuned.{seed}.importance.parquet", frame)

    def arguments(self) -> None:
        """Effects on ARCT's cue: all held-out points come first."""
        frames = []
        for split, setup in product(["dev and test", "test"], ["C, R, W", "W"]):
            axes = {"measure": ["margin", "follows", "accuracy"]}
            about = {"baseline": 0.5, "n": 9, "split": split, "setup": setup, "seeds": 2}
            frames.append(self.rows(axes, "effect", *INTERVAL, "p_corrected", **about))
        self.write("tables/niven2019-heads.csv", pd.concat(frames, ignore_index=True))

    def everything(
        self, tasks: Sequence[str] = ("sst2", "stsb"), seeds: Sequence[int] = (1, 2)
    ) -> None:
        """All tables."""
        for chapter in (self.surface, self.syntax, self.coreference, self.clusters, self.frames):
            chapter()
        self.patterns(tasks, seeds)
        self.ablation(tasks, seeds)
        self.arguments()
        for task, seed in product(tasks, seeds):
            self.finetuning(task, seed)
            self.pruning(task, seed)


class MadeUpTranslator(MadeUpModel):
    """Writes a translator's card and its tables below `folder`/translation."""

    def __init__(self, folder: Path, run: str = "1", layers: Sequence[int] = (2, 1, 1)) -> None:
        self.folder, self.run, self.shape = folder / "translation", run, (0, 3)
        self.layers = dict(zip(("encoder", "encoder-decoder", "decoder"), layers, strict=True))
        self.rng = np.random.default_rng(len(run) + sum(layers))
        self.card = self.folder / f"{run}.card.json"
        self.products = []
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"name": run, "source": {"path": "tiny"}, "architecture": "marian"}
        write_card(about | {"layers": self.layers, "n_heads": 3}, self.card)
        self.maps = self.folder / f"{run}.maps.json"
        self.maps.write_text('{"segments": [], "maps": {}}', encoding="utf-8")
        self.scores()
        self.importance()

    def of_types(self, axes: Mapping[str, Sequence], *numbers: str, **same: Any) -> pd.DataFrame:
        """`rows` of each type of attention, shuffled."""
        frames = []
        for name, n_layers in self.layers.items():
            self.shape = (n_layers, self.shape[1])
            frames.append(self.rows(axes, *numbers, type=name, run=self.run, **same))
        return pd.concat(frames).sample(frac=1, random_state=1)

    def scores(self) -> None:
        """Effects of heads masked and left alone, in three metrics."""
        axes = {"split": ["validation", "test"], "metric": ["bleu", "chrf", "loss"]}
        axes |= {"unit": ["head", "all-but-one"], "mode": ["zero"]}
        numbers = ("score", "effect", *INTERVAL, "p", "p_corrected")
        frame = self.of_types(axes, *numbers, n=20, baseline=31.5, capped=0)
        frame["signature"] = np.where(frame["metric"] == "loss", "", "nrefs:1|version:2")
        self.write(f"{self.run}.scores.parquet", frame)

    def importance(self) -> None:
        """Gradients of gates."""
        frame = self.of_types({}, "importance", *INTERVAL, "normalised", n=8)
        self.write(f"{self.run}.importance.parquet", frame)


def written(
    folder: Path,
    *models: MadeUpModel,
    maps: Sequence[Path] = (),
    translators: Sequence[MadeUpTranslator] = (),
    fewest: int = 20,
) -> Path:
    """Write the atlas of the models to `folder`; its path."""
    products = [path for model in (*models, *translators) for path in model.products]
    path = folder / "atlas.json"
    atlas_data.main(
        [model.card for model in models],
        products,
        [*maps, *(translator.maps for translator in translators)],
        path,
        study="made-up",
        corpora={"surface": "novels", "syntax": "trees", "coreference": "stories"},
        data={"text": "real", "trees": "silver", "mentions": "generated", "sst2": "generated"}
        | ({"pairs": "generated"} if translators else {}),
        fewest=fewest,
        translators=[translator.card for translator in translators],
    )
    return path
