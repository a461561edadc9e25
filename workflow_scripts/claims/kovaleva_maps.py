"""Our numbers for what Kovaleva et al. 2019 state about classes of maps and frames (4.1, 4.2)."""

from dataclasses import replace

from workflow_scripts.claims.glue_rows import TITLES
from workflow_scripts.claims.intervals import BOUNDS, OVER_EXAMPLES, counted, in_percent, over_runs
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.frame_links import JUDGED
from workflow_scripts.patterns.measures import SHARES


def classifier_f1(products: Products, of: str) -> list[Measured]:
    """Macro F1 of the network on annotated maps of fine-tuned models, as the paper's are.

    The reference is the same network on shuffled labels.
    """
    of_tuned = {"maps": "fine-tuned"}
    row = products.row("kovaleva2019-classifier", method="network", **of_tuned)
    shuffled = products.row(
        "kovaleva2019-classifier", method="network, shuffled labels", **of_tuned
    )
    number = (float(row[f"macro_f1{end}"]) for end in ("", "_low", "_high"))
    about = f"accuracy {100 * row['accuracy']:.0f}%, {row['n_examples']} examples"
    more = {"reference": float(shuffled["macro_f1"]), "about": about}
    return [Measured(*number, int(row["n"]), "maps", interval=OVER_EXAMPLES, **more)]


def class_share(products: Products, of: str) -> list[Measured]:
    """Percent of maps of the class `of` after fine-tuning, on each task and by each method.

    The interval is over heads. Next to it of how many maps that either method gives the class both
    give it.
    """
    shares = products.rows(SHARES, stage="fine-tuned", **{"class": of})
    numbers = []
    for task, of_task in shares.groupby("task", sort=False):
        of_method = dict(list(of_task.groupby("method", sort=False)))
        both = of_task["both"].mean()
        either = sum(rows["share"].mean() for rows in of_method.values()) - both
        about = f"network and rules agree on {100 * both / either if either else 0:.0f}% of them"
        for method, rows in of_method.items():
            by_head = 100 * rows.groupby(["layer", "head"])["share"].mean()
            n, case = len(by_head), f"{TITLES[task]}, by {method}"
            more = {"seeds": rows["seed"].nunique(), "about": about, "task": task}
            numbers.append(Measured(*over_runs(by_head.to_numpy()), n, "heads", case, **more))
    return numbers


def frame_heads(products: Products, of: str) -> list[Measured]:
    """Percent of heads that attend more along frame links than to unlinked words as far apart.

    The study's frame heads, by a p-value corrected for all heads and a smallest difference; the
    upper end counts all heads that are above by an uncorrected p-value.
    """
    rows = products.rows("kovaleva2019-frame-controls", direction=JUDGED)
    possible = (rows["p"] < 0.05) & (rows["difference"] > 0)
    number = in_percent(counted(rows["frame_head"], rows["frame_head"], possible))
    about = " ".join(rows.loc[rows["frame_head"], "head"])
    return [replace(number, of="heads", about=about, interval=BOUNDS)]


def frame_attention(products: Products, of: str) -> list[Measured]:
    """The highest mean attention of a head along frame links, in either direction.

    The reference is the head's attention to unlinked words at the same distance.
    """
    rows = products.rows("kovaleva2019-frames", direction=JUDGED)
    best = rows.loc[rows["attention"].idxmax()]
    same = products.row("kovaleva2019-frame-controls", direction=JUDGED, head=best["head"])
    number = (float(best[name]) for name in ("attention", "ci_low", "ci_high"))
    n, units = int(best["n"]), int(best["n_documents"])
    more = {"reference": float(same["control"]), "about": str(best["head"])}
    more["interval"] = "" if units == n else f"95% over {units} lexical units"
    return [Measured(*number, n, "sentences", **more)]


MEASURES = (classifier_f1, class_share, frame_heads, frame_attention)
