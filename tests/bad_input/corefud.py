"""Coreference in CoNLL-U: a valid file with all that its brackets may be, and a plain reading."""

import re

Records = list[tuple]

COREFUD = (
    "# newdoc id = one\n# global.Entity = entity-GRP-head\n"
    "1\tAnna\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\tEntity=(person-1-1)\n"
    "2\ttook\t_\tVERB\tVBD\t_\t0\troot\t_\tEntity=(event-2[1/2]-1\n"
    "3\ther\t_\tPRON\tPRP$\t_\t4\tposs\t_\tEntity=(person-1-1)event-2[1/2])\n"
    "4-5\tdog's\t_\t_\t_\t_\t_\t_\t_\tEntity=(animal-3)\n"
    "4\tdog\t_\tNOUN\tNN\t_\t2\tobj\t_\tEntity=(animal-4(animal-5-1)\n"
    "5\t's\t_\tPART\tPOS\t_\t4\tcase\t_\tEntity=4)\n"
    "5.1\tit\t_\tPRON\tPRP\t_\t_\t_\t2:obj\tEntity=(animal-3-1)(thing-6-2\n"
    "6\tcoat\t_\tNOUN\tNN\t_\t2\tobj\t_\tSpaceAfter=No|Entity=6)\n"
    "7\toff\t_\tADV\tRB\t_\t2\tadv\t_\tEntity=(event-2[2/2]-1)\n\n"
)
# Its mentions and their head words, counted by hand, and those of an empty node alone.
MENTIONS = {
    ("1", 0, 1, 0),
    ("1", 2, 3, 2),
    ("2", 1, 7, 1),  # "took her ... off"
    ("3", 3, 5, None),
    ("4", 3, 5, None),
    ("5", 3, 4, 3),
    ("6", 5, 6, 5),
}
N_EMPTY = 1


def documents_of(text: str) -> list[list[list[str]]]:
    """The columns of each document's lines, and of the lines that name the fields of Entity."""
    documents: list[list[list[str]]] = [[]]
    for line in text.removeprefix("\ufeff").split("\n"):
        line = line.rstrip("\r")
        if re.match(r"#\s*newdoc(?:\s+id\s*=\s*.+?)?\s*$", line):
            documents.append([])
        elif re.match(r"#\s*global\.Entity\s*=\s*.", line):
            documents[-1].append([line.partition("=")[2].strip()])
        elif line.strip() and not line.startswith("#"):
            documents[-1].append(line.split("\t"))
    return documents


def plainly(text: str) -> Records:
    """Words and mentions of each document: (start, end, chain)."""
    found, order = [], ["GRP"]
    for rows in documents_of(text):
        nodes, cells, after = [], [], {}
        held = ""
        for row in rows:
            if len(row) == 1:
                order = row[0].split("-")
                continue
            index, misc = row[0], row[9].split("|")
            cell = next((item[7:] for item in misc if item.startswith("Entity=")), "")
            tokens = [(*token, order) for token in re.findall(r"(\()?([^()|]+)(\))?", cell)]
            if "-" in index:
                held = [(opens, name, "", order) for opens, name, _, order in tokens if opens]
                closing = [("", name, ")", order) for _, name, closes, order in tokens if closes]
                after.setdefault(index.split("-")[1], []).extend(closing)
                continue
            nodes.append(None if "." in index else "".join(row[1].split()))
            cells.append([*(held or []), *tokens, *after.pop(index, [])])
            held = ""
        words = [node for node in nodes if node is not None]
        if words:
            found.append((tuple(words), sorted(mentions(nodes, cells))))
    return found


def mentions(nodes: list[str | None], cells: list[list[tuple]]) -> Records:
    """Mentions of a document's nodes; a chain's innermost closes first, as the last part does."""
    number, n_words = {}, 0
    for place, node in enumerate(nodes):
        if node is not None:
            number[place], n_words = n_words, n_words + 1
    waiting: dict[str, list[int]] = {}
    parts: dict[str, list[list[int]]] = {}
    found = []
    for place, tokens in enumerate(cells):
        for opens, name, closes, order in tokens:
            key = chain_of(name, order)
            if opens:
                waiting.setdefault(key, []).append(place)
            if not closes:
                continue
            chain, _, part = key.partition("[")
            covered = [*range(waiting[key].pop(), place + 1)]
            k, n = part.rstrip("]").split("/") if part else ("1", "1")
            if k != "1":
                covered = parts[f"{chain}[{int(k) - 1}/{n}]"].pop() + covered
            if k != n:
                parts.setdefault(key, []).append(covered)
            elif inside := [number[place] for place in covered if place in number]:
                found.append((inside[0], inside[-1] + 1, chain))
    return found


def chain_of(name: str, order: list[str]) -> str:
    """The chain that a bracket names, with its part."""
    part = re.search(r"\[(\d+)/(\d+)\]", name)
    fields = name.replace(part[0], "", 1).split("-") if part else name.split("-")
    place = next(k for k, field in enumerate(order) if field in ("eid", "GRP"))
    chain = fields[place] if len(fields) > 1 else fields[0]
    whole = part is None or int(part[2]) == 1
    return chain if whole else f"{chain}[{int(part[1])}/{int(part[2])}]"
