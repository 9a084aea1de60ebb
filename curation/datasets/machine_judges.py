"""Blocks of tuples that machines judge, and their answers: kept apart from everything that people judged."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from curation.datasets.rows import rows_add
from curation.foundation.errors import UserError
from curation.models import Dataset, MachineJudge, MachineJudgement, Pair, TupleBlock, User
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record


class BlockTuple(NamedTuple):
    """number: in the design. pairs: their numbers, in the order of the design. order: slots as first shown."""

    number: int
    pairs: list[int]
    order: list[int]

    def shown(self, *, backwards: bool) -> list[int]:
        """The slots in the order of the first question, or of the second, which reverses it."""
        return self.order[::-1] if backwards else self.order


class MachineAnswer(NamedTuple):
    """What a machine chose, as slots of the design; both None where it gave no answer."""

    place: int
    reversed: bool
    best_slot: int | None
    worst_slot: int | None


@transaction.atomic
def block_create(
    *,
    dataset: Dataset,
    campaign_ref: int,
    name: str,
    tuples: Sequence[BlockTuple],
    by: User | None,
    **words: str,
) -> TupleBlock:
    """Store the block of a campaign. words: its question, labels and guidelines. Raises UserError if it has one."""
    dataset_lock(dataset)
    if TupleBlock.objects.filter(campaign_ref=campaign_ref).exists():
        raise UserError(
            _("The tuples for model annotators were sampled already, and stay the same for all models.")
        )
    rows = [list(each) for each in tuples]
    facts: dict[str, Any] = {"name": name, "tuples": rows, "created_by": by, **words}
    block = TupleBlock.objects.create(dataset=dataset, campaign_ref=campaign_ref, **facts)
    details = {"campaign": campaign_ref, "judgements": len(rows)}
    audit_record(dataset=dataset, action=Action.TUPLES_RESERVED, by=by, subject=name, details=details)
    return block


def tuples_of(block: TupleBlock) -> list[BlockTuple]:
    return [BlockTuple(*each) for each in block.tuples]


def texts_of(block: TupleBlock) -> list[list[tuple[str, str]]]:
    """Both sentences of the pairs of each tuple, in the order of the design. Raises UserError where a pair is gone."""
    tuples = tuples_of(block)
    wanted = {pair for each in tuples for pair in each.pairs}
    rows = Pair.objects.filter(dataset=block.dataset_id, pk__in=wanted).values_list(
        "pk", "a__text", "b__text"
    )
    texts = {pk: (a, b) for pk, a, b in rows}
    if len(texts) < len(wanted):
        raise UserError(_("%(number)d pairs of the block no longer exist."), number=len(wanted) - len(texts))
    return [[texts[pair] for pair in each.pairs] for each in tuples]


@transaction.atomic
def machine_judgements_add(
    *,
    block: TupleBlock,
    run_ref: int,
    model: str,
    parameters: Mapping[str, Any],
    answers: Iterable[MachineAnswer],
    by: User | None,
) -> MachineJudge:
    """Store what a model answered to every question of a block."""
    judge = MachineJudge.objects.create(
        block=block, run_ref=run_ref, model=model, parameters=dict(parameters)
    )
    rows = list(answers)
    rows_add(MachineJudgement, shared={"judge_id": judge.pk}, columns=MachineAnswer._fields, rows=rows)
    audit_record(
        dataset=block.dataset,
        action=Action.MACHINE_JUDGED,
        by=by,
        subject=block.name,
        details={"campaign": block.campaign_ref, "run": run_ref, "judgements": len(rows)},
    )
    return judge
