"""What kinds an encoder's heads are of: the measure that they give."""

from collections.abc import Iterator

from workflow_scripts.chapters import collect
from workflow_scripts.core.data.heads import KINDS
from workflow_scripts.core.measures.forms import NO_INTERVAL, Form, Study, Table, Tables

KIND = Table(
    "attention/kinds.parquet",
    value="stratum",
    **NO_INTERVAL,
    categories=KINDS,
    paper="kovaleva2019",
    group="Kinds of heads",
)
NOTES = {"silver": "silver", "generated": "generated data", "machine": "annotated by an AI model"}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """What a head does, of what the study's chapters measure."""
    if KIND not in found:
        return
    declared = [getattr(chapter, "HEAD_KINDS", {}) for chapter in collect("measures").values()]
    kinds = {name: told[name] for name in KINDS for told in declared if name in told}
    notes = {name: NOTES.get(study.data.get(kind.data, "")) for name, kind in kinds.items()}
    about = " ".join(f"{name.capitalize()}: {kind.about}." for name, kind in kinds.items())
    yield KIND.form(
        "behaviour.stratum",
        "Kind of head",
        f"Each head is shown as the first kind that applies. {about} Unclassified: none of these. "
        "A head beats a baseline if the 95% interval of its gain, corrected for all heads and "
        "relations, is above 0. Only kinds that this study measures are used.",
        category_notes=tuple(map(notes.get, KINDS)),
    )
