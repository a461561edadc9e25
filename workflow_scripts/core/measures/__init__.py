"""Measures of heads: how a chapter declares them, and how they are read from its tables."""
