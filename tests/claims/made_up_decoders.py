"""Made-up tables that the claims on decoders are judged by."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tests.claims.made_up import products

LAYERS, HEADS, SHARED = 4, 6, 2  # heads that share keys and values


def write(folder: Path, random: np.random.Generator) -> None:
    """Write the tables of a decoder of LAYERS x HEADS heads below the folder."""

    def ends(name: str, least: float, most: float, of: str = "ci") -> dict[str, float]:
        low, value, high = np.sort(random.uniform(least, most, 3))
        return {name: value, f"{of}_low": low, f"{of}_high": high}

    places = [{"layer": layer, "head": head} for layer in range(LAYERS) for head in range(HEADS)]
    roles = [
        place | {"role": role, "n": 20, "has_role": found, "confirmed": found and k % 3 == 0}
        | ends("score", 0, 1)
        for role in ("induction", "previous")
        for k, place in enumerate(places)
        for found in [bool(random.random() < 0.4)]
    ]  # fmt: skip
    copying = [
        place | {"role": "copying", "n": 20, "has_role": bool(random.random() < 0.5)}
        | {"top": 0.5, "logit": 1.0}
        for place in places
    ]  # fmt: skip
    retrieval = [
        place | {"role": "retrieval", "n": 20, "has_role": True, "others": random.uniform(0, 0.15)}
        | {"p_corrected": random.choice([0.01, 0.5])} | ends("score", 0, 0.3)
        for place in places
    ]  # fmt: skip
    causal = [
        {"role": "induction", "mode": mode, "chosen": chosen, "text": text, "n": 20, "n_heads": 8}
        | {"intact": 3.3, "loss": 12.0, "random": 4.0, "random_max": 6.0, "n_samples": 20}
        | {"note": "", "p": 1 / 21} | ends("margin", -2, 8, "margin")
        for mode, chosen, text in product(
            ("zero", "mean"), ("all", "strongest 8"), ("first copy", "second copy")
        )
    ]  # fmt: skip
    n = LAYERS * HEADS
    correlations = [
        {"of": of, "with": "copying", "n": n, "n_groups": n // SHARED} | ends("rho", -1, 1)
        for of in ("induction", "eigenvalue")
    ]
    first = [
        {"first": token, "measure": name, "n": 50, "n_documents": 30, "threshold": 0.3}
        | ends("value", 0, 1)
        for token in ("text", "random")
        for name in ("sinks", "attention", "by_norm")
    ]
    about: dict[str, Any] = {"task": "text", "n": 24, "n_documents": 19, "n_heads": n}
    modes = [
        about | {"of": of, "one": "zero", "other": other, "halves_one": 0.5, "halves_other": 0.4}
        | {"both_nominal": 40, "opposite_nominal": 3} | ends("rho", 0, 1, "rho")
        for of in ("loss", "score")
        for other in ("resample", "mean")
    ]  # fmt: skip
    verdicts = ("in all modes", "depends on the mode", "no effect shown", "in some modes")
    by_mode = [
        {"task": "text", "of": "loss", "verdict": verdicts[k % 4]} | place
        | {"low_zero": random.uniform(-0.1, 0.1), "high_zero": 0.3}
        | {"low_resample": 0.1, "high_resample": 0.2}
        for k, place in enumerate(places)
    ]  # fmt: skip
    attribution = [
        about | {"estimate": estimate, "against": against, "first": 8, "top": 4}
        | ends("rho", -0.2, 1, "rho") | ends("top_missed", 0, 4, "top_missed")
        for estimate in ("zero", "resample", "importance")
        for against in ("effect", "size")
    ]  # fmt: skip
    share = [
        [{"layer": 0, "head": k, "target": "first", "n": 300} | ends("attention", 0, 1)
         for k in range(HEADS)]
        for _ in range(2)
    ]  # fmt: skip
    mixed = [{"method": "residual", "layer": at, "n": 90} | ends("ratio", 0, 90)
             for at in ("1", "all")]  # fmt: skip
    zeroed = [{"measure": of, "layer": "all", "n": 50} | ends("value", 0, 1)
              for of in ("top_weights", "top_norms")]  # fmt: skip
    products(
        folder,
        battery__roles=roles,
        battery__copying=copying,
        battery__retrieval=retrieval,
        battery_causal=causal,
        battery_correlations=correlations,
        battery_sinks=first,
        next_token_modes=modes,
        next_token_mode_heads=by_mode,
        next_token_attribution=attribution,
        surface__special_tokens=share[0],
        mixing__special_tokens=share[1],
        kobayashi2021_mixing=mixed,
        mohebbi2023_zeroing=zeroed,
    )
