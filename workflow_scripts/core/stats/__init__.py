"""Metrics, intervals, tests, and the scores of heads."""
