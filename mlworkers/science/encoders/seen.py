"""What an encoder has seen: the sentences that it, and the models behind it, were trained on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.pairs.holding_out import HeldOut
from curation.pairs.leaks import Leaks
from mlworkers.plans.fields import SettingError, SettingName

UNSEEN, ALL = "unseen pairs", "all pairs"  # parts of a test


class LeakError(SettingError):
    """Test pairs hold sentences that were trained on. One sentence."""


@dataclass(frozen=True)
class Seen:
    """sets: sentences that are known to have been seen, near copies included. known: whether anything is known at all;
    a model may be known to have seen nothing. unknown: names of models that do not say what they were trained on.
    splits: the datasets and splits of which pairs were trained on here.
    """

    sets: tuple[HeldOut, ...] = ()
    known: bool = False
    unknown: tuple[str, ...] = ()
    splits: frozenset[tuple[str, str]] = frozenset()

    def __contains__(self, text: object) -> bool:
        # By keys: near copies count as seen.
        return isinstance(text, str) and any(text in one for one in self.sets)

    def __or__(self, other: "Seen") -> "Seen":
        return Seen(
            self.sets + other.sets,
            self.known or other.known,  # something is known of one of them; what is not is in `unknown`
            tuple(dict.fromkeys(self.unknown + other.unknown)),
            self.splits | other.splits,
        )

    def __len__(self) -> int:
        """How many sentences are known to have been seen; one of two sets may count twice."""
        return sum(map(len, self.sets))

    def pairs_unseen(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.bool_]:
        """Which pairs hold no sentence that was seen, (n,)."""
        sides: Iterable[tuple[str, str]] = zip(first, second, strict=True)
        return np.array([one not in self and other not in self for one, other in sides], dtype=bool)

    def other_split(self, dataset: str, tested: str) -> str | None:
        """A split of the dataset, other than the tested one, that was trained on; None where there is none."""
        # Splits of this dataset that were trained on.
        trained = {split for slug, split in self.splits if slug == dataset and split}
        return min(trained - {tested}, default=None) if tested else None


NOTHING_KNOWN = Seen()


def seen_pairs_refuse(seen: Seen, *, dataset: str, split: str, pairs: int, of: int) -> None:
    """Raises LeakError where test pairs of one split were seen and another split of the dataset was trained on."""
    other = seen.other_split(dataset, split)
    if other is not None and pairs:
        raise LeakError(
            "%(pairs)s of the %(of)s pairs of the split “%(split)s” hold a sentence that the encoder has seen; it was "
            "trained on the split “%(other)s” of the same dataset. Draw the splits again and train on the new ones, or "
            "choose “%(allow)s” for “%(setting)s”: then the figure is given with these pairs and without them.",
            pairs=pairs,
            of=of,
            split=split,
            other=other,
            allow=Leaks.ALLOW.value,
            setting=SettingName("leaks"),
        )


def shared_pairs_refuse(pairs: int, *, of: int, trained: str, tested: str) -> None:
    """Raises LeakError where there are pairs that share a sentence with the split that is trained on."""
    if pairs:
        raise LeakError(
            "%(pairs)s of the %(of)s pairs of the split “%(tested)s” share a sentence with the split “%(trained)s”. "
            "Draw the splits again, or choose “%(allow)s” for “%(setting)s”: then training leaves out what they share.",
            pairs=pairs,
            of=of,
            tested=tested,
            trained=trained,
            allow=Leaks.ALLOW.value,
            setting=SettingName("leaks"),
        )


def shared_training_refuse(pairs: int, *, of: int, trained: str, other: str) -> None:
    """Raises LeakError for pairs of the split that is trained on which share a sentence with another split."""
    raise LeakError(
        "%(pairs)s of the %(of)s pairs of the split “%(trained)s”, which is trained on, share a sentence with the "
        "split “%(other)s”, and splits of this dataset were drawn or set here. Draw the splits again, or choose "
        "“%(allow)s” for “%(setting)s”: then training leaves these pairs out.",
        pairs=pairs,
        of=of,
        trained=trained,
        other=other,
        allow=Leaks.ALLOW.value,
        setting=SettingName("leaks"),
    )
