"""`semblance simulate`: simulated annotators answer the rest of a campaign."""

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from annotation.campaigns.selectors import campaign_numbered
from annotation.models import Lease
from curation.foundation.command import Command as BaseCommand
from curation.foundation.heartbeats import database_now
from semblance.demo.crowd import Crowd, crowd_answer

MOST_ANNOTATORS = 100


class Command(BaseCommand):
    help = "Let simulated annotators answer the rest of a campaign, whose pages and files then say so."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "campaign", type=int, help="The number of the campaign, as in the address of its page."
        )
        parser.add_argument(
            "--annotators", type=int, default=Crowd().annotators, help="How many. Default: %(default)s."
        )
        parser.add_argument("--beside-people", action="store_true", help="Also where people have answered.")

    def handle(self, *, campaign: int, annotators: int, **options: Any) -> None:
        found = campaign_numbered(campaign)
        if not 1 <= annotators <= MOST_ANNOTATORS:
            words = {"number": annotators, "most": MOST_ANNOTATORS}
            self.fail(_("--annotators is %(number)s; give 1 to %(most)s.") % words)
        beside = options["beside_people"]
        given = crowd_answer(found, Crowd(annotators), at=database_now(), beside_people=beside)
        line = _(
            "%(judgements)s judgements by %(annotators)s simulated annotators. Every page of the campaign says so."
        )
        held = Lease.objects.filter(participation__campaign=found, state=Lease.State.LIVE).count()
        figures = {"campaign": found.pk, "judgements": given, "annotators": annotators, "held": held}
        lines = [line % figures]
        if held:
            lines.append(_("Questions reserved for people who are annotating now: %(held)s.") % figures)
        self.answer(figures, *lines, as_json=options["json"])
