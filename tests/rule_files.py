"""The rules of the workflow, read from the text of the rule files."""

import re
from dataclasses import dataclass
from pathlib import Path

HEAD = re.compile(r"^( *)(?:rule (\w+)|use rule (\w+) as (\w+) with):$")


@dataclass(frozen=True)
class Rule:
    """One rule: its name, its file, the lines below its head, and the rule it is a twin of."""

    name: str
    file: Path
    body: str
    base: "Rule | None" = None

    @property
    def script(self) -> str | None:
        """The script below workflow_scripts/, a twin's own or its base's; None without one."""
        written = re.search(r'^ +script:\s+"\.\./workflow_scripts/([^"]+)"$', self.body, re.M)
        return written[1] if written else self.base.script if self.base else None

    @property
    def code(self) -> str | None:
        """The script whose digest the rule has as a parameter."""
        written = re.search(r'^ +code=code\("([^"]+)"\),?$', self.body, re.M)
        return written[1] if written else self.base.code if self.base else None

    def has(self, directive: str) -> bool:
        """Whether the rule itself has a directive, such as `log`."""
        return re.search(rf"^ +{directive}:", self.body, re.M) is not None


def read_rules(folder: Path) -> list[Rule]:
    """All rules of the Snakefile and the rules/*.smk below `folder`, conditional ones included."""
    rules: dict[str, Rule] = {}
    for file in [folder / "Snakefile", *sorted((folder / "rules").glob("*.smk"))]:
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if head := HEAD.match(line):
                indent, name, base, twin = head.groups()
                body = _body(lines[number + 1 :], len(indent))
                rules[name or twin] = Rule(name or twin, file, body, rules[base] if base else None)
    return list(rules.values())


def _body(lines: list[str], indent: int) -> str:
    """The leading lines that are blank or stand deeper than `indent`."""
    for number, line in enumerate(lines):
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return "\n".join(lines[:number])
    return "\n".join(lines)
