"""Every figure of a study is legible in print."""

from tests.core.figure_checks import too_small, width_of
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.core.plots.figures import TWO_COLUMNS


def test_every_figure_is_legible_at_its_printed_width(tiny_study: TinyStudy) -> None:
    figures = sorted(tiny_study.folder.glob("results/**/figures/*.svg"))
    assert len(figures) > 20
    assert {path.name: too_small(path) for path in figures if too_small(path)} == {}
    assert [path.name for path in figures if width_of(path) > TWO_COLUMNS + 0.01] == []
