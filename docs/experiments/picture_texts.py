"""The texts that a picture of a page shows, and whether a page still has them: headings, buttons, labels and the like.

`pictures.py` keeps them in docs/guide/pictures/texts.json, and a test compares them with those of templates and code.
Texts with a value in them, and those that somebody typed, such as the name of a dataset, are not kept.
"""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "docs" / "guide" / "pictures" / "texts.json"
PRODUCT = ("annotation", "curation", "mlworkers", "semblance")
IN_TEMPLATE = re.compile(
    r"""(?:\b_\(|translate )(?:"([^"]*)"|'([^']*)')|{%\s*blocktranslate[^%]*%}(.*?){%\s*(?:plural|endblocktranslate)""",
    re.DOTALL,
)
IN_CODE = re.compile(r'"([^"\\\n]+)"')
SHOWN = "h1, h2, h3, h4, button, a.button, nav a, label, legend, summary, th, dt, caption"
# Lines of what shows in the window; a browser runs it on the list of elements.
LINES = """(found) => found
    .filter((one) => one.checkVisibility({visibilityProperty: true}))
    .filter((one) => {
        const {top, bottom, height} = one.getBoundingClientRect();
        return height > 1 && bottom > 0 && top < innerHeight;
    })
    .flatMap((one) => one.innerText.split("\\n"))"""


@cache
def texts_of_pages() -> frozenset[str]:
    """What templates translate, and every text in quotation marks in the code."""
    texts: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        for found in IN_TEMPLATE.findall(path.read_text("utf-8")):
            texts.update(" ".join(each.split()) for each in found)
    for folder in PRODUCT:
        for path in (ROOT / folder).rglob("*.py"):
            texts.update(IN_CODE.findall(path.read_text("utf-8")))
    return frozenset(texts)


def texts_kept(lines: list[str]) -> list[str]:
    """Those of the lines that are texts of a page, once each and sorted. A single letter is a key."""
    return sorted(
        {text for line in lines if len(text := " ".join(line.split())) > 1 and text in texts_of_pages()}
    )
