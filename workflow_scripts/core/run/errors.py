"""The one exception for input that a person has to correct."""

LONGEST = 1000  # characters of a line that people read; what a file holds may have any length


class InputError(Exception):
    """Bad input: one line that names the file, the line where there is one, and the correction.

    Line breaks and control characters, which a file's content may have, are shown as escapes, and
    the middle of a very long line is left out.
    """

    def __init__(self, message: str) -> None:
        shown = (
            letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
            for letter in message
        )
        line = "".join(shown)
        half = LONGEST // 2
        super().__init__(line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}")
