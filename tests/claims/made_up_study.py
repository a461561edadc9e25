"""A small study whose tables are made up, with what the claims of each paper read."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from tests.claims import made_up_arguments
from tests.claims.made_up import MadeUpTables

MODEL, DECODER = "made-up", "decoder"
RELATIONS = "all prep pobj det nn nsubj amod dobj advmod aux poss auxpass ccomp mark prt".split()
PROBES = "right-branching distances-and-words random-attention-and-words attention-only "
PROBES += "attention-and-words structural"
CI = (0, 1, "ci")
TASKS = {"mrpc": "MRPC", "stsb": "STS-B", "sst2": "SST-2", "rte": "RTE", "qnli": "QNLI"}
SEVEN = TASKS | {"qqp": "QQP", "mnli": "MNLI"}
KINDS = ("cls", "sep", "punctuation", "noun", "verb", "negation")
OF_NOUNS = np.arange(9) > 1  # units that have one
STAGES = ("pretrained", "fine-tuned")
DIRECTIONS = ("either", "from predicate", "to predicate")
MAIN = [(title, "pearson" if task == "stsb" else "accuracy") for task, title in SEVEN.items()]
# Of the tables of classifiers with masked heads.
METRICS = [(title, metric) for title, metric in MAIN if title in ("MRPC", "SST-2", "STS-B", "MNLI")]
METRICS.append(("CoLA", "accuracy"))
TYPES = ("encoder", "encoder-decoder", "decoder")
SHARES = (0.0, 0.2, 0.45, 0.7, 0.8, 1.0)


def made_up_study(folder: Path, seeds: Sequence[int]) -> Path:
    """The results of a study of these seeds, of an encoder and a decoder, below the folder."""
    study = MadeUpTables(folder / "results", MODEL, (6, 4), seeds)
    clark(study)
    study.norms(("cls", "sep"), "norm")
    study.modes("ablation", ("mrpc", "sst2"), ("uniform", "zero"), ("zero", "resample"))
    kovaleva_printed(study)
    kovaleva_heads(study)
    classifiers(study)
    translators(study)
    made_up_arguments.write(study)
    decoder = MadeUpTables(study.results, DECODER, (4, 6), [1])
    decoders(decoder)
    decoder.norms(["first"], "residual")
    decoder.modes("next-token", ["text"], ("zero", "resample"), ("zero", "mean"))
    return study.results


def clark(study: MadeUpTables) -> None:
    """Heads, relations, antecedents, probes and clusters."""
    study.surface()
    study.clusters()
    directions = ("dependent_to_head", "head_to_dependent")
    axes = {"direction": directions, "relation": RELATIONS}
    study.table("syntax/scores", study.heads(axes, {"n": 40}, accuracy=CI))
    same = {"head": "1-1", "offset": 1, "n": 500, "split_words": 8.0}
    ranges = {"accuracy": (0, 100, "ci"), "held_out_gain": (-20, 30), "baseline": (0, 100)}
    rows = study.made({"relation": RELATIONS}, same, **ranges)
    for row in rows:
        row["held_out_gain_p"] = study.rng.uniform(0, 0.02)
        row["with_special_median_change"] = -abs(study.rng.normal(0, 2))
    study.table("clark2019-table1", rows)
    axes = {"compared": (True, False), "type": ("all", "pronoun", "proper", "nominal")}
    axes["system"] = ("nearest mention", "head word match", "four sieves", "best head")
    same = {"n": 300, "head": "1-2", "held_out_head": "1-2", "held_out_accuracy": 41.0}
    ranges = {"accuracy": (0, 100, "ci"), "gain_head_match": (-20, 20), "gain_rules": (-20, 20)}
    study.table("clark2019-table2", study.made(axes, same, **ranges))
    probes, same = PROBES.split(), {"measure": "UAS", "n": 900}
    rows = study.made({"probe": probes}, same, score=(0, 100, "ci"))
    study.table("clark2019-table3", rows)
    pairs = [(one, other) for k, one in enumerate(probes) for other in probes[k + 1 :]]
    axes, same = {"measure": ("UAS", "UUAS"), "probe other": pairs}, {"n": 900, "n_documents": 30}
    study.table("clark2019-probe-pairs", study.made(axes, same, difference=(-20, 20, "ci")))
    shuffled = {"shuffled_low": -0.02, "shuffled_high": 0.03, "p": 0.01}
    clusters = {"layer": "all", "difference": 0.04, "between": 0.4}
    study.table("clark2019-clusters", [clusters | shuffled])
    heads = {"head": ("1-1", "1-2", "1-3")}
    rows = study.made(heads, {"n": 100}, entropy=CI, at_most_tenth=(0, 1))
    study.table("clark2019-broad", rows)
    rows = [
        {"relation": name, "same": bool(k % 3), "surely_another": k % 6 == 0, "n": 60}
        for k, name in enumerate(RELATIONS)
    ]
    study.table("kobayashi2020-table1", rows)


def kovaleva_printed(study: MadeUpTables) -> None:
    """Scores, the classifier of maps, frames, links, and gains of disabling."""
    same = {"split": "dev", "n": 200, "majority": 50.0, "generated": False}
    same |= {"seeds": len(study.seeds)}
    more = [(title, "f1") for title in SEVEN.values() if title != "STS-B"]
    weights = dict.fromkeys(("pretrained", "random_tuned", "pretrained_tuned"), (0, 100))
    rows = study.made({"task metric": MAIN + more}, same, **weights)
    rows = [row | {"official": row["task"] != "SST-2"} for row in rows]
    study.table("kovaleva2019-table1", rows)
    pairs = [("pretrained_tuned", "random_tuned"), ("pretrained_tuned", "pretrained")]
    axes = {"task metric": MAIN + more, "column other": [*pairs, ("pretrained", "random_tuned")]}
    rows = study.made(axes, same | {"score": 70.0, "other_score": 60.0}, gain=(-40, 60))
    rows = [row | {"official": row["task"] != "SST-2"} for row in rows]
    study.table("kovaleva2019-gains", rows)
    axes = {"method": ("network", "network, shuffled labels"), "maps": ("all", STAGES[1])}
    same = {"n": 60, "n_examples": 20, "accuracy": 0.7}
    study.table("kovaleva2019-classifier", study.made(axes, same, macro_f1=(0, 1)))
    heads = [f"{layer + 1}-{head + 1}" for layer in range(6) for head in range(4)]
    axes = {"direction": DIRECTIONS, "head": heads}
    rows = study.made(axes, {"difference": 0.5}, control=(0, 1), p=(0, 0.2))
    rows = [row | {"p_corrected": 5 * row["p"], "frame_head": row["p"] < 0.01} for row in rows]
    study.table("kovaleva2019-frame-controls", rows)
    axes["head"] = heads[:3]
    rows = study.made(axes, {"n": 40, "n_documents": 30}, attention=CI)
    study.table("kovaleva2019-frames", rows)
    axes = {"task": TASKS.values(), "stage": STAGES, "far": (False, True)}
    axes |= {"link": ("verb-subject", "subject-verb", "noun-pronoun"), "head": heads[:3]}
    study.table("kovaleva2019-links", study.made(axes, {"n": 30}, neighbours=(0, 1)))
    axes = {"task metric": MAIN[:5], "unit": ("head", "layer"), "mode": ("uniform", "zero")}
    same = {"split": "dev", "n": 200, "naive": 2.0}
    rows = study.made(axes | {"seed": study.seeds}, same, gain=(-5, 5))
    study.table("michel2019-gains", rows)
    axes = {"task": TASKS, "stratum": ("frames", "unclassified", "all")}
    rows = study.made(axes, {"heads": 4}, effect=(-0.01, 0.01, "end"))
    rows = [row | {"low": row["end_low"], "high": row["end_high"]} for row in rows]
    study.table("kovaleva2019-strata", rows)


def kovaleva_heads(study: MadeUpTables) -> None:
    """Tables with a row for each head or layer."""
    axes = {"task": ("sst2", "mrpc"), "stage": STAGES, "class": ("block", "heterogeneous")}
    axes |= {"method": ("network", "rules"), "seed": study.seeds}
    rows = study.heads(axes, {"both": 0.05, "n": 20}, share=(0, 1))
    study.table("patterns/shares", rows)
    for (task, title), seed in product(TASKS.items(), study.seeds):
        name, run = f"finetuning/{task}.{seed}", {"task": task, "seed": seed, "n": 6}
        rows = study.by_unit(pd.DataFrame(study.heads({}, run, similarity=CI)), "similarity")
        study.table(f"{name}.similarity", rows.to_dict("records"))
        axes = {"kind": KINDS, "query": ("all", "cls"), "stage": STAGES}
        rows = pd.DataFrame(study.heads(axes, run | {"n_without": 1}, attention=CI))
        rows = study.by_unit(rows, "attention")
        absent = ["attention", "ci_low", "ci_high"]
        rows.loc[rows["kind"] == "negation", absent] = np.nan
        lists = rows.loc[rows["kind"] == "noun", ["sums", "counts"]]
        rows.loc[lists.index, ["sums", "counts"]] = lists.map(lambda units: units * OF_NOUNS)
        study.table(f"{name}.features", rows.to_dict("records"))
        axes = {"link": ("verb-subject", "noun-pronoun"), "stage": STAGES}
        far = 9 * list(TASKS).index(task)  # links are of the data, so the same for each seed
        axes["far links"] = ((False, 40), (True, far))
        study.table(f"{name}.links", study.heads(axes, run, attention=CI, neighbours=(0, 0.62)))
        axes = {"measure": ("copy", "shared"), "stage": STAGES}
        study.table(f"{name}.shared", study.heads(axes, run, excess=CI))
        axes, same = {"mode": ("uniform", "zero")}, run | {"split": "dev"}
        same["metric"] = dict(MAIN)[title]
        rows = study.heads(axes, same | {"unit": "head"}, effect=CI)
        axes |= {"layer": range(6)}
        rows += study.made(axes, same | {"unit": "layer", "head": -1}, effect=CI)
        study.table(f"ablation/{task}.finetuned.{seed}.scores", rows)
    effects = {f"effect_{task}": (0, 1, "end") for task in TASKS}
    rows = []
    for row in study.heads({}, {"stratum": "unclassified"}, **effects):
        for task in TASKS:
            effect, half = row[f"effect_{task}"], study.rng.random() / 100
            row |= {f"low_{task}": effect - half, f"high_{task}": effect + half}
        kinds = "unclassified" if row["layer"] else "syntactic, frames"
        rows.append(row | {"kinds": kinds, "name": f"{row['layer'] + 1}-{row['head'] + 1}"})
    study.table("kovaleva2019-heads", rows)


def classifiers(study: MadeUpTables) -> None:
    """Heads masked, left alone and pruned, with each seed; MNLI has two sets."""
    sets = [(*of, "dev") for of in METRICS] + [("MNLI", "accuracy", "dev_mismatched")]
    sets += [(task, "f1", split) for task, _, split in sets]
    axes, same = {"task metric split": sets, "seed": study.seeds}, {"mode": "zero", "n": 400}
    heads = {"head": [f"1-{n}" for n in range(24)]}
    rows = study.made(axes | heads, same, effect=(-3, 1, "ci"), p=(0, 0.05))
    rows = [row | {"p_t": np.nan if row["task"] == "STS-B" else row["p"] / 2} for row in rows]
    study.table("michel2019-table1", rows)
    study.table("ablation-power", study.made(axes, same | {"unit": "head", "loss": 1.5}))
    layers = {"layer head": [(n, f"{n}-1") for n in range(1, 7)]}
    rows = study.made(axes | layers, same, effect=(-5, 2, "ci"), gain=(-3, 1))
    study.table("michel2019-table3", rows)
    axes, same = {"task metric": METRICS}, {"n": 400, "runs": len(study.seeds)}
    orders = {"strategy": ("importance", "ablation", "random")}
    orders["share"] = (0.0, 12.5, 41.7, 50.0, 58.3, 100.0)
    study.table("michel2019-fig3", study.made(axes | orders, same, change=(-0.1, 0.05)))
    axes |= {"kept": ("most important", "random")}
    rows = study.made(axes, same | {"unpruned": 80.0}, change=(-20, 2))
    study.table("michel2019-one-head", rows)
    axes = {"batch_size device repeats": ((1, "cpu", 3), (4, "cuda", 3), (16, "cuda", 8))}
    same = {"task": "MRPC", "threads": 1, "original": 100.0, "original_sd": 2.0, "pruned_sd": 3.0}
    study.table("michel2019-table4", study.made(axes, same, pruned=(95, 130)))
    # SST-2 mismatched is no task's own set.
    pairs = (("datasets", "MNLI matched", "mismatched"), ("datasets", "SST-2 mismatched", "other"))
    rows = study.made({"kind one other": pairs}, {"mode": "zero", "n": 24}, pearson=(0, 1))
    for one, halves in (("MNLI matched", 0.6), ("MNLI mismatched", 0.8)):
        rows.append(rows[0] | {"kind": "halves", "one": one, "other": "half", "pearson": halves})
    study.table("michel2019-pairs", rows)
    same = {"task": "mnli", "unit": "head", "mode": "zero", "split": "dev", "metric": "accuracy"}
    for seed in study.seeds:
        rows = study.heads({}, same | {"seed": seed}, effect=CI)
        study.table(f"ablation/mnli.finetuned.{seed}.scores", rows)


def translators(study: MadeUpTables) -> None:
    """Two translators, of which the second hardly translates."""
    pairs = []
    for run, bleu in (("1", 30.0), ("2", 6.0)):
        about = {"run": run, "n": 200, "baseline": bleu, "metric": "bleu", "mode": "zero"}
        axes = {"type": TYPES, "layer": range(3), "head": range(4)}
        axes |= {"unit": ("head", "all-but-one"), "split": ("validation", "test", "web")}
        same = about | {"p_corrected": 0.5}
        rows = study.made(axes, same, effect=(-2, 0.5, "ci"), p_paper=(0, 0.03))
        study.table(f"translation/{run}.scores", rows, study=True)
        axes = {"strategy draw": [("importance", 0), ("score", 0), ("random", 0), ("random", 1)]}
        axes |= {"scope": ("all", *TYPES), "share": SHARES}
        rows = [curve(row) for row in study.made(axes, about, kept=(0.3, 1))]
        study.table(f"translation/{run}.curves", rows, study=True)
        axes = {"epoch baseline": ((1, 0.5), (2, 9.0), (10, bleu), (12, bleu)), "share": SHARES}
        same = about | {"strategy": "importance", "scope": "all"}
        rows = [curve(row) for row in study.made(axes, same, kept=(0.3, 1))]
        study.table(f"translation/{run}.training", rows, study=True)
        both = [(one, other) for one, other in product(TYPES, ("", *TYPES)) if one != other]
        measures = ("best head left", "best head left, but the last layer")
        axes, same = {"type other": both, "measure": measures}, about | {"split": "test"}
        rows = study.made(axes, same, value=(-2, 2, "ci"))
        study.table(f"translation/{run}.types", rows, study=True)
        same, splits = about | {"type": "all", "kind": "splits"}, ("validation", "test", "web")
        axes = {"one other": (splits[:2], splits[1:])}
        pairs += study.made(axes, same, pearson=(0, 1))
        for split, halves in (("test", 0.3), ("web", -0.1)):
            pairs.append(pairs[-1] | {"kind": "halves", "one": split, "pearson": halves})
    study.table("michel2019-translation-pairs", pairs, study=True)


def curve(row: dict) -> dict:
    """A point of a curve with its BLEU, of 20 heads; nothing is lost where none is pruned."""
    if not row["share"]:
        row |= {"kept": 1.0, "kept_low": 0.95, "kept_high": 1.06}
    score = row["baseline"] * row["kept"]
    row |= {"heads": 20, "pruned": round(20 * row["share"]), "score": score}
    return row | {"ci_low": score - 1, "ci_high": score + 1}


def decoders(study: MadeUpTables) -> None:
    """Roles, copying, retrieval, sinks and losses without a role's heads."""
    random = study.rng.random
    rows = study.heads({"role": ("induction", "previous")}, {"n": 20}, score=CI)
    rows = [row | {"has_role": random() < 0.4, "confirmed": False} for row in rows]
    rows = [row | {"confirmed": row["has_role"] and row["head"] % 3 == 0} for row in rows]
    study.table("battery/roles", rows)
    rows = study.heads({}, {"role": "copying", "n": 20, "top": 0.5})
    study.table("battery/copying", [row | {"has_role": random() < 0.5} for row in rows])
    rows = study.heads({}, {"role": "retrieval", "n": 20}, score=(0, 0.3, "ci"), others=(0, 0.15))
    rows = [row | {"p_corrected": study.rng.choice([0.01, 0.5])} for row in rows]
    study.table("battery/retrieval", rows)
    axes = {"mode": ("zero", "mean"), "text": ("first copy", "second copy")}
    same = {"role": "induction", "n": 20, "n_heads": 8, "intact": 3.3, "loss": 12.0, "note": ""}
    same |= {"random": 4.0, "random_min": 3.4, "random_max": 6.0, "n_free": 20}
    same |= {"accuracy_intact": 0.6, "accuracy": 0.1, "p": study.rng.choice([1, 3]) / 21}
    study.table("battery-causal", study.made(axes, same, excess=(-2, 8)))
    axes, same = {"order": ("exact", "estimate")}, {"n": 5, "n_heads": 12}
    study.table("context-orders", study.made(axes, same, rho=(-1, 1)))
    study.table("context-curves", study.made(axes | {"share": (0.4, 0.5)}, same, rise=(-1, 3)))
    same = {"with": "copying", "n": 24, "n_groups": 12}  # pairs of heads share keys and values
    rows = study.made({"of": ("induction", "eigenvalue")}, same, rho=(-1, 1, "ci"))
    study.table("battery-correlations", rows)
    measures = ("sinks", "attention", "by_norm", "norm_less_weight")
    axes = {"first": ("text", "random"), "measure": measures}
    same = {"n": 50, "n_documents": 30, "threshold": 0.3}
    study.table("battery-sinks", study.made(axes, same, value=CI))
    rows = pd.DataFrame(study.heads({"target": ("first",)}, {"n": 300}, attention=CI))
    study.table("surface/special_tokens", study.by_unit(rows, "attention").to_dict("records"))
