"""Tests of the chapter mixing."""
