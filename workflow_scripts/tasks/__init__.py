"""GLUE tasks, prepared and checked."""
