"""The one exception for input that a person has to mend."""


class InputError(Exception):
    """Bad input: one line that names the file, the line where there is one, and the mend."""
