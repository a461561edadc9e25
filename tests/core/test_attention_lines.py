"""The line drawing of one head."""

import numpy as np
import pandas as pd

from workflow_scripts.core.plots import attention_lines, figures


def panel(tokens: list[str]) -> pd.DataFrame:
    """A head that attends from each token to the first."""
    n = len(tokens)
    rows = [(q, k, tokens[q], tokens[k], float(k == 0)) for q in range(n) for k in range(n)]
    frame = pd.DataFrame(rows, columns=["query", "key", "query_token", "key_token", "weight"])
    return frame.assign(drawing=0, layer=0, head=0, title="first")


def test_a_line_joins_a_query_to_its_key_as_dark_as_its_weight() -> None:
    rows = panel(["a", "b", "c"])
    rows["weight"] = np.where(rows["key"] == 0, 0.75, 0.125)
    with figures.style():
        _, (axes,) = figures.new(2.0, 1.5)
        attention_lines.draw_panel(axes, rows.assign(highlighted=rows["query"] == 1))
    (lines,) = axes.collections
    ends = [(-int(start[1]), -int(end[1])) for start, end in lines.get_segments()]
    assert ends == list(zip(rows["query"], rows["key"], strict=True))
    colours, opacity = lines.get_colors()[:, :3], lines.get_colors()[:, 3]
    np.testing.assert_allclose(opacity, rows["weight"])
    assert (colours[3:6] == colours[3]).all()
    assert not np.allclose(colours[0], colours[3])
