"""The rules of the workflow, read from the text of the rule files."""

import re
from dataclasses import dataclass
from pathlib import Path

HEAD = re.compile(r"^( *)(?:rule (\w+)|use rule (\w+) as (\w+) with|rule):$")
# Rules that a loop makes share the beginning of their names.
NAMED = re.compile(r'^ +name:\s+f"(\w+)_{', re.M)


@dataclass(frozen=True)
class Rule:
    """One rule: its name, its file, the lines below its head, and the rule it is a twin of."""

    name: str
    file: Path
    body: str
    base: "Rule | None" = None

    @property
    def script(self) -> str | None:
        """The script below workflow_scripts/; None without one."""
        return self._find(r'^ +script:\s+"(?:\.\./)+workflow_scripts/([^"]+)"$')

    @property
    def code(self) -> str | None:
        """The script whose digest the rule has as a parameter."""
        return self._find(r'^ +code=code\("([^"]+)"\),?$')

    @property
    def conda(self) -> str | None:
        """The rule's environment, a file of envs/."""
        return self._find(r'^ +conda:\s+"(?:\.\./)+envs/([^"]+)"$')

    def has(self, directive: str) -> bool:
        """Whether the rule has a directive, such as `log`, that it does not share with its base."""
        return re.search(rf"^ +{directive}:", self.body, re.M) is not None

    def _find(self, pattern: str) -> str | None:
        """What the rule itself says, or else its base."""
        written = re.search(pattern, self.body, re.M)
        return written[1] if written else self.base._find(pattern) if self.base else None


def snakefiles(folder: Path) -> list[Path]:
    """The Snakefile and all rule files of a workflow."""
    return [folder / "Snakefile", *sorted((folder / "rules").rglob("*.smk"))]


def read_rules(folder: Path) -> list[Rule]:
    """All rules of the workflow in `folder`, conditional ones included."""
    heads: dict[str, tuple[str | None, Path, str]] = {}
    for file in snakefiles(folder):
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if head := HEAD.match(line):
                indent, name, base, twin = head.groups()
                body = _body(lines[number + 1 :], len(indent))
                in_loop = NAMED.search(body)
                if name := name or twin or (in_loop and in_loop[1]):
                    heads[name] = base, file, body

    def rule(name: str) -> Rule:
        base, file, body = heads[name]
        return Rule(name, file, body, rule(base) if base else None)

    return [rule(name) for name in heads]


def _body(lines: list[str], indent: int) -> str:
    """The leading lines that are blank or stand deeper than `indent`."""
    for number, line in enumerate(lines):
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return "\n".join(lines[:number])
    return "\n".join(lines)
