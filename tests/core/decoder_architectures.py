"""Small configurations of causal architectures: those that open, and those that are refused."""

from typing import Any

from transformers import AutoConfig, PretrainedConfig

LAYERS, HEADS, KV_HEADS, WINDOW, POSITIONS, WORDS = 3, 4, 2, 4, 64, 48
SLIDING = "sliding_attention"

_SIZES: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": 32,
    "intermediate_size": 48,
    "vocab_size": WORDS,
    "max_position_embeddings": POSITIONS,
    "pad_token_id": None,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_GROUPS = _SIZES | {"num_key_value_heads": KV_HEADS}
_HEAD = _GROUPS | {"head_dim": 8}
_HYBRID = {"layer_types": [SLIDING, "full_attention", SLIDING], "sliding_window": WINDOW}
_GPT2 = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": 32, "n_positions": POSITIONS}
_GPT2 |= {"vocab_size": WORDS, "bos_token_id": 1, "eos_token_id": 2}
_OPT = {key: value for key, value in _SIZES.items() if key not in ("intermediate_size",)}
_EXPERTS = {"num_experts_per_tok": 1}
_LATENT = {"q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4}
_LATENT |= {"v_head_dim": 6, "n_routed_experts": 2, "n_shared_experts": 1, "n_group": 1}
_LATENT |= {"topk_group": 1, "moe_intermediate_size": 16, "first_k_dense_replace": 1}
_GPT_NEO = {key: value for key, value in _SIZES.items() if not key.startswith("num")}
_GPT_NEO |= {"num_layers": LAYERS, "num_heads": HEADS, "window_size": WINDOW}
_GPT_NEO |= {"attention_types": [[["local"], 1], [["global"], 1], [["local"], 1]]}
_BLOOM = {"n_layer": LAYERS, "n_head": HEADS, "hidden_size": 32, "vocab_size": WORDS}
_FALCON = {key: value for key, value in _SIZES.items() if key != "intermediate_size"}
_MPT = {"n_layers": LAYERS, "n_heads": HEADS, "d_model": 32, "max_seq_len": POSITIONS}
_MPT |= {"vocab_size": WORDS}

# Each by its type in the library, and what sets it apart from others of that type.
_KEYS: dict[str, dict[str, Any]] = {
    "gpt2": _GPT2,
    "gpt2-scaled-by-layer": _GPT2
    | {"scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True},
    "gpt_neox": _SIZES,
    "opt": _OPT | {"pad_token_id": 1, "ffn_dim": 48, "word_embed_proj_dim": 32},
    "llama": _SIZES,
    "llama-groups": _GROUPS,
    "llama-one-group": _SIZES | {"num_key_value_heads": 1},
    "mistral": _GROUPS | {"sliding_window": WINDOW},
    "qwen2": _GROUPS,
    "qwen2-hybrid": _GROUPS | _HYBRID | {"use_sliding_window": True},
    "qwen3": _HEAD,
    "qwen3-hybrid": _HEAD | _HYBRID | {"use_sliding_window": True},
    "gemma": _HEAD,
    "gemma2": _HEAD | _HYBRID | {"attn_logit_softcapping": 1.5},
    "gemma3_text": _HEAD | _HYBRID,
    "phi3": _GROUPS | {"sliding_window": WINDOW},
    "smollm3": _GROUPS | _HYBRID | {"use_sliding_window": True},
    "olmo2": _GROUPS,
    "gpt_oss": _HEAD | _HYBRID | _EXPERTS | {"num_local_experts": 2},
    "stablelm": _GROUPS,
    "granite": _GROUPS | {"attention_multiplier": 0.3},
    "mixtral": _GROUPS | _EXPERTS | {"num_local_experts": 2},
    "nemotron": _GROUPS,
    "deepseek_v3": _SIZES | _EXPERTS | _LATENT | {"num_key_value_heads": HEADS},
    # Those that `adapters` opens.
    "gpt_neo": _GPT_NEO,
    "bloom": _BLOOM,
    "falcon": _FALCON,
    "falcon-groups": _FALCON | {"num_kv_heads": KV_HEADS, "new_decoder_architecture": True},
    "falcon-alibi": _FALCON | {"alibi": True, "multi_query": False, "parallel_attn": False},
    "mpt": _MPT,
    "mpt-clipped": _MPT | {"attn_config": {"clip_qkv": 0.5, "softmax_scale": 0.3}},
}
OPENED: dict[str, PretrainedConfig] = {
    name: AutoConfig.for_model(name.partition("-")[0], **keys) for name, keys in _KEYS.items()
}
# The layers in which a window shorter than the texts hides earlier tokens.
WINDOWED = {name: [0, 2] for name, config in OPENED.items() if SLIDING in str(config.to_dict())}
WINDOWED |= {"mistral": [0, 1, 2], "phi3": [0, 1, 2], "gpt_neo": [0, 2]}

REFUSED: dict[str, tuple[PretrainedConfig, str]] = {
    "jamba": (
        AutoConfig.for_model(
            "jamba",
            **_GROUPS | _EXPERTS | {"num_hidden_layers": 2},
            attn_layer_period=2,
            attn_layer_offset=1,
            num_experts=2,
            use_mamba_kernels=False,
            mamba_d_state=4,
            mamba_dt_rank=4,
        ),
        "1 of 2 layers",
    ),
}
for _config, _ in REFUSED.values():
    _config.vocab_size = WORDS
