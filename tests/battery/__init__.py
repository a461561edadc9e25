"""Tests of the chapter battery."""
