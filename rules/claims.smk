"""claims: what the papers state, judged on the study at hand."""

claims = Products("claims", JUDGED)

from os.path import relpath

from workflow_scripts.claims import published

CLAIMS = config["claims"]
CLAIMS_PRINTED = by_model(TABLES)


use rule light_step as claim_verdicts with:
    input:
        published=claims_of,
        model=rules.model_card.output.model,
        products=products_judged,
        untrained=untrained_judged,
    output:
        table=claims.table("claims", "central claims: the papers' numbers and ours"),
        cases="<results>/{model}/claims/cases.parquet",
    params:
        **step("claims/claim_verdicts.py"),
        data=ORIGINS,
        translator=CLAIMS["translator"],


claims.drawn(
    "claims",
    "central claims that are tested: rule, published number, ours",
    input={"verdicts": rules.claim_verdicts.output.table},
    own="claims_figure",
)
