"""What the table of changes holds, and the measures of heads that it gives."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.chapters import collect
from workflow_scripts.compare import DIVERGENCE
from workflow_scripts.core.measures.forms import Form, Study, Table, Tables, identifier

CHANGES = Table(
    "compare/heads.parquet",
    value="change",
    keys=("measure", "compared_with"),
    p="p_corrected",
    label="matched",
    null=0,
    null_title="no change",
    scale="diverging",
    paper="beyond",
    group="Change",
)
MAPS = replace(CHANGES, p="", null="", null_title=None, scale="sequential", unit="nats", decimals=3)


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """How far maps diverge from those of the other model, and the change of its own measures.

    A change has the title and unit of the measure, which its chapter gives: those that the atlas
    does not show are not shown here, too.
    """
    if CHANGES not in found:
        return
    frame = found[CHANGES]
    other = frame["compared_with"].iloc[0]
    label = f"The label is the head of {other} that it is compared with."
    over = f"Interval: 95%, bootstrap over documents. {label}"
    yield MAPS.form(
        "change.divergence",
        f"Change of maps from {other}",
        f"Jensen-Shannon divergence of the head's attention from that of {other} on the same "
        "texts, in nats: 0 where it is the same, log 2 at most. Mean over queries, then over "
        f"segments of the text {study.corpora.get('surface')}.{study.note('text')} {over}",
        {"measure": DIVERGENCE, "compared_with": other},
    )
    chapters = [chapter for name, chapter in collect("measures").items() if name != "compare"]
    shown = {form.id: form for chapter in chapters for form in chapter.forms(found, study)}
    for name in frame["measure"].drop_duplicates():
        direction = name.rpartition(".")[2]
        form = shown.get(name) or shown.get(identifier(name.removesuffix(f".{direction}")))
        if form is None:
            continue
        words = "" if form.id == name else f", {direction.replace('_', ' ')}"
        about = form.rows.table
        yield replace(
            CHANGES,
            factor=about.factor,
            unit="points" if about.unit == "%" else about.unit,
            decimals=about.decimals,
        ).form(
            f"change.{identifier(name)}",
            f"Change of {form.title[0].lower()}{form.title[1:]}{words}",
            f"This measure minus that of {other}, paired by document: {form.about} {label} p: sign "
            "flips of documents, corrected for all heads.",
            {"measure": name, "compared_with": other},
        )
