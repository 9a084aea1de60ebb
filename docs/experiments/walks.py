#!/usr/bin/env python3
"""How many of the project's own files run between a person's act and its trace: one line for each walk.

usage: python docs/experiments/walks.py [--list]  (in the project's environment; half a minute; a temporary folder)

--list: the files. A file counts where one of its functions is called. A judgement's walk is the second POST of a
person, from the view to its end. That of a sentence is an import's command, a snapshot, and the command that publishes.
That of p_D is its formula, the training pairs of a snapshot that has it, and a training until its first weighted loss.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
HOME = Path(tempfile.mkdtemp(prefix="walks-"))
os.environ |= {"SEMBLANCE_HOME": str(HOME), "DATABASE_URL": "", "REDIS_URL": "", "ENV_FILE": os.devnull}
os.environ["DJANGO_SETTINGS_MODULE"] = "semblance.settings"

import django  # noqa: E402

django.setup()
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from tests.architecture.rooms import APPS  # noqa: E402

ran: set[str] = set()


@contextmanager
def watched(until: str = "") -> Iterator[None]:
    """until: the function whose first return ends the walk."""

    def call(frame: FrameType, event: str, _argument: object) -> None:
        # A module and the body of a class are executed where the module is first imported, which is no step of a walk.
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:
            ran.add(frame.f_code.co_filename)
        elif event == "return" and frame.f_code.co_name == until:
            sys.setprofile(None)

    sys.setprofile(call)
    try:
        yield
    finally:
        sys.setprofile(None)


class OnlyTheView:
    """The innermost middleware: the view is watched, and nothing before and after it."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer

    def __call__(self, request: Any) -> Any:
        return self.answer(request)

    def process_view(self, request: Any, view: Callable[..., Any], args: Any, names: Any) -> Any:
        with watched():
            return view(request, *args, **names)


def judgement() -> None:
    from tests.factories import CampaignFactory, MembershipFactory, TupleFactory, client_of  # noqa: PLC0415
    from tests.integration.annotation.pages import address, answer_on  # noqa: PLC0415

    campaign = CampaignFactory(judgements_per_tuple=2)
    TupleFactory.create_batch(4, campaign=campaign)
    site = client_of(MembershipFactory(dataset=campaign.dataset, role="annotator").user)
    for _time in range(2):  # the first one also joins, and builds statements
        page = site.get(address("judge", campaign))
        ran.clear()
        answer = site.post(address("judgement_create", campaign), answer_on(page))
        if answer.status_code != 302:
            raise SystemExit(f"The judgement was answered with {answer.status_code}.")


def sentence() -> None:
    from curation.exchange.exporting import snapshot_create  # noqa: PLC0415
    from curation.management.commands import import_pairs  # noqa: PLC0415
    from curation.models import Dataset  # noqa: PLC0415
    from semblance.management.commands import publish_dataset  # noqa: PLC0415

    pairs = HOME / "pairs.csv"
    rows = (f"A dog runs past house {number}.,A cat sits in garden {number}.,.5" for number in range(20))
    pairs.write_text("\n".join(["sentence1,sentence2,score", *rows]))
    ran.clear()
    with watched():
        call_command(import_pairs.Command(), str(pairs), "--dataset", "walks", "--create", stdout=StringIO())
        snapshot_create(dataset=Dataset.objects.get(slug="walks"))
        call_command(publish_dataset.Command(), "walks", "--to", str(HOME / "folder"), stdout=StringIO())


def realism() -> None:
    from curation.exchange.exporting import snapshot_create  # noqa: PLC0415
    from mlworkers.pipelines.encoder_data import training_rows_of  # noqa: PLC0415
    from mlworkers.science.encoders.plan import EncoderPlan, Weighting  # noqa: PLC0415
    from mlworkers.science.encoders.training import encoder_train  # noqa: PLC0415
    from mlworkers.science.realism.calibration import probabilities  # noqa: PLC0415
    from tests.ml.encoder_data import dataset_with_pairs  # noqa: PLC0415
    from tests.ml.tiny import tiny_encoder  # noqa: PLC0415

    snapshot = snapshot_create(dataset=dataset_with_pairs())
    base = tiny_encoder(HOME)
    plan = EncoderPlan(
        dataset="scenes",
        model=str(base),
        scores="run 7: target",
        realism="run 7: p_D",
        weighting=Weighting.REALISM,
        epochs=1,
        device="cpu",
    )
    with watched(until="weighted_cosine_loss"):
        probabilities([[0.0, 1.0]], temperature=1.0)
        rows = training_rows_of(plan, snapshot, weightings=[plan.weighting]).rows
        encoder_train(base, rows, plan)


WALKS = {
    "a judgement, from its POST to its row": (judgement, 7),
    "a sentence, from an import to a published folder": (sentence, 30),
    "p_D, from its formula to the weighted loss": (realism, 12),
}


def main() -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "__main__.OnlyTheView"]
    setup_test_environment()
    call_command("migrate", verbosity=0)
    for name, (walk, limit) in WALKS.items():
        ran.clear()
        walk()
        own = sorted(str(Path(file).relative_to(ROOT)) for file in ran if file.startswith(str(ROOT)))
        files = [file for file in own if file.partition("/")[0] in APPS and file.endswith(".py")]
        print(f"{len(files):3} files (at most {limit} are wanted): {name}")
        if "--list" in sys.argv:
            print(*(f"      {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
