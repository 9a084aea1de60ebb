"""An installation with something of everything: people, pairs, judgements, reviews, a snapshot, a run with files.

`backups/` holds a backup of it from each version, so that tests restore every one of them into the present version.
When a version is released, add its own: `SEMBLANCE_KEEP_BACKUP=FILE pytest -k backup_is_kept` writes it.
"""

from pathlib import Path

from annotation.models import Campaign
from curation.exchange.exporting import snapshot_create
from curation.files.writing import sha256_of
from curation.models import Dataset
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
)
from tests.integration.annotation.crowd import crowd_judge

# What PostgreSQL's JSON, SQLite's texts and a zip's names could each change.
AWKWARD = {
    "ratio": 1e22,
    "rate": 2e-05,
    "whole": 1.0,
    "zero": -0.0,
    "z": None,
    "a": ["é", "\u2028", {"b": True}],
}


def installation_filled(home: Path) -> Campaign:
    """Fill the database of the test, and the folder."""
    dataset = DatasetFactory(slug="moods", name="Ñandú, 日本語 and 🙂")
    owner = MembershipFactory(dataset=dataset, role="owner", user__username="olga").user
    campaign = crowd_judge(dataset, pairs=12, each=2)
    PairFactory(dataset=dataset, a__text='A "quoted"\tsentence, with a tab', b__text="back\\slash")
    scores = ScoreSetFactory(dataset=dataset, name="reference", parameters=AWKWARD)
    for place, pair in enumerate(dataset.pairs.order_by("pk")[:5]):
        scores.scores.create(pair=pair, value=place / 3)
    GeneratedPairFactory(dataset=dataset)
    snapshot_create(dataset=dataset, by=owner)
    _run_with_files(dataset, home)
    return campaign


def _run_with_files(dataset: Dataset, home: Path) -> None:
    run = RunFactory(dataset=dataset, state="succeeded", plan=AWKWARD)
    folder = home / "runs" / str(run.pk) / "1"
    folder.mkdir(parents=True)
    table = folder / "scores.csv"
    table.write_text("pair,score\n1,0.5\n")
    ArtifactFactory(run=run, path=str(table.relative_to(home)), sha256=sha256_of(table))
    (folder.parent / "log.txt").write_text("2026-11-24 12:00:00Z began\n")
