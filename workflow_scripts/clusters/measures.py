"""What the tables of clusters hold, and the measures of heads that they give."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.forms import NO_INTERVAL, Form, Study, Table, Tables

EMBEDDING = Table(
    "clusters/embedding.parquet",
    value="behaviour",
    **NO_INTERVAL,
    paper="clark2019",
    group="Clusters",
    categories=("punctuation", "sep", "cls", "broad", "previous", "next", "other"),
)
# For a decoder: the first token is like [CLS], and no token sees the next one.
OF_DECODERS = ("punctuation", "first", "broad", "previous", "other")
COORDINATE = replace(
    EMBEDDING,
    value="x",
    categories=None,
    scale="diverging",
    decimals=3,
)
DISTANCES = Table(
    "clusters/distances.parquet",
    value="distance",
    keys=("layer_a", "head_a", "layer_b", "head_b"),
    interval="",
    unit="nats",
)


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """What a head looks like in Figure 6, and where it is in the plane."""
    text = f"On segments of the text {study.corpora.get('clusters')}.{study.note('text')}"
    yield replace(
        EMBEDDING, categories=OF_DECODERS if found.decoder else EMBEDDING.categories
    ).form(
        "clusters.behaviour",
        "Attention behaviour",
        f"The first behaviour whose threshold the head exceeds (Figure 6). {text}",
    )
    for axis in ("x", "y"):
        yield replace(COORDINATE, value=axis).form(
            f"clusters.{axis}",
            f"Similarity map, {axis}-axis",
            f"The {axis} coordinate in the plane where heads with similar attention are close to "
            "each other: multidimensional scaling of Jensen-Shannon distances. The axis itself has "
            f"no meaning. {text}",
        )
