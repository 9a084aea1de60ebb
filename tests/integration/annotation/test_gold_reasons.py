"""The draft of the reason that annotators read at an attention check."""

import pytest

from annotation.campaigns.gold import GoldSuggestion
from annotation.forms.gold import reason_drafted
from tests.factories import PairFactory

pytestmark = pytest.mark.django_db


def test_scores_in_the_reason_are_rounded_as_beside_it() -> None:
    pairs = PairFactory.create_batch(4)
    # Floats nearest to .125 and .475: Python alone rounds them to .12 and .47, the page to .13 and .48.
    found = reason_drafted(GoldSuggestion(pairs, pairs[0], pairs[1], 0.35, [0.995, 0.125, 0.475, 0.485]))

    assert found == (
        "Earlier scores leave no doubt: the expected pairs have 1.00 and 0.13, "
        "and the others lie between 0.48 and 0.49."
    )
