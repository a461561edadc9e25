"""Weights that a study trains itself."""
