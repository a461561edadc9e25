"""The one exception for input that a person has to correct."""


class InputError(Exception):
    """Bad input: one line that names the file, the line where there is one, and the correction."""
