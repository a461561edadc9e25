"""Dependency parsers that read attention, and their baselines (Clark et al. 2019, section 5)."""
