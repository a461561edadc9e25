"""What the tables of antecedents hold, and the measures of heads that they give."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.measures.forms import OVER_DOCUMENTS, Form, Study, Table
from workflow_scripts.core.measures.tables import Tables

PAPER = "clark2019"
DATA = ("mentions", "Coreferent mentions")
SCORES = Table(
    "coreference/scores.parquet",
    "how often the head word of a mention attends most to that of an antecedent",
    value="accuracy",
    keys=("candidates", "type"),
    factor=100,
    unit="%",
    decimals=1,
    better="high",
    ids=("coreference.<candidates>.<mentions>",),
)
RULES = replace(
    SCORES,
    file="coreference/rules.parquet",
    about="how often a rule finds an antecedent: of no attention head",
    keys=("system", "type"),
    ids=(),
)
TABLES = (SCORES, RULES)
MENTIONS = {"all": "all mentions", "pronoun": "pronouns", "proper": "names", "nominal": "nouns"}
CANDIDATES = {"words": "all other words", "mentions": "the earlier mentions"}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """How often the word that a mention attends to most is the head of an antecedent."""
    if SCORES not in found or RULES not in found:
        return
    rules = found[RULES].set_index(["system", "type"])["accuracy"]
    corpus = f"On the corpus {study.corpora.get('coreference')}.{study.note('mentions')}"
    for candidates, among in CANDIDATES.items():
        for kind, words in MENTIONS.items():
            yield SCORES.form(
                f"coreference.{candidates}.{kind}",
                f"Antecedents of {words}, among {among}",
                f"How often the head word of a coreferent mention ({words}) attends most, among "
                f"{among}, to the head word of an antecedent. {corpus} Matching the head words "
                f"of mentions finds {100 * rules['head_match', kind]:.1f}%. {OVER_DOCUMENTS}",
                {"candidates": candidates, "type": kind},
                null=RULES.rows(system="nearest", type=kind),
                null_title="nearest mention",
                without=bool(pd.isna(rules["nearest", kind])),
                paper=PAPER,
                group="Coreference",
            )
