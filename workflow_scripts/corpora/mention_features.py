"""What a mention is: its head word, its kind, and its number, gender and person."""

from collections.abc import Sequence

from workflow_scripts.core.data.mentions import Mention
from workflow_scripts.corpora.brackets import Span
from workflow_scripts.corpora.mention_files import Text

PRONOUN_TAGS = {"PRP", "PRP$", "WP", "WP$", "PRON"}
PROPER_TAGS = {"NNP", "NNPS", "PROPN", "NP", "NPS"}
PLURAL_TAGS = {"NNS", "NNPS", "NPS"}
SINGULAR_TAGS = {"NN", "NNP", "NP"}
# Number, gender and person of pronouns; empty if the form leaves them open.
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


def describe(span: Span, text: Text) -> Mention:
    """The mention of a span: its head word by the trees of `text`, its kind and its features."""
    head = head_of(span, text.heads)
    kind = kind_of(span, text.words[head], text.tags[head])
    if kind == "pronoun":
        number, gender, person = PRONOUNS.get(text.words[head].lower(), ("", "", ""))
    else:
        number, gender, person = _number(span, head, text), _gender(span, text), "3"
    return Mention(
        start=span.start,
        end=span.end,
        head=head,
        chain=span.chain,
        kind=kind,
        number=number,
        gender=gender,
        person=person,
    )


def head_of(span: Span, heads: Sequence[int]) -> int:
    """The head word of a mention: the first whose own head lies outside, if no file names it."""
    if span.head is not None:
        return span.head
    words = range(span.start, span.end)
    return next(word for word in words if heads[word] not in words)


def kind_of(span: Span, head: str, tag: str) -> str:
    """pronoun, proper or nominal, by the head word and its tag."""
    single = span.end - span.start == 1
    if tag in PRONOUN_TAGS or (single and head.lower() in PRONOUNS):
        return "pronoun"
    return "proper" if tag in PROPER_TAGS else "nominal"


def _number(span: Span, head: int, text: Text) -> str:
    conjuncts = [
        word
        for word in range(span.start, span.end)
        if text.heads[word] == head and text.relations[word] == "conj"
    ]
    if conjuncts or text.tags[head] in PLURAL_TAGS:
        return "plural"
    return "singular" if text.tags[head] in SINGULAR_TAGS else ""


def _gender(span: Span, text: Text) -> str:
    """By titles, first names and nouns for people; empty if there is none of them, or both."""
    words = {word.lower() for word in text.words[span.start : span.end]}
    masculine, feminine = bool(words & MASCULINE), bool(words & FEMININE)
    if masculine == feminine:
        return ""
    return "masculine" if masculine else "feminine"
