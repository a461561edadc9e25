"""A tiny random llama in a GGUF file, written tensor by tensor."""

from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

LAYERS, HEADS, WIDTH = 2, 4, 32
WORDS = ["<unk>", "<s>", "</s>", *(chr(code) for code in range(33, 127)), "Ġ", "th", "the", "Ġthe"]
MERGES = ["t h", "th e", "Ġ the"]
# A layer's tensors, by their names in GGUF.
NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ROTATED = ("attn_q", "attn_k")


def save_gguf(
    file: Path,
    quantised: bool = False,
    kv_heads: int = HEADS,
    architecture: str = "llama",
    without: str = "",
    scaling: str = "",
    blocks: int = LAYERS,
    unknown: str = "",
) -> dict[str, torch.Tensor]:
    """Write the file; gives the model's weights as they are read back.

    With `quantised` its matrices are Q8_0. It is written `without` a tensor, and with a type of
    `scaling` of rotations, a declared number of `blocks`, and an `unknown` tensor.
    """
    model = made_up(kv_heads)
    state = model.state_dict()
    writer = gguf.GGUFWriter(str(file), architecture)
    writer.add_name("tiny")
    writer.add_block_count(blocks)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(64)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(WORDS))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(WORDS)
    writer.add_token_types([3, 3, 3] + [1] * (len(WORDS) - 3))
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
    for layer in range(LAYERS):
        parts = NAMES.items()
        names |= {f"blk.{layer}.{ours}": f"model.layers.{layer}.{its}" for ours, its in parts}
    for stored, name in names.items():
        weights = state[f"{name}.weight"].numpy()
        kind = gguf.GGMLQuantizationType.F32
        if quantised and weights.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
        if (part := stored.rpartition(".")[2]) in ROTATED:
            heads = HEADS if part == "attn_q" else kv_heads
            blocks = gguf.quants.quantize(interleaved(weights, heads), kind)
            read = separated(gguf.quants.dequantize(blocks, kind), heads)
        else:
            blocks = gguf.quants.quantize(weights, kind)
            read = gguf.quants.dequantize(blocks, kind)
        state[f"{name}.weight"] = torch.tensor(read)
        if stored != without:
            writer.add_tensor(f"{stored}.weight", blocks, raw_dtype=kind)
    if unknown:
        writer.add_tensor(unknown, np.ones(WIDTH, np.float32))
    if scaling:
        writer.add_string("llama.rope.scaling.type", scaling)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    return state


def made_up(kv_heads: int) -> LlamaForCausalLM:
    """The model, with random weights."""
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=kv_heads,
            hidden_size=WIDTH,
            intermediate_size=64,
            vocab_size=len(WORDS),
            max_position_embeddings=64,
            tie_word_embeddings=True,
        )
    )


def interleaved(weights: np.ndarray, heads: int) -> np.ndarray:
    """Rows as GGUF has them: the two halves of a head's rotated pairs next to each other."""
    rows = weights.shape[0] // heads
    order = [
        head * rows + half * rows // 2 + pair
        for head in range(heads)
        for pair in range(rows // 2)
        for half in range(2)
    ]
    return np.ascontiguousarray(weights[order])


def separated(weights: np.ndarray, heads: int) -> np.ndarray:
    """What `interleaved` was given."""
    order = interleaved(np.arange(len(weights)), heads)
    restored = np.empty_like(weights)
    restored[order] = weights
    return restored
