"""The demonstration's sentences into its dataset, as a file that somebody uploads."""

import itertools

from django.core.files.uploadedfile import SimpleUploadedFile

from curation.datasets.services import dataset_create
from curation.exchange.importing import ImportOptions
from curation.exchange.uploads import import_check, import_upload
from curation.files.tables import csv_lines
from curation.models import Dataset, User
from semblance.demo.plan import LATENT, DemoPlan, Stages
from semblance.demo.scenes import scene_pairs

JUDGED, LABELLED, HELD_OUT = "to be annotated", "labelled", "held out"
DESCRIPTION = "Sentences of a small grammar, with known relatedness. Annotated by simulated annotators."


def scenes_import(plan: DemoPlan, *, owner: User, stages: Stages) -> Dataset:
    """A new dataset with pairs to be judged, pairs for the generator to learn from, and pairs held out for the test.

    What is held out shares no sentence with the rest: an encoder is tested on sentences that nothing was made from.
    """
    # A demonstration never touches an earlier one: the second is called scenes-2.
    taken = set(Dataset.objects.filter(slug__startswith="scenes").values_list("slug", flat=True))
    free = (slug for number in itertools.count(2) if (slug := f"scenes-{number}") not in taken)
    slug = next(free) if "scenes" in taken else "scenes"
    dataset = dataset_create(slug=slug, name="Scenes", by=owner, description=DESCRIPTION)
    pairs = scene_pairs(plan.pairs + plan.labelled, seed=plan.seed)
    seen = {text for pair in pairs for text in (pair.a, pair.b)}
    held_out = scene_pairs(plan.held_out, seed=plan.seed + 1, without=seen)
    rows: list[tuple[str, ...]] = [("sentence1", "sentence2", "score", "source", "split")]
    parts = [(pairs[: plan.pairs], JUDGED, "train"), (pairs[plan.pairs :], LABELLED, "train")]
    for several, source, split in [*parts, (held_out, HELD_OUT, "test")]:
        rows += ((pair.a, pair.b, f"{pair.latent:.4f}", source, split) for pair in several)
    upload = SimpleUploadedFile("scenes.csv", "".join(csv_lines(rows)).encode(), content_type="text/csv")
    with stages.open("Import pairs") as report:
        batch = import_upload(dataset=dataset, files=[upload], by=owner)
        import_check(batch=batch, options=ImportOptions(scale=(0.0, 1.0), score_set=LATENT))
        stages.finished(kind="import_pairs", by=owner, report=report, dataset=dataset.slug, batch=batch.pk)
    return dataset
