"""The words of generated facts and stories, and facts as sentences and questions.

Words of one group name the same thing. The order of a list counts: texts are sampled from it by
seed.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Verb:
    """A verb with its synonyms, form by form, its opposite and the frame that it evokes."""

    base: tuple[str, ...]
    past: tuple[str, ...]
    participle: tuple[str, ...]
    opposite: str
    frame: str


@dataclass(frozen=True)
class Domain:
    """What facts of one field are about."""

    people: tuple[tuple[str, ...], ...]
    things: tuple[tuple[str, ...], ...]
    places: tuple[str, ...]


def _groups(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(word.replace("_", " ") for word in group.split("/")) for group in text.split()
    )


TOWN = Domain(
    _groups(
        "doctor/physician teacher/instructor lawyer/attorney painter/artist sailor/seaman "
        "singer/vocalist guard/watchman merchant/trader writer/author soldier/fighter baker/cook "
        "thief/robber mayor/governor boy/lad girl/lass priest/clergyman tailor/dressmaker "
        "actor/performer butcher carpenter/joiner mother/mum father/dad grandmother/granny "
        "policeman/officer neighbour student/pupil visitor/guest tourist/traveller child/kid "
        "driver/chauffeur waiter nurse librarian shopkeeper/salesman gardener cleaner dancer "
        "musician/player banker/financier beggar prince queen clerk/secretary"
    ),
    _groups(
        "boat/vessel car/automobile letter/message picture/painting ring/jewel book/novel "
        "lamp/lantern coat/jacket clock/timepiece box/case map/chart violin/fiddle bicycle/bike "
        "knife/blade table/desk chair/seat bottle/flask cup/mug shirt/blouse shoe/boot hat/cap "
        "bag/sack key basket mirror/looking_glass carpet/rug window door/gate fence/wall "
        "statue/sculpture camera piano toy/doll coin/penny necklace/chain newspaper/journal "
        "umbrella blanket/quilt candle pot/pan sofa/couch suitcase/trunk wallet/purse bell flag"
    ),
    tuple(
        "harbour station market garden bridge church library hospital school museum hotel castle "
        "theatre factory kitchen park palace prison bakery square".split()
    ),
)
LABORATORY = Domain(
    _groups(
        "scientist/researcher engineer/technician professor/lecturer chemist biologist/naturalist "
        "astronomer inventor/designer programmer/developer mechanic/repairman pilot/aviator "
        "analyst expert/specialist inspector/examiner assistant/helper director/manager"
    ),
    _groups(
        "computer/machine telescope engine/motor microscope robot/android battery sample/specimen "
        "rocket/missile sensor/detector satellite aircraft/plane cable/wire program/software "
        "instrument/device turbine laser printer report/document"
    ),
    tuple("laboratory observatory workshop airport hangar campus clinic basement archive".split()),
)
ALL = (TOWN, LABORATORY)
AGES = "young old tall famous quiet strange elderly honest careful tired cheerful poor rich".split()
LOOKS = "small heavy beautiful expensive wooden red empty black white antique shiny dusty".split()
TIMES = _groups(
    "yesterday last_week/a_week_ago last_year/a_year_ago on_Monday on_Friday in_the_morning "
    "at_night/in_the_night in_spring in_winter in_the_afternoon/after_lunch at_noon/at_midday "
    "during_the_war"
)
ADVERBS = "quietly quickly finally secretly carefully probably suddenly happily slowly".split()

# A line holds: frame: base/synonyms past/synonyms participle/synonyms opposite
_VERBS = """
Repairing: repair/fix/mend repaired/fixed/mended repaired/fixed/mended break
Damaging: break/smash/destroy broke/smashed/destroyed broken/smashed/destroyed repair
Locating: find/discover found/discovered found/discovered lose
Losing: lose/misplace lost/misplaced lost/misplaced find
Buying: buy/purchase bought/purchased bought/purchased sell
Selling: sell sold sold buy
Hiding: hide/conceal hid/concealed hidden/concealed show
Showing: show/display/exhibit showed/displayed/exhibited shown/displayed/exhibited hide
Emptying: clean/wash cleaned/washed cleaned/washed soil
Soiling: soil/dirty soiled/dirtied soiled/dirtied clean
Noticing: notice/spot noticed/spotted noticed/spotted ignore
Ignoring: ignore/neglect/overlook ignored/neglected/overlooked ignored/neglected/overlooked notice
Judging: admire/praise admired/praised admired/praised despise
Contempt: despise/hate/loathe despised/hated/loathed despised/hated/loathed admire
Lifting: lift/raise lifted/raised lifted/raised drop
Dropping: drop dropped dropped lift
Keeping: keep/retain kept/retained kept/retained discard
Removing: discard/throw_away discarded/threw_away discarded/thrown_away keep
Sending: send/ship/mail sent/shipped/mailed sent/shipped/mailed receive
Receiving: receive received received send
Borrowing: borrow borrowed borrowed return
Returning: return/bring_back returned/brought_back returned/brought_back borrow
Theft: steal stole stolen return
Opening: open opened opened close
Closing: close/shut closed/shut closed/shut open
Building: build/construct built/constructed built/constructed demolish
Demolishing: demolish/tear_down demolished/tore_down demolished/torn_down build
Scrutiny: examine/inspect/study examined/inspected/studied examined/inspected/studied ignore
"""


def _verb(line: str) -> Verb:
    frame, _, rest = line.partition(": ")
    *forms, opposite = rest.split()
    return Verb(*_groups(" ".join(forms)), opposite, frame)


VERBS = {verb.base[0]: verb for verb in map(_verb, _VERBS.strip().split("\n"))}


# Stories: two people with names and roles, sometimes a group, and things.
NAMES = {
    "masculine": "Peter Simon Walter Martin Oliver Thomas Robert Daniel Henry George Paul Edward "
    "Victor Samuel Hugo Felix Arthur Oscar Leon Philip".split(),
    "feminine": "Anna Clara Julia Martha Helen Emma Laura Alice Sarah Nora Ruth Irene Rosa Edith "
    "Susan Maria Ellen Vera Grace Judith".split(),
}
SURNAMES = (
    "Keller Brandt Moore Fischer Novak Larsen Rossi Ward Hughes Marsh Cole Weber Quinn Baker Holt "
    "Dunn Frost Lang Price Stone Wells Hart Nolan Reid".split()
)
TITLES = {"masculine": "Mr.", "feminine": "Mrs."}
# Subject, object and possessive forms.
PRONOUNS = {
    "masculine": ("he", "him", "his"),
    "feminine": ("she", "her", "her"),
    "neuter": ("it", "it", "its"),
    "plural": ("they", "them", "their"),
}


def _named(nouns: str, *lists: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """The groups that start with `nouns`; where lists share a noun, that of the last list."""
    groups = {group[0]: group for groups in lists for group in groups}
    return tuple(groups[noun] for noun in nouns.split())


STORY_PEOPLE = _named(
    "doctor teacher lawyer painter sailor singer guard merchant writer soldier baker farmer "
    "scientist reporter pilot thief",
    TOWN.people,
    LABORATORY.people,
    _groups("farmer/grower reporter/journalist"),
)
STORY_GROUPS = _groups(
    "children/kids tourists/visitors students/pupils neighbours/locals workers/labourers"
)
STORY_THINGS = _named(
    "boat car letter picture ring book lamp coat clock box map violin bicycle knife",
    TOWN.things,
    _groups("car/vehicle coat/garment violin/instrument"),
)
STORY_AGES = "young old tall famous quiet kind strange elderly honest careful".split()
STORY_LOOKS = "old small heavy broken beautiful expensive strange wooden red empty".split()
STORY_PLACES = (
    "harbour station market garden bridge church library hospital school museum hotel river "
    "castle theatre factory".split()
)
# What people of stories do, in the past tense; HANDLED are participles.
_HANDLE = "find repair lose clean hide sell notice examine".split()
HANDLE = [*(VERBS[verb].past[0] for verb in [*_HANDLE, "drop", "borrow"]), "painted"]
HANDLED = [VERBS[verb].participle[0] for verb in [*_HANDLE, "steal", "buy"]]
MEET = "met saw greeted thanked helped called visited followed remembered watched".split()
GIVE = "gave showed offered sold lent brought handed sent".split()
SAY = "said thought explained believed claimed admitted".split()
LIKE = "liked wanted needed knew hated loved remembered".split()
GO = "waited slept stood stayed lived worked sat rested".split()


ROLES = ("agent", "verb", "theme", "place", "time")
DID = ("did not", "didn't")  # a base form follows
Pieces = list[tuple[str, str]]  # words, and the role that they fill or ""


@dataclass(frozen=True)
class Fact:
    """Somebody did something to a thing, somewhere, at some time; or did not (`negated`)."""

    agent: tuple[str, ...]
    age: str
    verb: Verb
    theme: tuple[str, ...]
    look: str
    place: str
    time: tuple[str, ...]
    negated: bool = False


def new_fact(rng: random.Random, domains: Sequence[Domain] = ALL, negated: float = 0.0) -> Fact:
    """A random fact of one of the domains, negated with the given probability."""
    domain = rng.choices(domains, weights=[len(domain.things) for domain in domains])[0]
    return Fact(
        agent=rng.choice(domain.people),
        age=rng.choice(AGES),
        verb=rng.choice(list(VERBS.values())),
        theme=rng.choice(domain.things),
        look=rng.choice(LOOKS),
        place=rng.choice(domain.places),
        time=rng.choice(TIMES),
        negated=rng.random() < negated,
    )


def changed(fact: Fact, role: str, rng: random.Random, domains: Sequence[Domain] = ALL) -> Fact:
    """The fact with another filler of one role."""
    while True:
        filler = getattr(new_fact(rng, domains), role)
        if filler != getattr(fact, role):
            return replace(fact, **{role: filler})


def opposite(fact: Fact) -> Fact:
    """The fact with the verb that undoes it."""
    return replace(fact, verb=VERBS[fact.verb.opposite])


def phrase_of(fact: Fact, role: str, rng: random.Random, with_adjective: bool) -> Pieces:
    """The phrase of the agent or theme."""
    group, adjective = {"agent": (fact.agent, fact.age), "theme": (fact.theme, fact.look)}[role]
    noun = rng.choice(group)
    return [(f"the {adjective} {noun}" if with_adjective else f"the {noun}", role)]


def sentence(
    fact: Fact,
    rng: random.Random,
    details: Sequence[str] = ("place", "time"),
    adjectives: bool = True,
) -> str:
    """The fact as a sentence, in one of several forms; `details` names the circumstances."""
    return to_text(_form(rng, details)(fact, rng, details, adjectives))


def active(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """The old doctor repaired the boat near the harbour last week."""
    return [
        *phrase_of(fact, "agent", rng, adjectives),
        *_predicate(fact, rng),
        *phrase_of(fact, "theme", rng, adjectives),
        *circumstances(fact, rng, details),
    ]


def passive(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """The boat was repaired by the old doctor near the harbour last week."""
    return [
        *phrase_of(fact, "theme", rng, adjectives),
        ("was", ""),
        *[("not", "")] * fact.negated,
        (rng.choice(fact.verb.participle), "verb"),
        ("by", ""),
        *phrase_of(fact, "agent", rng, adjectives),
        *circumstances(fact, rng, details),
    ]


def fronted(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """Last week the old doctor repaired the boat near the harbour."""
    rest = [role for role in details if role != "time"]
    return [(rng.choice(fact.time), "time"), *active(fact, rng, rest, adjectives)]


def unacceptable(fact: Fact, rng: random.Random, details: Sequence[str]) -> str:
    """The fact as a sentence with one mistake, in an article or the verb.

    An article stands behind its noun or, of the theme, is left out ("Mother" needs none); or the
    verb is a base form where it must not be, or past after "did not".
    """
    pieces = _form(rng, details)(fact, rng, details, True)
    role = rng.choice(["agent", "theme", "verb"])
    index = [filled for _, filled in pieces].index(role)
    words, before = pieces[index][0], pieces[index - 1][0]
    if role == "verb":
        wrong = fact.verb.past[0] if before in DID else fact.verb.base[0]
    else:
        bare = words.removeprefix("the ")
        wrong = rng.choice([f"{bare} the", bare if role == "theme" else f"{bare} the"])
    return to_text([*pieces[:index], (wrong, role), *pieces[index + 1 :]])


ASKED = {
    "theme": ["what", "which thing"],
    "place": ["where", "in what place"],
    "time": ["when", "at what time"],
}


def question(fact: Fact, role: str, rng: random.Random) -> str:
    """A question about one role of the fact: who, what, where or when."""
    base, past = rng.choice(fact.verb.base), rng.choice(fact.verb.past)
    agent, theme = phrase_of(fact, "agent", rng, False), phrase_of(fact, "theme", rng, False)
    if role == "agent":
        who = rng.choice(["who", "which person"])
        if rng.random() < 0.5:
            pieces = [("by whom was", ""), *theme, (rng.choice(fact.verb.participle), "")]
        else:
            pieces = [(who, ""), (past, ""), *theme]
    else:
        pieces = [(rng.choice(ASKED[role]), ""), ("did", ""), *agent, (base, "")]
        pieces += theme if role != "theme" else []
    return to_text(pieces)[:-1] + "?"


def linked(fact: Fact, rng: random.Random) -> Pieces:
    """The fact as pieces, with its agent and theme at least three words from the verb."""
    agent, theme = phrase_of(fact, "agent", rng, False), phrase_of(fact, "theme", rng, False)
    adverb, time = (rng.choice(ADVERBS), ""), (rng.choice(fact.time), "")
    verb = [adverb, (rng.choice(fact.verb.participle), "verb")]
    be, had = ("was", ""), ("had", "")
    forms = [
        [*theme, be, *verb, time, ("by", ""), *agent],
        [("it was", ""), *theme, ("that", ""), *agent, had, *verb],
        [("what", ""), *agent, had, *verb, be, ("really", ""), *theme],
        [*theme, ("that", ""), *agent, had, *verb, be, ("gone", "")],
    ]
    return rng.choice(forms)


def circumstances(fact: Fact, rng: random.Random, details: Sequence[str]) -> Pieces:
    """The phrases of place and time that are among the details."""
    pieces = []
    if "place" in details:
        pieces.append((f"{rng.choice(['in', 'at'])} the {fact.place}", "place"))
    if "time" in details:
        pieces.append((rng.choice(fact.time), "time"))
    return pieces


def to_text(pieces: Pieces) -> str:
    """The pieces as a sentence: a capital at the start, a full stop at the end."""
    text = " ".join(words for words, _ in pieces)
    return text[0].upper() + text[1:] + "."


def _form(rng: random.Random, details: Sequence[str]) -> Callable[..., Pieces]:
    return rng.choice([active, passive, fronted if "time" in details else active])


def _predicate(fact: Fact, rng: random.Random) -> Pieces:
    if not fact.negated:
        return [(rng.choice(fact.verb.past), "verb")]
    base = (rng.choice(fact.verb.base), "verb")
    forms = [[(did, ""), base] for did in DID]
    return rng.choice([*forms, [("never", ""), (fact.verb.past[0], "verb")]])
