"""Small GLUE tasks in the official TSV format, written by the study's own grammar."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated import grammar
from workflow_scripts.core.run import job

Domains = tuple[grammar.Domain, ...]
Row = tuple[str, str, str]  # both texts, the second of which may be empty, and the label
CORE = ("agent", "verb", "theme")
WEIGHTS = {"agent": 1.0, "verb": 1.25, "theme": 1.25, "place": 0.75, "time": 0.75}
HEADERS = {
    "mrpc": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String",
    "stsb": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2"
    "\tscore",
    "qqp": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
    "rte": "index\tsentence1\tsentence2\tlabel",
    "qnli": "index\tquestion\tsentence\tlabel",
    "mnli": "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse"
    "\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label",
}  # CoLA's files have none


def mrpc(rng: random.Random, domains: Domains) -> Row:
    """A paraphrase (two of three), or a sentence about another person, deed or thing."""
    fact = grammar.new_fact(rng, domains, negated=0.1)
    same = rng.random() < 2 / 3
    second = fact if same else _altered(fact, rng, domains, 3)
    return grammar.sentence(fact, rng), grammar.sentence(second, rng), str(int(same))


def stsb(rng: random.Random, domains: Domains) -> Row:
    """Two facts with some roles in common; the score is the sum of these roles' weights."""
    fact = second = grammar.new_fact(rng, domains)
    score = 5.0
    for role in rng.sample(grammar.ROLES, rng.randint(0, len(grammar.ROLES))):
        second = grammar.changed(second, role, rng, domains)
        score -= WEIGHTS[role]
    if score == 0:
        second = grammar.new_fact(rng, domains)
    return grammar.sentence(fact, rng), grammar.sentence(second, rng), f"{score:.3f}"


def qqp(rng: random.Random, domains: Domains) -> Row:
    """The same question in other words, or a question about another role or another fact."""
    fact = grammar.new_fact(rng, domains)
    roles = ["agent", "theme", "place", "time"]
    role = rng.choice(roles)
    same = rng.random() < 0.45
    second, second_role = fact, role
    if not same and rng.random() < 0.4:
        second_role = rng.choice([name for name in roles if name != role])
    elif not same:
        known = [name for name in CORE if name != role]
        second = grammar.changed(fact, rng.choice(known), rng, domains)
    first = grammar.question(fact, role, rng)
    return first, grammar.question(second, second_role, rng), str(int(same))


def rte(rng: random.Random, domains: Domains) -> Row:
    """A premise with details, and what follows from it or does not."""
    fact = grammar.new_fact(rng, domains, negated=0.1)
    follows = rng.random() < 0.5
    second = fact if follows else _altered(fact, rng, domains, 2)
    label = "entailment" if follows else "not_entailment"
    return grammar.sentence(fact, rng), grammar.sentence(second, rng, (), adjectives=False), label


def qnli(rng: random.Random, domains: Domains) -> Row:
    """A question, and a sentence that answers it or is about something else."""
    fact = grammar.new_fact(rng, domains)
    role = rng.choice(["agent", "theme", "place", "time"])
    answers = rng.random() < 0.5
    known = [name for name in CORE if name != role]
    second, details = fact, ("place", "time")
    if not answers and role in details and rng.random() < 0.5:
        details = tuple({"place", "time"} - {role})
    elif not answers:
        second = _altered(fact, rng, domains, len(known), known)
    label = "entailment" if answers else "not_entailment"
    return grammar.question(fact, role, rng), grammar.sentence(second, rng, details), label


def mnli(rng: random.Random, domains: Domains) -> Row:
    """A hypothesis that follows, may be true or false, or is false if the premise is true."""
    fact = grammar.new_fact(rng, domains, negated=0.1)
    label = rng.choice(["entailment", "neutral", "contradiction"])
    if label == "entailment":
        return grammar.sentence(fact, rng), grammar.sentence(fact, rng, (), adjectives=False), label
    if label == "neutral":
        in_premise, in_hypothesis = ((detail,) for detail in rng.sample(["place", "time"], 2))
        second = fact
        if rng.random() >= 0.5:
            second = grammar.changed(fact, rng.choice(["agent", "theme"]), rng, domains)
            in_hypothesis = ()
        premise = grammar.sentence(fact, rng, in_premise)
        return premise, grammar.sentence(second, rng, in_hypothesis, adjectives=False), label
    kind = rng.choice(["negation", "opposite"])
    negated = replace(fact, negated=not fact.negated)
    second = grammar.opposite(fact) if kind == "opposite" and not fact.negated else negated
    return grammar.sentence(fact, rng), grammar.sentence(second, rng, (), adjectives=False), label


def cola(rng: random.Random, domains: Domains) -> Row:
    """An acceptable sentence (two of three), or one with a mistake in an article or the verb."""
    fact = grammar.new_fact(rng, domains, negated=0.2)
    details = rng.sample(["place", "time"], rng.randint(0, 2))
    if rng.random() < 2 / 3:
        return grammar.sentence(fact, rng, details), "", "1"
    return grammar.unacceptable(fact, rng, details), "", "0"


WRITERS: dict[str, Callable[[random.Random, Domains], Row]] = {
    writer.__name__: writer for writer in (mrpc, stsb, qqp, rte, qnli, mnli, cola)
}


def _altered(
    fact: grammar.Fact, rng: random.Random, domains: Domains, n: int, roles: Sequence[str] = CORE
) -> grammar.Fact:
    """The fact with other fillers of `n` of the roles."""
    for role in rng.sample(roles, n):
        fact = grammar.changed(fact, role, rng, domains)
    return fact


def to_line(name: str, number: int, row: Row) -> str:
    """The row as a line of the task's official file."""
    first, second, label = row
    pair = [2 * number + 1, 2 * number + 2]
    fields = {
        "mrpc": [label, *pair, first, second],
        "stsb": [number, "generated", "grammar", "none", f"{number:04d}", "none", "none", *row],
        "qqp": [number, *pair, *row],
        "mnli": [number, number, f"{number}g", "generated", *"----", first, second, label, label],
        "cola": ["grammar", label, "*" if label == "0" else "", first],
    }
    return "\t".join(map(str, fields.get(name, [number, *row])))


def main(generated: job.Out, name: str, n_train: int, n_dev: int, seed: int = 1) -> None:
    """Write the task's files to the directory `generated`: `n_train` and `n_dev` rows (0: none)."""
    if name not in WRITERS:
        raise InputError(
            f"tasks.{name}.generate: the grammar writes {', '.join(WRITERS)} only; give "
            "this task a path, package: or hub: as from"
        )
    generated.mkdir()
    for split, file in TASKS[name].files.items():
        if split != "train" and not n_dev:
            continue
        domains = (grammar.LABORATORY,) if split == "dev_mismatched" else (grammar.TOWN,)
        rng = random.Random(f"{seed}-{name}-{split}")
        lines = [HEADERS[name]] if name in HEADERS else []
        for k in range(n_train if split == "train" else n_dev):
            lines.append(to_line(name, k, WRITERS[name](rng, domains)))
        (generated / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
