"""battery: roles of a decoder's heads, each with a null (Olsson et al. 2022)."""

battery = Products("battery", "olsson2022", "Roles of heads")

BATTERY = config["battery"]
BATTERY_TEXT = f"<results>/corpora/{BATTERY['corpus']}.jsonl"


use rule torch_step as repeated_sequences with:
    input:
        **MODEL,
    output:
        sequences="<results>/{model}/battery/sequences.parquet",
    localrule: True
    params:
        **step("battery/inputs.py"),
        n_sequences=BATTERY["n_sequences"],
        length=BATTERY["length"],
        seed=config["seed"],


use rule model_step as random_repeats with:
    input:
        **MODEL,
        sequences=rules.repeated_sequences.output.sequences,
    output:
        random="<results>/{model}/battery/random_repeats.parquet",
    params:
        **step("battery/random_repeats.py"),
        threshold=BATTERY["threshold"],
        bootstrap=BATTERY["bootstrap"],
        batch_tokens=config["attention"]["batch_tokens"],
        seed=config["seed"],


use rule model_step as natural_repeats with:
    input:
        **MODEL,
        corpus=BATTERY_TEXT,
        random=rules.random_repeats.output.random,
    output:
        roles=battery.measured("<results>/{model}/battery/roles.parquet"),
    params:
        **step("battery/natural_repeats.py"),
        max_tokens=TEXTS[BATTERY["corpus"]]["max_tokens"],
        n_segments=BATTERY["n_segments"],
        bootstrap=BATTERY["bootstrap"],
        permutations=BATTERY["permutations"],
        batch_tokens=config["attention"]["batch_tokens"],
        seed=config["seed"],


battery.drawn(
    "olsson2022-roles",
    "heads by role",
    input={"roles": rules.natural_repeats.output.roles, "model": rules.model_card.output.model},
    params={"threshold": BATTERY["threshold"]},
    table="heads by role",
)


include: "battery_tests.smk"
