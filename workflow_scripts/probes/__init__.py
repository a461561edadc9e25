"""Parsers that read attention, and what they are compared with (Clark et al. 2019, section 5)."""
