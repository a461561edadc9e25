"""JSON and scripts that stand in a page of one file."""

import base64
import hashlib
import json
from typing import Any

# json.dumps leaves ASCII; these characters could end a script element or begin a comment.
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_script(data: Any) -> str:
    """JSON in ASCII that cannot end the script element it stands in, whatever the texts state."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSAFE)


def digest(script: str) -> str:
    """The SHA-256 by which a content policy allows a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
