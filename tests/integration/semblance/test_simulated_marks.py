"""Scores of simulated annotators carry their mark on every page that shows them, in charts, in files and in the API."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urljoin

import pytest
from django.test import Client

from annotation.models import Campaign
from annotation.results.publishing import scores_publish
from curation.exchange.exporting import snapshot_create
from curation.models import PairScore, ScoreSet, User
from tests.conftest import rolled_back
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    EvaluationFactory,
    MembershipFactory,
    RunFactory,
    ScoreSetFactory,
    UserFactory,
    client_of,
)
from tests.integration.annotation.crowd import crowd_judge

NAME = "human: Crowd, counting"
MARK = "simulated annotators"
NEAR = 90  # characters of a page after the name, within which the mark has to stand
# What was done with a score set, and words for a paper, which have a sentence of their own about it.
ELSEWHERE = ("/log/", "/logout", "/admin", "/password", "/methods/")
FILES = re.compile(r"\.(csv|zip|parquet|svg|txt)(\?|$)|/download|/static/|^data:")


@pytest.fixture(scope="module")
def site(django_db_setup, django_db_blocker) -> Iterator[tuple[Client, ScoreSet]]:
    """A dataset whose campaign programs judged, with a reference beside it, a snapshot and runs on the scores."""
    with rolled_back(django_db_blocker):
        dataset = DatasetFactory(slug="marks", name="Marks")
        owner = UserFactory(username="owner")
        MembershipFactory(dataset=dataset, user=owner, role="owner")
        campaign = crowd_judge(dataset, pairs=12, each=2, name="Crowd")
        User.objects.filter(participations__campaign=campaign).update(simulated=True)
        scores = scores_publish(campaign=campaign, method="counting", by=owner)
        other = ScoreSetFactory(dataset=dataset, name="file")
        PairScore.objects.bulk_create(
            PairScore(score_set=other, pair=pair, value=place / 3)
            for place, pair in enumerate(dataset.pairs.order_by("pk"))
        )
        _runs_made(dataset, owner)
        client = client_of(owner)
        yield client, scores


def _runs_made(dataset, owner) -> None:
    figures = {"spearman": 0.5, "low": 0.4, "high": 0.6, "pairs": 12, "judged_by": MARK}
    plan = {"dataset": dataset.slug, "score_set": NAME}
    done = {"dataset": dataset, "state": "succeeded", "started_by": owner}
    run = RunFactory(kind="evaluate_encoder", plan=plan, result=figures, **done)
    EvaluationFactory(run=run, suite=f"marks, {NAME} ({MARK}), test")
    trained = RunFactory(kind="train_encoder", plan={"dataset": dataset.slug, "scores": NAME}, **done)
    ArtifactFactory(run=trained, card={"label": "plain", "scores": NAME, "judged_by": MARK})


def pages_of(client: Client) -> Iterator[tuple[str, str]]:
    """Every page that links lead to from the home page, once for each address without its query, and its markup."""
    waiting, seen = ["/"], set()
    while waiting:
        address = waiting.pop()
        path = address.partition("?")[0]
        if path in seen or any(part in path for part in ELSEWHERE) or FILES.search(address):
            continue
        seen.add(path)
        answer = client.get(address, follow=True)
        if answer.status_code != 200 or "text/html" not in answer.headers["Content-Type"]:
            continue
        page = answer.content.decode()
        yield path, page
        parts = re.findall(r'(?:href|hx-get)="([^"#]+)', page)
        waiting += [urljoin(path, unescape(part)) for part in parts if not part.startswith(("data:", "http"))]


def unmarked(page: str) -> list[str]:
    """What stands after the name of the score set wherever a person reads it, where no mark is near."""
    page = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", page)
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())
    return [
        text[found.start() - 30 : found.end() + NEAR]
        for found in re.finditer(re.escape(NAME), text)
        if MARK not in text[found.start() : found.end() + NEAR]
    ]


@pytest.mark.exhaustive
def test_every_page_that_shows_scores_of_simulated_annotators_has_their_mark(site) -> None:
    client, scores = site
    snapshot_create(dataset=scores.dataset)

    pages = dict(pages_of(client))

    assert {path: found for path, page in pages.items() if (found := unmarked(page))} == {}
    showing = {path for path, page in pages.items() if NAME in unescape(page)}
    assert {"/datasets/marks/", "/datasets/marks/score-sets/"} <= showing
    assert len(showing) >= 8
    assert all(MARK in pages[path] for path in ("/datasets/", "/campaigns/"))


def test_every_page_of_a_campaign_that_programs_judged_has_the_mark(site) -> None:
    client, scores = site
    campaign = Campaign.objects.get(pk=scores.campaign_ref)

    pages = [
        client.get(f"/campaigns/{campaign.pk}/{part}").content.decode() for part in ("", "scores/", "gold/")
    ]

    assert all(MARK in page.partition("<h1")[2].partition("</h1>")[0] for page in pages)


def test_charts_carry_the_mark_in_their_picture_their_caption_and_their_table(site) -> None:
    client, scores = site
    chosen = f"first={scores.pk}&second={ScoreSet.objects.get(name='file').pk}"

    shown = client.get("/datasets/marks/charts/"), client.get(f"/datasets/marks/score-sets/?{chosen}")
    of_campaign = client.get(f"/campaigns/{scores.campaign_ref}/analysis/")
    charts = [
        chart
        for page in (*shown, of_campaign)
        for chart in re.findall(r'(?s)<figure class="chart".*?</figure>', page.content.decode())
        if "chart-lengths" not in chart
    ]

    assert len(charts) >= 4
    for chart in charts:
        files = [unquote(unescape(file)) for file in re.findall(r'href="(data:[^"]*)"', chart)]
        assert MARK in chart.partition("</figcaption>")[0]
        assert MARK in chart.partition("<svg")[2].partition("</svg>")[0]
        assert all(MARK in file for file in files)


def test_files_and_answers_for_programs_say_who_judged(site) -> None:
    client, scores = site
    chosen = f"first={scores.pk}&second={ScoreSet.objects.get(name='file').pk}"

    differences = b"".join(
        client.get(f"/datasets/marks/score-sets/differences.csv?{chosen}").streaming_content
    )
    sets = client.get("/api/v1/datasets/marks/score-sets/").json()["results"]
    facts = client.get("/api/v1/datasets/marks/").json()["facts"]
    pair = PairScore.objects.filter(score_set=scores).first().pair_id
    lineage = client.get(f"/api/v1/datasets/marks/pairs/{pair}/").json()["lineage"]

    assert f"{NAME} ({MARK})" in differences.decode().splitlines()[0]
    assert {one["name"]: one["judged_by"] for one in sets} == {NAME: MARK, "file": ""}
    assert facts["judged_by"] == MARK
    assert lineage[NAME]["judged_by"] == MARK


def test_scores_of_people_have_no_mark(dataset, owner) -> None:
    scores_publish(campaign=crowd_judge(dataset, pairs=12, each=2, name="Crowd"), method="counting")

    page = client_of(owner).get(f"/datasets/{dataset.slug}/").content.decode()

    assert NAME in page
    assert MARK not in page
