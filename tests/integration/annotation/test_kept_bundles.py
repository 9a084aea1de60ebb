"""The bundle of a large campaign: a worker makes it, once, it is kept as a file, and it goes with its row."""

import io
import json
import os
import zipfile
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils.timezone import now

from annotation import tasks
from annotation.crowds.erasing import person_erase
from annotation.models import Campaign, CampaignWork, Flag
from annotation.results import kept_bundles, works
from annotation.results.bundle import bundle_write
from annotation.results.kept_bundles import bundles_tidy
from annotation.results.works import bundle_ask, work_carry_out, work_remove
from curation.foundation.heartbeats import LOST_MAX, stale_after
from curation.foundation.shared_files import StorageAway, shared_names
from curation.models import Dataset
from tests.factories import MembershipFactory, ParticipationFactory, UserFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture
UNDERWAY = "A worker makes the bundle."


@pytest.fixture(autouse=True)
def invited(monkeypatch) -> list[int]:
    """The works for which a worker was invited."""
    found: list[int] = []
    monkeypatch.setattr(tasks, "worker_invite", lambda _task, pk: found.append(pk))
    return found


@pytest.fixture(autouse=True)
def large(monkeypatch) -> None:
    """Any campaign is too large for a request."""
    monkeypatch.setattr(kept_bundles, "JUDGEMENTS_AT_ONCE", 10)


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


@pytest.fixture
def files(home):
    """The paths of the kept bundles on this machine, relative to their folder."""

    def files() -> list[str]:
        folder = home / "bundles"
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

    return files


def asked_of(campaign: Campaign, *, spreadsheet: bool = False) -> CampaignWork:
    return bundle_ask(campaign=campaign, spreadsheet=spreadsheet, at=now(), by=None)


def made_of(campaign: Campaign, **asked: bool) -> CampaignWork:
    work = asked_of(campaign, **asked)
    assert work.state == "done" or work_carry_out(work_pk=work.pk)
    work.refresh_from_db()
    return work


def judge_once_more(campaign: Campaign) -> None:
    judgement = campaign.participations.first().judgements.last()
    judgement.pk, judgement.client_id, judgement.status = None, uuid4(), "extra"
    judgement.participation = ParticipationFactory(campaign=campaign)
    judgement.save()


def content_of(answer) -> bytes:
    return b"".join(answer.streaming_content)


# Made by a worker


def test_a_worker_makes_the_bundle_and_the_page_leads_to_the_same_bytes(
    site, judged, invited, tmp_path
) -> None:
    before = text_of(site.get(address("scores", judged)))
    asked = site.post(address("bundle_make", judged))
    work = judged.works.get()
    waiting = text_of(site.get(address("scores", judged)))
    early = site.get(address("bundle_file", judged, work.pk))
    assert tasks.work(work.pk)
    polled = site.get(address("work", judged, work.pk), headers={"HX-Request": "true"})
    after = text_of(site.get(address("scores", judged)))
    answer = site.get(address("bundle_file", judged, work.pk))
    content = content_of(answer)

    assert "Make the bundle" in before
    assert (asked.status_code, invited) == (302, [work.pk])
    assert UNDERWAY in waiting
    assert early.status_code == 404
    assert polled["HX-Refresh"] == "true"
    assert "The bundle is ready." in after
    assert "judgements, as of" in after
    assert UNDERWAY not in after
    assert "Judgements came or changed since" not in after
    bundle_write(campaign=judged, path=tmp_path / "direct.zip")
    assert content == (tmp_path / "direct.zip").read_bytes()
    assert 'filename="relatedness-bundle.zip"' in answer["Content-Disposition"]


def test_two_clicks_on_the_same_state_are_one_file(site, judged, invited, files) -> None:
    for _click in range(2):
        site.post(address("bundle_make", judged))
    work = judged.works.get()
    assert work_carry_out(work_pk=work.pk)
    assert not work_carry_out(work_pk=work.pk)  # the second click's invitation

    site.post(address("bundle_make", judged))

    assert judged.works.get() == work
    assert files() == [f"{work.pk}/1.zip"]


def test_judgements_that_came_since_are_said_and_a_new_bundle_takes_the_place_of_the_last(
    site, judged, files, django_capture_on_commit_callbacks
) -> None:
    first = made_of(judged)
    judge_once_more(judged)
    shown = text_of(site.get(address("scores", judged)))

    with django_capture_on_commit_callbacks(execute=True):
        second = made_of(judged)

    assert "Judgements came or changed since: make a new one." in shown
    assert second != first
    assert files() == [f"{second.pk}/1.zip"]
    assert site.get(address("bundle_file", judged, first.pk)).status_code == 404
    assert "Judgements came or changed since" not in text_of(site.get(address("scores", judged)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "change",
    [
        lambda campaign: campaign.guidelines.create(version=9, text="Choose again."),
        lambda campaign: Flag.objects.create(
            tuple=campaign.tuples.first(),
            participation=campaign.participations.first(),
            kind="skip",
            reason="broken",
            created_at=now(),
        ),
        lambda campaign: campaign.participations.update(gold_right=7, gold_trials=8),
        lambda campaign: Campaign.objects.filter(pk=campaign.pk).update(question="Which?"),
        lambda campaign: Dataset.objects.filter(pk=campaign.dataset_id).update(licence="CC0"),
        lambda campaign: campaign.dataset.pairs.update(subset="other"),
    ],
)
def test_whatever_else_the_bundle_holds_makes_a_new_one_too(judged, change) -> None:
    first = made_of(judged)
    change(judged)
    judged.refresh_from_db()

    assert made_of(judged).result["sha256"] != first.result["sha256"]


def test_both_variants_are_kept_beside_each_other(site, judged, files) -> None:
    plain = made_of(judged)
    site.post(address("bundle_make", judged), {"spreadsheet": "1"})
    safe = judged.works.get(asked={"spreadsheet": True})
    shown = text_of(site.get(address("scores", judged)))
    work_carry_out(work_pk=safe.pk)

    assert "A worker makes the bundle that is safe for a spreadsheet." in shown
    assert files() == sorted([f"{plain.pk}/1.zip", f"{safe.pk}/1.zip"])
    answer = site.get(address("bundle_file", judged, safe.pk))
    archive = zipfile.ZipFile(io.BytesIO(content_of(answer)))
    assert "apostrophe" in archive.read("relatedness-bundle/README.md").decode()
    assert "relatedness-bundle-spreadsheet.zip" in answer["Content-Disposition"]


def test_a_small_campaign_is_downloaded_from_the_request_and_nothing_is_kept(
    site, judged, files, monkeypatch
) -> None:
    monkeypatch.setattr(kept_bundles, "JUDGEMENTS_AT_ONCE", 10_000)

    page = text_of(site.get(address("scores", judged)))
    content = content_of(site.get(address("bundle", judged)))

    assert "Download bundle (zip)" in page
    assert "Make the bundle" not in page
    assert zipfile.is_zipfile(io.BytesIO(content))
    assert (files(), judged.works.count()) == ([], 0)


def test_the_address_of_small_bundles_says_what_to_do_with_a_large_campaign(site, judged) -> None:
    page = site.get(address("bundle", judged))

    assert page.status_code == 400
    assert f"POST to /api/v1/campaigns/{judged.pk}/bundle/" in text_of(page)


# Killed, failed, withdrawn


@pytest.mark.exhaustive
@pytest.mark.parametrize("moment", ["half-way", "with the file in its place"])
def test_a_worker_that_is_killed_is_followed_by_another_with_the_same_bytes(
    judged, monkeypatch, files, moment
) -> None:
    expected = made_of(judged).result["sha256"]
    works._rows_remove(judged.works.all())
    work = asked_of(judged)
    where = "bundle_write" if moment == "half-way" else "sums_of"
    whole = getattr(kept_bundles, where)

    def killed(*args, **options):
        raise SystemExit

    # Killed: nothing is tidied either.
    monkeypatch.setattr(kept_bundles, where, killed)
    monkeypatch.setitem(
        works.DEEDS,
        "bundle",
        works.DEEDS["bundle"].__class__(works.bundle_require, works.bundle_is_quick, works._bundle),
    )
    with pytest.raises(SystemExit):
        work_carry_out(work_pk=work.pk)
    left = files()
    monkeypatch.setattr(kept_bundles, where, whole)

    assert not work_carry_out(work_pk=work.pk), "it was heard a moment ago"
    CampaignWork.objects.update(heartbeat_at=now() - 2 * stale_after())
    assert work_carry_out(work_pk=work.pk)

    work.refresh_from_db()
    assert [name for name in left if name.startswith(f"{work.pk}/")] == (
        [] if moment == "half-way" else [f"{work.pk}/1.zip"]
    )
    assert (work.state, work.attempt, work.lost) == ("done", 2, 1)
    assert work.result["sha256"] == expected
    assert [name for name in files() if name.startswith(f"{work.pk}/")] == [f"{work.pk}/2.zip"]


def test_a_bundle_that_is_withdrawn_while_it_is_made_leaves_no_row_and_no_file(
    judged, monkeypatch, files
) -> None:
    work = asked_of(judged)
    put = kept_bundles.shared_put

    def withdrawn(path: Path) -> None:
        put(path)
        work_remove(work=work)

    monkeypatch.setattr(kept_bundles, "shared_put", withdrawn)

    assert not work_carry_out(work_pk=work.pk)
    assert not judged.works.exists()
    assert files() == []


def test_what_fails_is_said_in_a_sentence_and_dismissed_and_can_be_asked_for_again(site, judged) -> None:
    site.post(address("bundle_make", judged))
    work = judged.works.get()
    first, second = judged.dataset.pairs.all()[:2]
    first.external_id, second.external_id = "x  y", "x y"
    first.save()
    second.save()

    assert not work_carry_out(work_pk=work.pk)
    failed = text_of(site.get(address("scores", judged)))
    site.post(address("work_remove", judged, work.pk))
    dismissed = text_of(site.get(address("scores", judged)))

    assert "The bundle was not made: Two pairs have ids that differ only in white space" in failed
    assert "The bundle was not made" not in dismissed
    second.external_id = "z"
    second.save()
    assert made_of(judged).state == "done"


@pytest.mark.exhaustive
def test_a_full_disk_is_one_sentence_and_nothing_is_left(site, judged, files, monkeypatch) -> None:
    site.post(address("bundle_make", judged))

    def full(*args, **options):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("annotation.results.bundle.zip_folder", full)

    assert not work_carry_out(work_pk=judged.works.get().pk)
    assert "The bundle was not made: The disk is full" in text_of(site.get(address("scores", judged)))
    assert files() == []


def test_three_workers_that_stopped_responding_are_said(site, judged) -> None:
    site.post(address("bundle_make", judged))
    CampaignWork.objects.update(
        state="running", lost=LOST_MAX - 1, heartbeat_at=now() - timedelta(hours=1), attempt=3
    )

    assert not work_carry_out(work_pk=judged.works.get().pk)

    page = text_of(site.get(address("scores", judged)))
    assert "The bundle was not made: 3 workers stopped responding" in page


def test_nothing_is_made_where_no_judgement_counts(site, judged) -> None:
    judged.participations.first().judgements.model.objects.update(status="excluded")

    page = text_of(site.post(address("bundle_make", judged), follow=True))

    assert "“Relatedness” has no judgements that count yet." in page
    assert not judged.works.exists()


# The file


def test_a_bundle_is_read_on_another_machine(machines, judged, curator) -> None:
    with machines.another():
        work = made_of(judged)
    site = client_of(curator)

    content = content_of(site.get(address("bundle_file", judged, work.pk)))

    assert zipfile.is_zipfile(io.BytesIO(content))
    assert shared_names("bundles") == ([work.result["path"]] if machines.shared else [])


def test_a_bundle_goes_everywhere_with_its_row(
    machines, judged, home, django_capture_on_commit_callbacks
) -> None:
    made_of(judged)
    with django_capture_on_commit_callbacks(execute=True):
        works.bundles_withdraw(Campaign.objects.filter(pk=judged.pk))

    assert not judged.works.exists()
    assert shared_names("bundles") == []
    assert list((home / "bundles").rglob("*.zip")) == []


def test_a_file_that_is_gone_or_changed_is_said_and_made_again(site, judged, home) -> None:
    work = made_of(judged)
    path = home / work.result["path"]
    path.write_bytes(b"cut off")
    changed = text_of(site.get(address("bundle_file", judged, work.pk)))
    path.unlink()
    gone = text_of(site.get(address("bundle_file", judged, work.pk)))

    again = made_of(judged)

    assert "was changed or cut off on the disk; have a new one made" in changed
    assert "The file of this bundle is gone" in gone
    assert again.pk != work.pk
    assert zipfile.is_zipfile(io.BytesIO(content_of(site.get(address("bundle_file", judged, again.pk)))))


def test_a_store_that_is_away_costs_no_bundle(judged, monkeypatch) -> None:
    work = made_of(judged)

    def away(*_names: str) -> None:
        raise StorageAway("The file storage does not answer.")

    with monkeypatch.context() as changed:
        changed.setattr(kept_bundles, "shared_path", away)
        with pytest.raises(StorageAway):
            asked_of(judged)

    assert asked_of(judged) == work


def test_what_no_row_names_goes_after_an_hour(machines, judged, home, files) -> None:
    work, lost = made_of(judged), made_of(judged, spreadsheet=True)
    CampaignWork.objects.filter(
        pk=lost.pk
    ).delete()  # as if the process was killed before it removed the file
    (home / "bundles" / "notes").mkdir()

    bundles_tidy(at=now())
    soon = files()
    bundles_tidy(at=now() + timedelta(hours=2))

    assert len(soon) == 2
    assert files() == [f"{work.pk}/1.zip"]
    assert shared_names("bundles") == ([work.result["path"]] if machines.shared else [])
    assert (home / "bundles" / "notes").is_dir(), "nobody's number"


def test_notes_that_are_erased_are_in_no_bundle_that_is_kept(
    site, judged, files, django_capture_on_commit_callbacks
) -> None:
    person = judged.participations.first()
    Flag.objects.create(
        tuple=judged.tuples.first(),
        participation=person,
        kind="skip",
        reason="broken",
        note="My cousin wrote this.",
        created_at=now(),
    )
    made_of(judged)
    assert len(files()) == 1

    with django_capture_on_commit_callbacks(execute=True):
        person_erase(user=person.user, by=person.user, at=now())

    assert (files(), judged.works.count()) == ([], 0)


def test_a_bundle_asked_for_while_somebody_is_being_erased_goes_too(
    judged, files, django_capture_on_commit_callbacks
) -> None:
    person = judged.participations.first()

    with django_capture_on_commit_callbacks(execute=True):
        person_erase(user=person.user, by=person.user, at=now())
        made_of(judged)
        assert len(files()) == 1

    assert (files(), judged.works.count()) == ([], 0)


# Who may


def test_others_neither_make_nor_download_it(judged, site) -> None:
    work = made_of(judged)
    annotator = client_of(MembershipFactory(dataset=judged.dataset).user)
    stranger = client_of(UserFactory())
    staff = client_of(UserFactory(is_staff=True))

    for client, status in ((annotator, 403), (stranger, 404), (staff, 403)):
        assert client.post(address("bundle_make", judged)).status_code == status
        assert client.get(address("bundle_file", judged, work.pk)).status_code == status
        assert client.post(address("work_remove", judged, work.pk)).status_code == status
    assert "Bundle" not in text_of(staff.get(address("scores", judged)))
    assert judged.works.count() == 1


def test_a_bundle_of_another_campaign_is_not_found_under_this_one(site, judged) -> None:
    other = Campaign.objects.create(dataset=judged.dataset, name="Other", state="open")
    work = made_of(judged)

    assert site.get(address("bundle_file", other, work.pk)).status_code == 404


@pytest.mark.exhaustive
def test_a_bundle_of_an_archived_dataset_is_made_withdrawn_and_downloaded(site, judged) -> None:
    Dataset.objects.filter(pk=judged.dataset_id).update(archived=True)
    site.post(address("bundle_make", judged))
    shown = text_of(site.get(address("scores", judged)))
    site.post(address("work_remove", judged, judged.works.get().pk))
    assert not judged.works.exists()

    site.post(address("bundle_make", judged))
    work = judged.works.get()
    work_carry_out(work_pk=work.pk)

    assert "Cancel" in shown
    assert zipfile.is_zipfile(io.BytesIO(content_of(site.get(address("bundle_file", judged, work.pk)))))


# Programs


def test_a_program_has_a_bundle_made_and_downloads_it(program, curator, judged) -> None:
    client, api = program(curator), f"/api/v1/campaigns/{judged.pk}/"

    asked = client.post(f"{api}bundle/", {}, format="json")
    again = client.post(f"{api}bundle/", {"spreadsheet": False}, format="json")
    early = client.get(f"{asked['Location']}bundle.zip")
    before = client.get(asked["Location"]).json()
    work_carry_out(work_pk=asked.json()["id"])
    after = client.get(asked["Location"]).json()
    answer = client.get(after["bundle"]["address"])
    content = content_of(answer)
    done = client.post(f"{api}bundle/", {}, format="json")

    assert (asked.status_code, again.status_code, done.status_code) == (202, 202, 201)
    assert again.json()["id"] == done.json()["id"] == asked.json()["id"]
    assert (early.status_code, before["bundle"]) == (404, None)
    assert len(content) == after["bundle"]["size"]
    manifest = zipfile.ZipFile(io.BytesIO(content)).read("relatedness-bundle/manifest.json")
    assert json.loads(manifest)["judgements"] == after["bundle"]["judgements"]
    assert client.get(f"{api}bundle.zip").status_code == 400


def test_a_program_has_the_bundle_of_a_small_campaign_at_once(program, curator, judged, monkeypatch) -> None:
    monkeypatch.setattr(kept_bundles, "JUDGEMENTS_AT_ONCE", 10_000)
    client = program(curator)

    asked = client.post(f"/api/v1/campaigns/{judged.pk}/bundle/", {"spreadsheet": True}, format="json")

    assert asked.status_code == 201
    assert zipfile.is_zipfile(io.BytesIO(content_of(client.get(asked.json()["bundle"]["address"]))))


def test_programs_of_others_are_refused(program, judged) -> None:
    annotator = MembershipFactory(dataset=judged.dataset).user
    work = made_of(judged)
    client, api = program(annotator), f"/api/v1/campaigns/{judged.pk}/"

    assert client.post(f"{api}bundle/", {}, format="json").status_code == 403
    assert client.get(f"{api}works/{work.pk}/bundle.zip").status_code == 403
