"""Every mode of the engine has its words in the atlas."""

from workflow_scripts.ablation import measures
from workflow_scripts.core.model import ablation_engine


def test_the_atlas_has_words_for_every_mode() -> None:
    assert measures.MODES.keys() == set(ablation_engine.MODES)
