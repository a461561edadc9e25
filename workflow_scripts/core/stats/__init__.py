"""Metrics, resampling and what head scores mean."""
