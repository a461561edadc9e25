"""Tests of the chapter context."""
