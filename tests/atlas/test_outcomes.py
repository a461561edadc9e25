"""Gold labels and predictions in words, of classes and of scores."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.core.tiny_models import enlarge, tokenizer, write_card
from workflow_scripts.atlas.outcomes import NAMES, gold_labels, predictions
from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.tables import write
from workflow_scripts.core.model.classifiers import new_classifier


@pytest.mark.parametrize("task", TASKS)
def test_labels_have_names(task: str, tmp_path: Path) -> None:
    given = [0.0, 1.0] if TASKS[task].labels else [0.25, 4.8]
    rows = [
        {"split": "dev", "id": f"d{k}", "source": "f", "text1": "a", "text2": "", "label": label}
        for k, label in enumerate(given)
    ]
    write(pd.DataFrame(rows), tmp_path / "table.parquet")
    names = {
        "sst2": ["negative", "positive"],
        "cola": ["unacceptable", "acceptable"],
        "mrpc": ["not a paraphrase", "paraphrase"],
        "qqp": ["not a duplicate", "duplicate"],
        "rte": ["entailment", "not entailment"],
        "qnli": ["entailment", "not entailment"],
        "mnli": ["entailment", "neutral"],
        "stsb": [0.25, 4.8],
    }
    assert list(gold_labels(task, tmp_path / "table.parquet").values()) == names[task]
    assert len(NAMES.get(task, TASKS[task].labels)) == len(TASKS[task].labels)


def test_a_score_has_no_probability(tiny_model_dir: Path, tmp_path: Path) -> None:
    model = enlarge(new_classifier(tiny_model_dir, TASKS["stsb"], "pretrained", 1)).eval()
    model.save_pretrained(tmp_path / "model")
    tokenizer().save_pretrained(tmp_path / "model")
    ids = np.array([2, 7, 8, 3], np.int32)
    example = CachedExample("e", ids, np.array([-1, 0, 1, -1]), np.zeros(4, np.int8), None)
    card = write_card(tmp_path, tmp_path / "model")
    (found,) = predictions("stsb", card, [example], torch.device("cpu"))
    with torch.no_grad():
        score = model(input_ids=torch.tensor(ids[None]).long()).logits.item()
    assert found == {"label": pytest.approx(score, abs=1e-4), "probability": None}
    assert json.loads(json.dumps(found)) == found
