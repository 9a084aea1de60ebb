"""Names of items and of people, numbered as a file names them."""

from curation.pairs.text import normalise, unspaced


class NameRegister:
    """Numbers names as they come; texts that differ only in the amount of white space or Unicode form are one name."""

    def __init__(self) -> None:
        self.spellings: list[str] = []  # as first seen
        # By normalised text, and by texts as they are, so that most cells need no normalising.
        self._numbers: dict[str, int] = {}

    def number(self, cell: str) -> int:
        """The number of a name, a new one for a new name."""
        number = self.find(cell)
        if number is None:
            number = self._numbers[normalise(cell)] = self._numbers[cell] = len(self.spellings)
            self.spellings.append(cell.strip())
        return number

    def find(self, cell: str) -> int | None:
        """The number of a name, or None for a name that has no number yet."""
        number = self._numbers.get(cell)
        if number is None and (number := self._numbers.get(normalise(cell))) is not None:
            self._numbers[cell] = number
        return number


class ItemRegister(NameRegister):
    """Also knows which items are the same but for spaces.

    alike: for each item the number of the first item that is the same but for spaces, which may be the item itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.alike: list[int] = []
        self._first: dict[str, int] = {}  # by the text without white space

    def number(self, cell: str) -> int:
        number = super().number(cell)
        if number == len(self.alike):  # a new one
            self.alike.append(self._first.setdefault(unspaced(cell), number))
        return number

    def find_alike(self, cell: str) -> int | None:
        """The first item that is the same but for spaces, or None."""
        return self._first.get(unspaced(cell))
