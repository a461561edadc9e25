"""Surface patterns: position, special tokens, entropy, gradient importance (Clark, section 3)."""
