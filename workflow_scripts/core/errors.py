"""The one exception for input that a person has to correct, and other errors on one line."""

from collections.abc import Sized

LONGEST = 1000  # characters of a line that people read; what a file holds may have any length
REASON = 200  # characters of another error's message within such a line


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


def one_line(error: Exception) -> str:
    """The message of an error of any library, on one line, cut to REASON characters."""
    return " ".join(str(error).split())[:REASON] or type(error).__name__


def and_more(things: Sized) -> str:
    """What follows the first of these things where it alone is named: " (and 2 more)", or ""."""
    return f" (and {len(things) - 1} more)" if len(things) > 1 else ""
