"""The second half: from labelled pairs to synthetic ones, p_D, review, and encoders that are trained on them."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np

from curation.files.progress import Report
from curation.models import Dataset, ReviewDecision, ScoreSet, Sentence, User
from curation.review.queue import Queue
from curation.review.verdicts import Reason, review_decide, review_next
from mlworkers.kinds.realism.verdicts import lowest_p_d, machine_p_d
from mlworkers.models import Run
from mlworkers.science.realism.discrimination import auc_interval
from semblance.demo.accounts import members_add, simulated_users
from semblance.demo.comparing import MINILM, encoders_compared
from semblance.demo.plan import LATENT, DemoPlan, Stages
from semblance.demo.scenes import scene_of

REVIEW_SECONDS = 6.0  # a plausible time for one sentence
Verdict = ReviewDecision.Verdict


def encoders_from_machines(
    plan: DemoPlan, dataset: Dataset, *, small: Run, by: User, at: datetime, stages: Stages
) -> tuple[dict[str, Run], dict[str, Any]]:
    """Train a generator on the labelled pairs, let it write pairs, weigh them, review the least real, and compare.

    Returns the runs of the comparisons, `minilm` and `small`, and the figures of what came before.
    """
    about: dict[str, Any] = {"by": by, "dataset": dataset.slug}
    generator = stages.run(
        "Train generator",
        kind="bootstrap_generator",
        score_set=LATENT,
        layers=plan.generator_layers,
        width=plan.generator_width,
        steps=plan.generator_steps,
        batch=16,
        learning_rate=3e-3,
        seed=plan.seed,
        **about,
    )
    generation = stages.run(
        "Generate pairs",
        kind="generate_pairs",
        model=f"run:{generator.pk}",
        sources=plan.sources,
        most_rows=plan.most_rows,
        shard_sources=20,
        seed=plan.seed,
        **about,
    )
    realism = stages.run(
        "Score human-likeness (p_D)",
        kind="score_realism",
        run=generation.pk,
        model=MINILM,
        seed=plan.seed,
        **about,
    )
    p_d = dataset.score_sets.get(name=realism.result["score_set"])
    with stages.open("Review (simulated curators)") as report:
        curators = simulated_users("simulated-curator", plan.curators)
        members_add(dataset=dataset, curators=curators)
        reviewed = pairs_review(plan, p_d, curators=curators, at=at, report=report)
    comparisons = encoders_compared(
        plan,
        dataset,
        scores=generation.result["score_set"],
        realism=p_d.name,
        small=small,
        by=by,
        stages=stages,
    )
    return comparisons, {
        **{name: generation.result[name] for name in ("generated", "kept")},
        "realism_auc": realism.result["auc"],
        **{name: realism.result[name] for name in ("median_p_human", "median_p_machine")},
        "broken": broken_figures(p_d),
        "reviewed": reviewed,
    }


def broken_figures(p_d: ScoreSet) -> dict[str, Any]:
    """How far p_D recognises the machine sentences that the grammar cannot write; the grammar says so, no person.

    sentences, broken: how many there are. auc, low, high: the chance that a sentence of the grammar has a higher p_D
    than a broken one, with its 95 % interval; None where all are of one kind. lowest: broken ones in the lowest
    tenth of p_D.
    """
    values = machine_p_d(p_d)
    texts = Sentence.objects.in_bulk(list(values))
    broken = np.array([scene_of(texts[number].text) is None for number in values], dtype=bool)
    p_human = np.array(list(values.values()))
    limit = lowest_p_d(p_human.tolist())
    area = auc_interval(p_human, ~broken) if 0 < broken.sum() < broken.size else None
    return {
        "sentences": int(broken.size),
        "broken": int(broken.sum()),
        "auc": area and area.value,
        "low": area and area.low,
        "high": area and area.high,
        "lowest": 0 if limit is None else int((broken & (p_human <= limit)).sum()),
    }


def pairs_review(plan: DemoPlan, p_d: ScoreSet, *, curators: list[User], at: datetime, report: Report) -> int:
    """Review the generated pairs of the lowest p_D, the curators in turn. Returns the number of verdicts given.

    They know the grammar: a sentence that it cannot write is rejected, one that says the same part twice for
    repetition. Now and then they slip, as people do.
    """
    queue = Queue(p_d, share=plan.reviewed_share)
    rng = np.random.default_rng([plan.seed, 2])
    reviewed = 0
    while True:
        curator = curators[reviewed % len(curators)]
        offered = review_next(queue=queue, reviewer=curator, at=at, count=1)
        if not offered:
            return reviewed
        at += timedelta(seconds=REVIEW_SECONDS)
        reasons = reasons_against(offered[0].pair.b.text)
        if rng.uniform() < plan.reviewer_slips:
            reasons = [] if reasons else [Reason.OTHER]
        review_decide(
            pair=offered[0].pair,
            verdict=Verdict.REJECT if reasons else Verdict.KEEP,
            client_id=UUID(bytes=rng.bytes(16), version=4),
            by=curator,
            at=at,
            reasons=reasons,
            queue=queue,
        )
        reviewed += 1
        report(reviewed, 0, "")


def reasons_against(text: str) -> list[str]:
    """Why a sentence is not a sentence of the scenes; nothing where it is one."""
    if scene_of(text) is not None:
        return []
    words = text.lower().rstrip(".").replace(",", "").split()
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return [Reason.REPETITION if len(set(runs)) < len(runs) else Reason.GRAMMAR]
