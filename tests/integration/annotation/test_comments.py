"""Comments on tuples: an annotator writes them, the owner reads them, and the bundle has them without names."""

import pytest

from annotation.judging.assignment import RefusedError, judgement_submit, tuple_claim, tuple_flag, tuple_skip
from annotation.models import Flag, Judgement
from annotation.results.bundle import bundle_write
from tests.factories import client_of
from tests.integration.annotation.pages import address, hidden, new_id, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture


def test_a_comment_reaches_the_owner_and_the_pairs_are_still_judged(campaign, annotator, curator) -> None:
    site = client_of(annotator)
    page = site.get(address("judge", campaign))
    sent = {"lease": hidden(page, "lease"), "reason": "comment", "place": 2, "note": "Both speak of a river."}

    answer = site.post(address("tuple_flag", campaign), sent)
    inbox = text_of(client_of(curator).get(address("inbox", campaign)))

    assert answer.status_code == 302
    assert "comment" in inbox
    assert "Both speak of a river." in inbox
    assert "nothing is wrong" not in inbox
    assert hidden(site.get(address("judge", campaign)), "lease") == sent["lease"]
    assert Flag.objects.get().slot is not None


def test_a_comment_needs_words(campaign, anna, at) -> None:
    lease = tuple_claim(participation=anna, at=at)

    with pytest.raises(RefusedError, match="Write the comment into the note"):
        tuple_flag(participation=anna, tuple_id=lease.tuple_id, reason="comment", note="  ", at=at)


def test_nobody_skips_by_a_comment(campaign, anna, at, annotator) -> None:
    lease = tuple_claim(participation=anna, at=at)

    with pytest.raises(RefusedError, match="A comment skips nothing"):
        tuple_skip(participation=anna, tuple_id=lease.tuple_id, reason="comment", note="Nice.", at=at)
    page = client_of(annotator).get(address("tuple_skip", campaign))
    assert "only a comment" not in text_of(page)
    assert "only a comment" in text_of(client_of(annotator).get(address("tuple_flag", campaign))).lower()


def test_a_program_comments(campaign, program, annotator) -> None:
    api, place = program(annotator), f"/api/v1/campaigns/{campaign.pk}/"
    lease = api.post(f"{place}claim/").json()["lease"]

    said = {"lease": lease, "reason": "comment", "note": "Twice the same.", "pair": 0}
    answer = api.post(f"{place}flag/", said, format="json")
    beyond = api.post(f"{place}flag/", said | {"pair": 9}, format="json")

    assert (answer.status_code, answer.json()["note"]) == (201, "Twice the same.")
    assert beyond.status_code == 400


def test_the_bundle_has_skips_flags_and_comments_without_names(judged, tmp_path, at) -> None:
    anna = judged.participations.get(user__username="anna")
    answered = list(anna.leases.order_by("pk").values_list("tuple_id", flat=True)[:2])
    tuple_flag(
        participation=anna, tuple_id=answered[0], reason="comment", note="anna thinks of ben.", at=at, slot=1
    )
    tuple_flag(participation=anna, tuple_id=answered[1], reason="broken", note="", at=at)

    bundle_write(campaign=judged, path=tmp_path / "bundle")

    lines = (tmp_path / "bundle" / "flags.csv").read_text().splitlines()
    assert lines[0] == "annotator,kind,tuple,gold,item,reason,note"
    first, second = lines[1:]
    assert first.startswith("A001,comment,")
    assert first.endswith(",,A001 thinks of A002.")
    assert second.startswith("A001,flag,")
    assert ",broken," in second


def test_a_comment_survives_the_judgement(campaign, anna, at) -> None:
    lease = tuple_claim(participation=anna, at=at)
    tuple_flag(participation=anna, tuple_id=lease.tuple_id, reason="comment", note="Fine.", at=at)

    judgement_submit(
        participation=anna, tuple_id=lease.tuple_id, best_slot=0, worst_slot=1, client_id=new_id(), at=at
    )

    assert (
        Judgement.objects.filter(participation=anna).count()
        == Flag.objects.filter(participation=anna).count()
        == 1
    )
