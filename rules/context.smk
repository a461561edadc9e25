"""context: which key-value heads of a decoder need the whole context, and at what loss."""

context = Products("context", "Whole context", "Streaming heads")

CONTEXT = config["context"]
CONTEXT_TEXT = f"<results>/corpora/{CONTEXT['corpus']}.jsonl"
# Retrieval is the battery's, where its needles lie in another text: none of its documents is read.
CONTEXT_RETRIEVAL = (
    "battery" in config
    and "retrieval" in BATTERY_FURTHER
    and BATTERY["corpus"] != CONTEXT["corpus"]
)
CONTEXT_READ = {
    **MODEL,
    "corpus": CONTEXT_TEXT,
    "seen": [BATTERY_TEXT] if CONTEXT_RETRIEVAL else [],
}
if CONTEXT["list_by"] == "gates" and not CONTEXT["gate_steps"]:
    raise InputError("config: context.list_by: gates needs context.gate_steps above 0")
if CONTEXT["list_by"] == "retrieval" and not CONTEXT_RETRIEVAL:
    raise InputError(
        "config: context.list_by: retrieval is no score here; let the battery measure it on another "
        "corpus (battery.further_measures), or choose another"
    )
CONTEXT_RUN = without(CONTEXT, ("corpus", "steps", "draws", "n_keys", "gate_steps", "list_by"))
CONTEXT_RUN |= INTERVALS


if CONTEXT["gate_steps"]:

    use rule training_step as context_gates with:
        input:
            **CONTEXT_READ,
        output:
            gates="<results>/{model}/context/gates.parquet",
        params:
            **step("context/context_gates.py"),
            **without(CONTEXT_RUN, ("bootstrap",)),
            gate_steps=CONTEXT["gate_steps"],


use rule training_step as context_scores with:
    input:
        **CONTEXT_READ,
        retrieval=BATTERY_SCORES["retrieval"] if CONTEXT_RETRIEVAL else [],
        gates=rules.context_gates.output.gates if CONTEXT["gate_steps"] else [],
    output:
        scores=context.measured("<results>/{model}/context/scores.parquet"),
        table=context.table("context-scores", "scores by key-value head"),
    params:
        **step("context/context_scores.py"),
        **CONTEXT_RUN,


use rule model_step as context_streaming with:
    input:
        **CONTEXT_READ,
        scores=rules.context_scores.output.scores,
    output:
        curves=context.table("context-curves", "loss by share of streaming heads"),
        positions=context.table("context-positions", "loss by part of the text"),
        orders_compared=context.table("context-orders", "orders of streaming heads"),
    params:
        **step("context/context_streaming.py"),
        **CONTEXT_RUN,
        steps=CONTEXT["steps"],
        draws=CONTEXT["draws"],


use rule model_step as context_recall with:
    input:
        **CONTEXT_READ,
        scores=rules.context_scores.output.scores,
    output:
        recall=context.table("context-recall", "recalled passkeys by share of streaming heads"),
    params:
        **step("context/context_recall.py"),
        **CONTEXT_RUN,
        n_keys=CONTEXT["n_keys"],
        draws=CONTEXT["draws"],


context.drawn(
    "context-curves",
    "loss by share of streaming heads",
    input={
        "curves": rules.context_streaming.output.curves,
        "recall": rules.context_recall.output.recall,
    },
)


use rule light_step as context_files with:
    input:
        model=rules.model_card.output.model,
        scores=rules.context_scores.output.scores,
        curves=rules.context_streaming.output.curves,
    output:
        **folder("lists", "<results>/{model}/context/lists"),
    params:
        **step("context/context_files.py"),
        score=CONTEXT["list_by"],
        sinks=CONTEXT["sinks"],
        recent=CONTEXT["recent"],


PAGES += expand(rules.context_files.output.lists_digests, model=context.models())
