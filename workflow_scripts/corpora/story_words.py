"""The words of the generated stories."""

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
# Nouns of one line stand for the same person, group or thing.
ROLES = [
    ("doctor", "physician"),
    ("teacher", "instructor"),
    ("lawyer", "attorney"),
    ("painter", "artist"),
    ("sailor", "seaman"),
    ("singer", "vocalist"),
    ("guard", "watchman"),
    ("merchant", "trader"),
    ("writer", "author"),
    ("soldier", "fighter"),
    ("baker", "cook"),
    ("farmer", "grower"),
    ("scientist", "researcher"),
    ("reporter", "journalist"),
    ("pilot", "aviator"),
    ("thief", "robber"),
]
GROUPS = [
    ("children", "kids"),
    ("tourists", "visitors"),
    ("students", "pupils"),
    ("neighbours", "locals"),
    ("workers", "labourers"),
]
THINGS = [
    ("boat", "vessel"),
    ("car", "vehicle"),
    ("letter", "message"),
    ("picture", "painting"),
    ("ring", "jewel"),
    ("book", "novel"),
    ("lamp", "lantern"),
    ("coat", "garment"),
    ("clock", "timepiece"),
    ("box", "case"),
    ("map", "chart"),
    ("violin", "instrument"),
    ("bicycle", "bike"),
    ("knife", "blade"),
]
AGES = "young old tall famous quiet kind strange elderly honest careful".split()
LOOKS = "old small heavy broken beautiful expensive strange wooden red empty".split()
PLACES = (
    "harbour station market garden bridge church library hospital school museum hotel river "
    "castle theatre factory".split()
)
# Subject, object and possessive forms.
PRONOUNS = {
    "masculine": ("he", "him", "his"),
    "feminine": ("she", "her", "her"),
    "neuter": ("it", "it", "its"),
    "plural": ("they", "them", "their"),
}
HANDLE = "found repaired lost cleaned hid sold noticed examined dropped borrowed painted".split()
HANDLED = "found repaired lost cleaned hidden sold noticed examined stolen bought".split()
MEET = "met saw greeted thanked helped called visited followed remembered watched".split()
GIVE = "gave showed offered sold lent brought handed sent".split()
SAY = "said thought explained believed claimed admitted".split()
LIKE = "liked wanted needed knew hated loved remembered".split()
GO = "waited slept stood stayed lived worked sat rested".split()
