"""What a mention is: its head word, its kind, and its number, gender and person."""

from collections.abc import Sequence

from workflow_scripts.core.data.mentions import Mention
from workflow_scripts.corpora.mention_files import Span

PRONOUN_TAGS = {"PRP", "PRP$", "WP", "WP$", "PRON"}
PROPER_TAGS = {"NNP", "NNPS", "PROPN", "NP", "NPS"}
PLURAL_TAGS = {"NNS", "NNPS", "NPS"}
SINGULAR_TAGS = {"NN", "NNP", "NP"}
# Number, gender and person of pronouns; empty where the form does not tell.
PRONOUNS = {
    form: features
    for forms, features in (
        ("i me my mine myself", ("singular", "", "1")),
        ("we us our ours ourselves", ("plural", "", "1")),
        ("yourself", ("singular", "", "2")),
        ("yourselves", ("plural", "", "2")),
        ("you your yours thou thee thy thine", ("", "", "2")),
        ("he him his himself", ("singular", "masculine", "3")),
        ("she her hers herself", ("singular", "feminine", "3")),
        ("it its itself", ("singular", "neuter", "3")),
        ("this that", ("singular", "neuter", "3")),
        ("they them their theirs themselves these those", ("plural", "", "3")),
        ("who whom whose which", ("", "", "3")),
    )
    for form in forms.split()
}
MASCULINE = set(
    "man men boy boys father son brother uncle husband king prince gentleman gentlemen lord sir "
    "mr mr. grandfather nephew widower monk priest actor waiter duke emperor james john robert "
    "michael william david richard joseph thomas charles george edward henry paul daniel peter "
    "simon walter"
    .split()
)  # fmt: skip
FEMININE = set(
    "woman women girl girls mother daughter sister aunt wife queen princess lady ladies madam "
    "mrs mrs. miss ms ms. grandmother niece widow nun actress waitress duchess empress mary "
    "elizabeth anne anna jane emma sarah margaret susan helen alice catherine julia laura "
    "claire martha"
    .split()
)  # fmt: skip


def head_of(span: Span, heads: Sequence[int]) -> int:
    """The word of a mention that its other words hang on: the first whose head lies outside."""
    if span.head is not None:
        return span.head
    for word in range(span.start, span.end):
        if not span.start <= heads[word] < span.end:
            return word
    return span.end - 1  # a circle of heads, which no tree has


def kind_of(span: Span, head: int, words: Sequence[str], tags: Sequence[str]) -> str:
    """pronoun, proper or nominal, by the tag of the head word."""
    alone = span.end - span.start == 1
    if tags[head] in PRONOUN_TAGS or (alone and words[head].lower() in PRONOUNS):
        return "pronoun"
    return "proper" if tags[head] in PROPER_TAGS else "nominal"


def describe(
    span: Span,
    words: Sequence[str],
    tags: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str],
) -> Mention:
    """The mention of a span; `heads`, `tags` and `relations` are the document's."""
    head = head_of(span, heads)
    kind = kind_of(span, head, words, tags)
    if kind == "pronoun":
        features = PRONOUNS.get(words[head].lower(), ("", "", ""))
    else:
        features = (_number(span, head, tags, heads, relations), _gender(span, words), "3")
    return Mention(span.start, span.end, head, span.chain, kind, *features)


def _number(
    span: Span, head: int, tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> str:
    joined = any(heads[k] == head and relations[k] == "conj" for k in range(span.start, span.end))
    if joined or tags[head] in PLURAL_TAGS:
        return "plural"
    return "singular" if tags[head] in SINGULAR_TAGS else ""


def _gender(span: Span, words: Sequence[str]) -> str:
    """By titles, first names and nouns for people; empty where none of them occurs."""
    inside = {words[k].lower() for k in range(span.start, span.end)}
    masculine, feminine = bool(inside & MASCULINE), bool(inside & FEMININE)
    if masculine == feminine:
        return ""
    return "masculine" if masculine else "feminine"
