"""What classifiers learn from, what is only scored, and that no fold knows another's sentences."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.pairs.text import near_copy_key
from mlworkers.science.realism.dataset import RealismError, SdiData, sdi_data
from mlworkers.science.realism.text import alike

PEOPLE = [f"A man called {name} walks home." for name in "abcdefghijklmnopqrstuvwxyzäöüßéèàåøñ"]
MACHINES = [f"a dog named {name} says hello" for name in "abcdefghijklmnopqrstuvwxyzäöüßéèàåøñ"]


def data_of(people, machines, *, usable=None, links=(), folds: int = 3, seed: int = 1) -> SdiData:
    texts = [*people, *machines]
    human = np.arange(len(texts)) < len(people)
    marks = np.ones(len(texts), dtype=bool) if usable is None else np.array(usable)
    return sdi_data(texts, human, marks, links, folds=folds, seed=seed)


DRESS = st.sampled_from(["{}", "{}.", "“{}”", " {} !", "{},", "({})", "- {}"])
# Few words, so that texts and near-doubles meet within and between the classes.
TEXT = st.builds(
    lambda words, dress: dress.format(" ".join(words)),
    st.lists(
        st.sampled_from(["dog", "Dog", "runs", "sits", "mat", "in", "on", "the", "a", "very"]),
        min_size=1,
        max_size=4,
    ),
    DRESS,
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(
    st.lists(TEXT, max_size=80),
    st.lists(TEXT, max_size=80),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), max_size=100),
    st.integers(3, 6),
    st.integers(0, 5),
)
def test_no_classifier_learns_from_a_sentence_it_scores_or_from_its_double(
    people, machines, links, folds: int, seed: int
) -> None:
    people, machines = [*people, *PEOPLE], [*machines, *MACHINES]
    n = len(people) + len(machines)
    data = data_of(people, machines, links=[(a % n, b % n) for a, b in links], folds=folds, seed=seed)
    keys = np.array([near_copy_key(alike(text)) for text in [*people, *machines]])

    for fold in range(folds):
        scored = set(keys[data.fold == fold])
        assert not scored & set(keys[data.seen_by(fold)])
        assert data.inner(fold).any()
        assert not (data.inner(fold) & ~data.seen_by(fold)).any()


def test_pairs_of_one_source_sentence_share_a_fold() -> None:
    sources = range(len(PEOPLE))
    links = [(source, len(PEOPLE) + source) for source in sources]

    data = data_of(PEOPLE, MACHINES, links=links)

    assert data.links_cut == 0
    assert all(data.fold[left] == data.fold[right] for left, right in links)


def test_where_everything_hangs_together_links_are_cut_and_counted() -> None:
    n = len(PEOPLE) + len(MACHINES)

    data = data_of(PEOPLE, MACHINES, links=[(place, place + 1) for place in range(n - 1)])

    assert data.links_cut > 0
    assert np.bincount(data.group).max() <= n / 12


def test_a_machine_sentence_that_a_person_wrote_too_is_scored_and_not_learned_from() -> None:
    data = data_of(PEOPLE, [*MACHINES, "a man, called A, walks home", PEOPLE[1]])

    assert data.left_out["identical"] == 2
    assert not data.learned[-2:].any()
    assert data.fold[-1] == data.fold[1]


def test_a_double_within_a_class_is_learned_once() -> None:
    data = data_of([*PEOPLE, PEOPLE[0].upper()], [*MACHINES, MACHINES[0] + "."])

    assert data.left_out["repeated"] == 2
    assert data.learned[0]
    assert not data.learned[len(PEOPLE)]


def test_people_s_sentences_longer_than_any_of_the_machine_s_do_not_give_it_away() -> None:
    data = data_of([*PEOPLE, "word " * 50], [*MACHINES, "one more dog that says hello"])

    assert data.left_out["longer"] == 1
    assert not data.learned[len(PEOPLE)]


def test_what_may_not_be_used_is_scored_alone() -> None:
    usable = [False] + [True] * (len(PEOPLE) + len(MACHINES) - 1)

    data = data_of(PEOPLE, MACHINES, usable=usable)

    assert data.left_out["unusable"] == 1
    assert not data.learned[0]


@given(st.lists(TEXT, max_size=20))
def test_a_sentence_is_dressed_the_same_whichever_class_it_is_of(more) -> None:
    texts = [*PEOPLE, *MACHINES, *more]
    human, usable = np.arange(len(texts)) < len(PEOPLE), np.ones(len(texts), dtype=bool)

    one, other = (sdi_data(texts, marks, usable, folds=3, seed=1) for marks in (human, ~human))

    assert one.texts == other.texts == [alike(text) for text in texts]


@pytest.mark.parametrize(
    ("people", "machines", "message"),
    [
        ([], MACHINES, "no human sentences outside dev and test; import pairs"),
        (PEOPLE[:5], MACHINES, "5 human sentences .* are too few .* import at least 20"),
        (PEOPLE, [], "0 distinct machine sentences .* too few"),
        (PEOPLE, MACHINES[:19], "19 distinct machine sentences .* generate at least 20"),
        (PEOPLE, ["a dog."] * 50, "1 distinct machine sentences .* too few"),
        (PEOPLE, PEOPLE, "0 distinct machine sentences that no person wrote"),
    ],
)
def test_too_little_to_learn_from_is_one_sentence(people, machines, message: str) -> None:
    with pytest.raises(RealismError, match=message):
        data_of(people, machines)


@pytest.mark.parametrize(
    ("people", "machines", "first", "name"),
    [(PEOPLE[:20], MACHINES, 0, "human"), (PEOPLE, MACHINES[:20], len(PEOPLE), "machine")],
)
def test_a_class_in_fewer_groups_than_folds_is_refused(people, machines, first: int, name: str) -> None:
    twos = [(place, place + 1) for place in range(first, first + 20, 2)]

    with pytest.raises(
        RealismError, match=f"The {name} sentences are connected in 10 groups, too few for 12"
    ):
        data_of(people, machines, links=twos, folds=12)
