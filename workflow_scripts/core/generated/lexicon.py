"""The words of generated facts and stories; those of one group name the same thing.

The order of a list counts: texts are sampled from it by seed.
"""

from dataclasses import dataclass


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
TIMES = [
    ("yesterday",),
    ("last week", "a week ago"),
    ("last year", "a year ago"),
    ("on Monday",),
    ("on Friday",),
    ("in the morning",),
    ("at night", "in the night"),
    ("in spring",),
    ("in winter",),
    ("in the afternoon", "after lunch"),
    ("at noon", "at midday"),
    ("during the war",),
]
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


def _verbs() -> dict[str, Verb]:
    verbs = {}
    for line in _VERBS.strip().split("\n"):
        frame, _, rest = line.partition(": ")
        base, past, participle = _groups(" ".join(rest.split()[:3]))
        verbs[base[0]] = Verb(base, past, participle, rest.split()[3], frame)
    return verbs


VERBS = _verbs()


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
