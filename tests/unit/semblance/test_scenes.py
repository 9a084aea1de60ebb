"""The grammar of scenes: its relatedness is known, its pairs are reproducible and cover the whole range."""

import numpy as np
import pytest

from semblance.demo.scenes import Part, Scene, latent_relatedness, scene_of, scene_pairs

BOY_KICKS = Scene(
    event=Part("sport", 0), agent=Part("children", 0), place=Part("green", 0), time=Part("day", 0)
)


def test_the_same_scene_is_fully_related() -> None:
    assert latent_relatedness(BOY_KICKS, BOY_KICKS) == pytest.approx(1.0)


def test_scenes_with_nothing_in_common_are_unrelated() -> None:
    other = Scene(event=Part("music", 0), agent=Part("men", 1), place=Part("town", 2), time=Part("dark", 0))

    assert latent_relatedness(BOY_KICKS, other) == 0.0


def test_a_kindred_event_and_the_same_agent_count_half_and_whole() -> None:
    other = Scene(
        event=Part("sport", 3), agent=Part("children", 0), place=Part("town", 0), time=Part("dark", 1)
    )

    # Half of the event's .45 and all of the agent's .25.
    assert latent_relatedness(BOY_KICKS, other) == pytest.approx(0.475)


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert scene_pairs(50, seed=3) == scene_pairs(50, seed=3)
    assert scene_pairs(50, seed=3) != scene_pairs(50, seed=4)


def test_no_pair_occurs_twice_and_no_sentence_stands_beside_itself() -> None:
    pairs = scene_pairs(2000, seed=5)

    assert len({frozenset((pair.a, pair.b)) for pair in pairs}) == 2000
    assert all(pair.a != pair.b for pair in pairs)


def test_pairs_cover_the_whole_range_of_relatedness() -> None:
    latent = [pair.latent for pair in scene_pairs(500, seed=7)]

    counts, _ = np.histogram(latent, bins=5, range=(0, 1))

    assert counts.min() >= 30


def test_sentences_are_sentences() -> None:
    for pair in scene_pairs(500, seed=11):
        for text in (pair.a, pair.b):
            assert text[0].isupper()
            assert text.endswith(".")
            assert "{" not in text
            assert "  " not in text


def test_the_verb_agrees_with_two_people() -> None:
    texts = [text for pair in scene_pairs(500, seed=17) for text in (pair.a, pair.b)]

    assert any("two women are " in text.lower() for text in texts)
    assert not any("two women is " in text.lower() for text in texts)


def test_a_sentence_tells_which_scene_it_was_written_from() -> None:
    for pair in scene_pairs(500, seed=17):
        left, right = scene_of(pair.a), scene_of(pair.b)
        assert left is not None
        assert right is not None
        assert latent_relatedness(left, right) == pytest.approx(pair.latent)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A little boy is kicking a football in the park.",  # when?
        "Two men is kicking a football in the park at noon.",
        "A nurse are kicking a football in the park at noon.",
        "A nurse is kicking a football in the park at noon",
        "A nurse is kicking a violin in the park at noon.",
        "In the park, in the park is kicking a football at noon.",
    ],
)
def test_what_the_grammar_cannot_write_tells_of_no_scene(text) -> None:
    assert scene_of(text) is None


def test_pairs_can_be_drawn_that_share_no_sentence_with_others() -> None:
    first = {text for pair in scene_pairs(300, seed=13) for text in (pair.a, pair.b)}

    others = scene_pairs(300, seed=13, without=first)

    assert len(others) == 300
    assert not first & {text for pair in others for text in (pair.a, pair.b)}
