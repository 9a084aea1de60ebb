"""What people should know about a file of judgements, and what changes how it is read.

The command and the import page say the same. Only what changes the reading has two names: an option of the command, and
a field of the page's form.
"""

from dataclasses import dataclass, replace
from enum import Enum, StrEnum

from curation.files.drafts import FileError


class Field(StrEnum):
    """The labels of the page's fields that messages name; the form takes them from here."""

    ITEMS = "Columns of the items"
    BEST = "Column of the best item"
    WORST = "Column of the worst item"
    ANNOTATOR = "Column of the annotator"
    ITEM = "Column of the item"
    BLOCK = "Column of the block"
    CHOICE = "Column of the choice"
    SPACES = "Item texts that differ only in spaces"
    DUPLICATES = "Also count rows that are marked as duplicates"
    WITHOUT = "Items to leave out"


class SpacesChoice(StrEnum):
    """The labels of the choices of `Field.SPACES`."""

    AUTO = "One item, unless a row holds two of them"
    MERGE = "One item"
    KEEP = "Different items"


class Remedy(Enum):
    """What changes how a file is read, as a sentence for users of the command and one for users of the page."""

    ITEMS = "Name the columns of the items with --items.", f"Choose them under “{Field.ITEMS}”."
    BEST = "Name another with --best.", f"Choose one under “{Field.BEST}”."
    WORST = "Name another with --worst.", f"Choose one under “{Field.WORST}”."
    ANNOTATOR = "Name another with --annotator.", f"Choose another under “{Field.ANNOTATOR}”."
    ITEM = "Name another with --item.", f"Choose one under “{Field.ITEM}”."
    BLOCK = "Name another with --block.", f"Choose one under “{Field.BLOCK}”."
    CHOICE = "Name another with --choice.", f"Choose one under “{Field.CHOICE}”."
    REJECTED = "Use --keep-rejected to count them.", ""
    MERGE_SPACES = (
        "Use --merge-spaces to count them as one item.",
        f"To count them as one item, choose “{SpacesChoice.MERGE}” under “{Field.SPACES}”.",
    )
    KEEP_SPACES = (
        "Use --keep-spaces to count them as different items.",
        f"To count them as different items, choose “{SpacesChoice.KEEP}” under “{Field.SPACES}”.",
    )
    DUPLICATES = (
        "Use --keep-duplicates to count them.",
        f"To count them, choose “{Field.DUPLICATES}”.",
    )
    REPEATS = (
        "In a test–retest design, use --keep-repeats to count them in scores and reliability.",
        "The site stores one judgement of a tuple by each person.",
    )
    WITHOUT = (
        "Use --without to leave these rows out.",
        f"To leave these rows out, write the item under “{Field.WITHOUT}”.",
    )

    @property
    def for_command(self) -> str:
        return self.value[0]

    @property
    def for_page(self) -> str:
        return self.value[1]


@dataclass(frozen=True)
class Notice:
    """fact: a sentence on the file. remedy: what changes it, if anything does."""

    fact: str
    remedy: Remedy | None = None

    @property
    def for_command(self) -> str:
        return f"{self.fact} {self.remedy.for_command}" if self.remedy else self.fact

    @property
    def for_page(self) -> str:
        return f"{self.fact} {self.remedy.for_page}".strip() if self.remedy else self.fact

    def of_file(self, name: str) -> "Notice":
        return replace(self, fact=f"{name}: {self.fact}")


class ReadingError(FileError):
    """The file cannot be used as it is read; the text is for the command."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice.for_command)
        self.notice = notice

    @property
    def for_page(self) -> str:
        return self.notice.for_page
