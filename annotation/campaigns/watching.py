"""How much is computed while somebody waits, and who hears how far a longer work is.

A design is searched for; how long that takes follows from its places (tuples x size) and from how densely its pairs
meet, which nobody knows beforehand. So a request counts the places first and then the processor time of its search.
"""

from time import thread_time

PLACES_AT_ONCE = 4_000  # written in about half a second: 500 pairs, two 4-tuples a pair
SECONDS_AT_ONCE = 1.0


class TakesLonger(Exception):  # noqa: N818 - not an error: a worker does it
    """The work is larger than what a request does while somebody waits."""


class Watch:
    """Hears how far a design is. This one lets every work go on to its end."""

    def begins(self, places: int) -> None:
        """A design of so many places will be searched for."""

    def searched(self, done: int, total: int) -> None:
        """So many rounds of the search are done (`bws.swapping.Report`)."""

    def writes(self) -> None:
        """The design is about to be written, under the campaign's lock."""

    def written(self, done: int, total: int) -> None:
        """So many tuples are written."""


NOBODY = Watch()


class RequestWatch(Watch):
    """Somebody waits for the answer. Raises TakesLonger where a worker should do the work instead.

    The processor time of this thread counts, so that other programs of the machine do not change what is large.
    """

    def __init__(self) -> None:
        self._began: float | None = None  # the search: what comes before it is quick, or bounded by others

    def begins(self, places: int) -> None:
        if places > PLACES_AT_ONCE:
            raise TakesLonger(f"{places} places are more than a request designs.")

    def searched(self, done: int, total: int) -> None:
        if self._began is None:
            self._began = thread_time()
        elif thread_time() - self._began > SECONDS_AT_ONCE:
            raise TakesLonger(f"The search is not over after {SECONDS_AT_ONCE} seconds.")
