"""The default study, config.yaml: its model's name and its folder of results."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
_CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
(MODEL,) = _CONFIG["models"]
RESULTS = f"results/{_CONFIG['study']}"
