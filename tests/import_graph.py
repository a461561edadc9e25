"""What imports what in the package, read by grimp: an independent reading of the imports."""

import re
from functools import cache
from pathlib import Path

import grimp

PACKAGE = "workflow_scripts"
ROOT = Path(__file__).parents[1]


@cache
def import_graph() -> grimp.ImportGraph:
    """The graph of all modules; what `collect` of chapters.py imports is added."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    for importer in sorted(graph.modules):
        path = file_of(importer)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for name in re.findall(r'\bcollect\("(\w+)"\)', text):
            collected = [m for m in graph.modules if re.fullmatch(rf"{PACKAGE}\.\w+\.{name}", m)]
            assert collected, f"{importer} collects {name}"
            for module in collected:
                graph.add_import(importer=importer, imported=module)
    return graph


def file_of(module: str) -> Path:
    """The file of a module of this repository."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")
