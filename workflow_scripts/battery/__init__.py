"""battery: roles of a decoder's heads, each with a null and a causal test."""
