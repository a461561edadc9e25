"""Heads that link a predicate to its frame elements (Kovaleva et al. 2019, section 4.2)."""
