"""Head importance, iterative pruning, and heads removed for good (Michel et al., 4 to 6)."""
