"""claims: what the papers state, judged on the study at hand."""

from os.path import relpath

from workflow_scripts.claims import published

CLAIMS = config["claims"]
CLAIMS_PRINTED = by_model(TABLES)


use rule analysis_step as claim_verdicts with:
    input:
        published=claims_of,
        model=rules.model_card.output.model,
        products=products_judged,
    output:
        table=table("claims", "every published claim, judged", JUDGED),
        cases="<results>/{model}/claims/cases.parquet",
    pathvars:
        job="claims/{model}.claim_verdicts",
    localrule: True
    params:
        **step("claims/claim_verdicts.py"),
        data=ORIGINS,
        translator=CLAIMS["translator"],


use rule analysis_step as claims_figure with:
    input:
        verdicts=rules.claim_verdicts.output.table,
    output:
        **figure(
            "claims",
            "claims with a verdict: rule, published number, ours",
            JUDGED,
            "claims-figure",
        ),
    pathvars:
        job="claims/{model}.claims_figure",
    localrule: True
    params:
        **step("claims/claims_figure.py"),
