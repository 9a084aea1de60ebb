"""What a curator edited is of neither class: the next scoring of realism scores it and learns nothing from it."""

from uuid import uuid4

import pytest
from django.utils.timezone import now

from curation.review.verdicts import review_decide
from mlworkers.kinds.realism.scored_sentences import scored_sentences
from mlworkers.science.realism.plan import RealismPlan
from tests.factories import GeneratedPairFactory, PairFactory, RunFactory

pytestmark = pytest.mark.django_db


def test_an_edited_sentence_is_scored_with_its_intended_similarity_and_learned_from_in_neither_class(
    dataset, curator
) -> None:
    run = RunFactory(dataset=dataset, kind="generate_pairs", plan={"dataset": dataset.slug})
    source = PairFactory(dataset=dataset, split="train").a
    pairs = [GeneratedPairFactory(dataset=dataset, a=source, run_ref=run.pk, intended=0.5) for _ in range(3)]
    dataset.score_sets.filter(kind="target").update(run_ref=run.pk)
    sent = {"by": curator, "at": now()}
    edited = review_decide(pair=pairs[0], verdict="edit", text="A cat runs.", client_id=uuid4(), **sent)
    review_decide(pair=pairs[1], verdict="reject", reasons=["logic"], client_id=uuid4(), **sent)

    scored = scored_sentences(RealismPlan(dataset=dataset.slug, run=run.pk), dataset)

    by_pair = {pair.pair: pair for pair in scored.pairs}
    assert by_pair.keys() == {pairs[2].pk, edited.replacement_id}
    index, machine = by_pair[edited.replacement_id].index, by_pair[pairs[2].pk].index
    assert (scored.texts[index], by_pair[edited.replacement_id].target) == ("A cat runs.", 0.5)
    assert [scored.human[index], scored.usable[index]] == [False, False]
    assert [scored.human[machine], scored.usable[machine]] == [False, True]
