"""A plain use of the Trainer, to compare the checkpoints with: `python -m tests.checkpoints.plain`.

Reads the official TSV files in its own way, and shares no code with the workflow.
"""

import csv
import gzip
import io
import sys
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    Trainer,
    TrainingArguments,
    set_seed,
)

COLUMNS = {
    "mrpc": ("#1 String", "#2 String", "Quality"),
    "stsb": ("sentence1", "sentence2", "score"),
    "sst2": ("sentence", None, "label"),
}


def read(path: Path, task: str) -> list[dict]:
    """Rows of a TSV file as first and second text and label."""
    raw = path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
    lines = io.StringIO(raw.decode("utf-8-sig"), newline="")
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    kind = float if task == "stsb" else int
    first, second, label = COLUMNS[task]
    return [
        {"a": r[first], "b": r[second] if second else None, "label": kind(r[label])} for r in rows
    ]


def main(
    model: str, folder: str, task: str, seed: int, n_train: int, out: str, rate: float = 5e-5
) -> dict[str, float]:
    """Fine-tune `model` for three epochs and return the scores on the development set."""
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    outputs = 1 if task == "stsb" else 2
    net = AutoModelForSequenceClassification.from_pretrained(
        model, num_labels=outputs, trust_remote_code=False
    )
    train, dev = (read(Path(folder) / name, task) for name in ("train.tsv", "dev.tsv"))
    if n_train:
        train = [train[k] for k in np.random.default_rng(seed).permutation(len(train))[:n_train]]
    sets = [
        [
            tokenizer(r["a"], r["b"], truncation=True, max_length=128) | {"label": r["label"]}
            for r in rows
        ]
        for rows in (train, dev)
    ]
    arguments = TrainingArguments(
        out,
        num_train_epochs=3,
        per_device_train_batch_size=32,
        learning_rate=rate,
        warmup_steps=0.1,
        weight_decay=0.01,
        seed=seed,
        data_seed=seed,
        eval_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    parts = {"train_dataset": sets[0], "eval_dataset": sets[1]}
    trainer = Trainer(net, arguments, **parts, processing_class=tokenizer)
    trainer.train()
    output = trainer.predict(sets[1])
    if task == "stsb":
        predicted = output.predictions[:, 0]
        measures = {"pearson": pearsonr, "spearman": spearmanr}
        return {
            name: float(m(output.label_ids, predicted).statistic) for name, m in measures.items()
        }
    predicted = output.predictions.argmax(1)
    scores = {"accuracy": accuracy_score(output.label_ids, predicted)}
    return scores | ({"f1": f1_score(output.label_ids, predicted)} if task == "mrpc" else {})


if __name__ == "__main__":
    model, folder, task, seed, n_train, out = sys.argv[1:7]
    print(task, seed, main(model, folder, task, int(seed), int(n_train), out))
