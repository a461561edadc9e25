"""atlas: one page on which every head is seen, and its data."""

from os.path import relpath

atlas = Products("atlas")

ATLAS = config["atlas"]
ATLAS_SECTION = {"category": "Atlas"}
# The files of the page, so that an edited view builds it anew.
ATLAS_PAGE_FOLDER = ROOT / "workflow_scripts/atlas/page"
ATLAS_PAGE_FILES = ("*.html", "*.css", "*.js", "LICENSE*")
ATLAS_PAGE = sorted(
    relpath(file) for form in ATLAS_PAGE_FILES for file in ATLAS_PAGE_FOLDER.rglob(form)
)


include: "atlas_maps.smk"


use rule light_step as atlas_data with:
    input:
        # Translators are of the study, and models of their own in the atlas.
        translators=ATLAS_TRANSLATORS,
        cards=expand(rules.model_card.output.model, model=SERVED["atlas"]),
        products=lambda w: [file for path, _, of in MEASURED for file in for_all(path, **of)],
        maps=ATLAS_MAPS,
    output:
        atlas="<results>/atlas.json",
    params:
        **step("atlas/atlas_data.py"),
        study=config["study"],
        seed=config["seed"],
        corpora={chapter: name for chapter, (_, name, _) in READ.items()},
        data=ORIGINS,
        labels=LABELS,
        fewest=config.get("syntax", {}).get("fewest", 1),


use rule light_step as atlas_page with:
    input:
        atlas=rules.atlas_data.output.atlas,
        sources=ATLAS_PAGE,
    output:
        page=reported(
            "<results>/atlas.html", "every head, by every measure", ATLAS_SECTION, "atlas"
        ),
    params:
        **step("atlas/atlas_page.py"),
        megabytes=ATLAS["megabytes"],


PAGES.append(rules.atlas_page.output.page)
