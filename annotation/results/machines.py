"""Machines that judged a campaign's block of tuples, beside the people who judged the same tuples."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from annotation.bws.annotators.machine import COST_BENEFIT, BlockAnswers, MachineComparison, compare_machine
from annotation.bws.annotators.position_bias import PositionBias
from annotation.models import Campaign
from annotation.results.record import annotator_codes, campaign_judgements
from curation.datasets.machine_judges import MachineAnswer, tuples_of
from curation.models import MachineJudge, TupleBlock


@dataclass(frozen=True)
class MachineRow:
    """A machine and how it compares with people."""

    judge: MachineJudge
    comparison: MachineComparison

    @property
    def positions(self) -> list[tuple[str, PositionBias]]:
        """Which screen positions the machine chose, with the campaign's labels."""
        block, found = self.judge.block, self.comparison
        return [(block.best_label, found.best_positions), (block.worst_label, found.worst_positions)]

    @property
    def questions(self) -> int:
        return 2 * len(self.judge.block.tuples)


def block_of(campaign: Campaign) -> TupleBlock | None:
    return TupleBlock.objects.filter(campaign_ref=campaign.pk).first()


def machines_compared(
    campaign: Campaign, block: TupleBlock, *, cost_benefit: float = COST_BENEFIT
) -> list[MachineRow]:
    """Every machine that judged the block, the latest first. People's answers to its tuples are those that count."""
    judges = list(block.judges.select_related("block").order_by("-pk"))
    if not judges:
        return []
    judged, tuples = campaign_judgements(campaign), tuples_of(block)
    places = {each.number: place for place, each in enumerate(tuples)}
    of_people = judged.collected & judged.designed & np.isin(judged.numbers, list(places))
    size = max(len(each.order) for each in tuples)
    rows = []
    for judge in judges:
        chosen = np.full((2, len(tuples), 2), -1, dtype=np.int64)
        for place, backwards, best, worst in judge.judgements.values_list(*MachineAnswer._fields):
            if best is not None:
                chosen[:, place, int(backwards)] = best, worst
        answers = BlockAnswers(
            tuples=np.array(
                [places[number] for number in judged.numbers[of_people].tolist()], dtype=np.int64
            ),
            people=judged.people[of_people],
            best=judged.best_slot[of_people],
            worst=judged.worst_slot[of_people],
            machine_best=chosen[0],
            machine_worst=chosen[1],
            first_order=np.array([each.order + [-1] * (size - len(each.order)) for each in tuples]),
            sizes=np.array([len(each.order) for each in tuples]),
        )
        compared = compare_machine(answers, cost_benefit=cost_benefit, seed=campaign.seed)
        rows.append(MachineRow(judge, compared))
    return rows


def machine_rows(block: TupleBlock, names: Mapping[int, str]) -> Iterator[list[object]]:
    """Every answer of every machine for a file: machine, tuple, order, the items as shown, best and worst.

    names: of pairs.
    """
    tuples = tuples_of(block)
    width = max(len(each.order) for each in tuples)
    for judge in block.judges.all():
        for place, backwards, best, worst in judge.judgements.values_list(*MachineAnswer._fields):
            asked = tuples[place]
            items = [names[pair] for pair in asked.pairs]
            shown = [items[slot] for slot in asked.shown(backwards=backwards)]
            choice = ["", ""] if best is None else [items[best], items[worst]]
            shown += [""] * (width - len(shown))
            yield [judge.run_ref, judge.model, asked.number, int(backwards), *shown, *choice]


def people_left_out(campaign: Campaign, comparison: MachineComparison) -> list[dict[str, object]]:
    """The rows of the alternative annotator test, with the annotators' codes and names."""
    codes = annotator_codes(campaign)
    people = campaign.participations.select_related("user").in_bulk()
    return [
        {"code": codes[row.annotator], "person": people[row.annotator], "row": row}
        for row in comparison.alternative.left_out
    ]
