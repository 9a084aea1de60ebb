"""Webhooks: who is told of what, how often it is tried, and who may see and change them."""

import contextlib
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from uuid import uuid4

import pytest

from annotation.campaigns.finishing import finished_tell
from annotation.campaigns.services import campaign_close, campaign_resume
from annotation.judging.settling import participation_stop
from curation.datasets.services import dataset_archive
from curation.foundation import connections
from curation.foundation.errors import UserError
from curation.models import AuditEntry, Webhook, WebhookDelivery
from curation.people.audit import Action, audit_record
from curation.people.outgoing import CLAIMED_FOR, Outcome
from curation.people.webhooks import sending, waiting
from curation.people.webhooks.events import Event, event_happened
from curation.people.webhooks.sending import PAUSES, deliveries_carry_out
from curation.people.webhooks.services import (
    MOST,
    delivery_again,
    webhook_change,
    webhook_create,
    webhook_remove,
    webhook_secret_renew,
    webhook_try,
)
from curation.people.webhooks.signing import signature
from curation.people.webhooks.waiting import State, deliveries_sweep
from curation.review.queue import Queue
from curation.review.verdicts import review_decide
from mlworkers.runs.lifecycle import Claim, RunStopped, run_cancel, run_fail, run_finish
from tests.factories import (
    CampaignFactory,
    GeneratedPairFactory,
    ParticipationFactory,
    RunFactory,
    TupleFactory,
)

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Receiver(ThreadingHTTPServer):
    """Answers each message with the next of `answers`, and keeps what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.answers: list[int] = []
        self.came: list[tuple[str, dict[str, str], bytes]] = []


class Answer(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.came.append((self.path, headers, body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        if self.path == "/moved":
            self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.PRIVATE_ADDRESSES = True
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def clock(monkeypatch):
    """The database's clock, which the test moves."""

    class Clock:
        now = AT

    for module in (sending, waiting):
        monkeypatch.setattr(module, "database_now", lambda: Clock.now)
    return Clock


@pytest.fixture
def hook(dataset, owner, receiver) -> Webhook:
    address = f"http://127.0.0.1:{receiver.server_port}/in"
    return webhook_create(dataset=dataset, url=address, events=list(Event), by=owner)


def told(hook: Webhook) -> list[tuple[str, str]]:
    return list(hook.deliveries.order_by("pk").values_list("event", "key"))


def happened(hook: Webhook, key: str = "run 7") -> WebhookDelivery:
    event_happened(dataset=hook.dataset_id, event=Event.RUN_FINISHED, key=key, data={"run": 7})
    WebhookDelivery.objects.filter(webhook=hook, key=key).update(next_at=AT, made_at=AT)
    return hook.deliveries.get(key=key)


def test_a_message_is_signed_and_says_what_happened(hook, receiver, clock) -> None:
    delivery = happened(hook)

    assert deliveries_carry_out() == 1

    ((path, headers, body),) = receiver.came
    assert path == "/in"
    assert json.loads(body) == {
        "type": "run.finished",
        "timestamp": AT.isoformat(),
        "data": {"dataset": hook.dataset.slug, "run": 7},
    }
    assert headers["webhook-id"] == delivery.message_id
    signed = {"message_id": delivery.message_id, "timestamp": int(AT.timestamp()), "body": body}
    assert headers["webhook-signature"] == signature(hook.secret, **signed)
    assert headers["webhook-timestamp"] == str(signed["timestamp"])
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries, delivery.status) == (State.DELIVERED, 1, 204)


def test_what_fails_is_tried_again_with_growing_pauses_and_then_given_up(hook, receiver, clock) -> None:
    delivery = happened(hook)
    receiver.answers = [500] * (len(PAUSES) + 1)

    for pause in (*PAUSES, None):
        assert deliveries_carry_out() == 0
        assert deliveries_carry_out() == 0  # not before its time
        delivery.refresh_from_db()
        assert delivery.problem == "The receiver answered with the status 500."
        if pause is not None:
            assert (delivery.state, delivery.next_at) == (State.WAITING, clock.now + pause)
            clock.now += pause

    assert delivery.state == State.FAILED
    assert len(receiver.came) == len(PAUSES) + 1
    assert len({headers["webhook-id"] for _path, headers, _body in receiver.came}) == 1
    assert sum(PAUSES, timedelta()) > timedelta(days=3)

    delivery_again(delivery=delivery, at=clock.now)
    assert deliveries_carry_out() == 1


def test_a_redirect_is_a_failure_and_is_not_followed(hook, receiver, clock) -> None:
    Webhook.objects.update(url=hook.url.replace("/in", "/moved"))
    delivery = happened(hook)
    receiver.answers = [302]

    assert deliveries_carry_out() == 0

    delivery.refresh_from_db()
    assert [path for path, *_rest in receiver.came] == ["/moved"]
    assert delivery.problem == "The receiver answered with the status 302."


def test_an_address_inside_the_network_is_not_asked(hook, receiver, clock, settings) -> None:
    settings.PRIVATE_ADDRESSES = False
    delivery = happened(hook)

    assert deliveries_carry_out() == 0

    delivery.refresh_from_db()
    assert receiver.came == []
    assert "an address inside a network, which PRIVATE_ADDRESSES would have to allow" in delivery.problem


def test_a_receiver_that_is_not_there_is_a_failure_in_words(hook, receiver, clock) -> None:
    Webhook.objects.update(url="http://127.0.0.1:1/in")
    delivery = happened(hook)

    assert deliveries_carry_out() == 0

    delivery.refresh_from_db()
    assert delivery.problem
    assert delivery.state == State.WAITING


def test_what_another_worker_is_sending_is_left_to_it(hook, receiver, clock, monkeypatch) -> None:
    happened(hook)
    tried = []
    monkeypatch.setattr(
        sending,
        "delivery_try",
        lambda delivery: tried.append((delivery.pk, deliveries_carry_out())) or Outcome(),
    )

    assert deliveries_carry_out() == 1
    assert len(tried) == 1


def test_what_a_killed_worker_was_sending_another_sends_once_a_minute_later(
    hook, receiver, clock, monkeypatch
) -> None:
    delivery = happened(hook)

    def killed(_delivery: WebhookDelivery) -> Outcome:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(sending, "delivery_try", killed)
        with pytest.raises(SystemExit):
            deliveries_carry_out()
    clock.now += CLAIMED_FOR - timedelta(seconds=1)
    early = deliveries_carry_out()
    clock.now += timedelta(seconds=1)
    later = [deliveries_carry_out() for _worker in range(2)]

    delivery.refresh_from_db()
    assert (early, later, len(receiver.came)) == (0, [1, 0], 1)
    assert (delivery.state, delivery.tries) == (State.DELIVERED, 1)


def test_an_error_that_nobody_foresaw_is_a_failed_try_and_the_other_rows_are_sent(
    hook, receiver, clock, monkeypatch
) -> None:
    broken, other = happened(hook), happened(hook, "run 8")
    send = sending.delivery_try

    def breaks(delivery: WebhookDelivery) -> Outcome:
        return send(delivery) if delivery == other else Outcome(str(1 / 0))

    monkeypatch.setattr(sending, "delivery_try", breaks)
    done = [deliveries_carry_out()]
    for pause in PAUSES:
        clock.now += pause
        done.append(deliveries_carry_out())

    broken.refresh_from_db()
    assert (done, len(receiver.came)) == ([1] + [0] * len(PAUSES), 1)
    assert (broken.state, broken.tries) == (State.FAILED, len(PAUSES) + 1)
    assert broken.problem == "An unexpected error stopped it; the log describes it."


def test_a_webhook_is_told_once_of_the_same(hook) -> None:
    happened(hook)
    happened(hook)

    assert told(hook) == [("run.finished", "run 7")]


def test_only_who_chose_the_event_is_told_and_nobody_of_an_archived_dataset(dataset, hook, owner) -> None:
    webhook_change(webhook=hook, url=hook.url, events=[Event.CAMPAIGN_CLOSED], active=True, by=owner)
    facts = {"dataset": dataset.pk, "key": "x", "data": {}}

    assert event_happened(event=Event.RUN_FINISHED, **facts) == 0
    assert event_happened(event=Event.CAMPAIGN_CLOSED, **facts) == 1
    webhook_change(webhook=hook, url=hook.url, events=list(Event), active=False, by=owner)
    assert event_happened(event=Event.RUN_FINISHED, **facts) == 0
    webhook_change(webhook=hook, url=hook.url, events=list(Event), active=True, by=owner)
    dataset_archive(dataset=dataset, by=owner)
    assert event_happened(event=Event.RUN_FINISHED, **facts) == 0


def test_runs_tell_that_they_succeeded_or_failed_and_not_that_they_were_cancelled(dataset, hook) -> None:
    good, bad, cancelled = (
        RunFactory(dataset=dataset, kind="train_encoder", state="running", attempt=1) for _n in range(3)
    )

    run_finish(claim=Claim(good.pk, 1), at=AT, result={})
    run_fail(claim=Claim(bad.pk, 1), at=AT, message="no")
    run_cancel(run_id=cancelled.pk, at=AT, message="")
    with pytest.raises(RunStopped):
        run_finish(claim=Claim(cancelled.pk, 1), at=AT, result={})

    kind = {"kind": "train_encoder"}
    assert list(hook.deliveries.order_by("pk").values_list("data", flat=True)) == [
        {"run": good.pk, "state": "succeeded", **kind},
        {"run": bad.pk, "state": "failed", **kind},
    ]


def test_a_campaign_tells_when_it_has_all_its_judgements_and_again_after_it_has_grown(dataset, hook) -> None:
    campaign = CampaignFactory(dataset=dataset)
    waiting = TupleFactory(campaign=campaign, required=2, collected=1)
    assert finished_tell() == 0

    waiting.collected = 2
    waiting.save()
    assert finished_tell() == 1
    assert finished_tell() == 1  # asked once a minute, written once
    TupleFactory(campaign=campaign, required=1, collected=1)
    finished_tell()

    assert told(hook) == [
        ("campaign.finished", f"campaign {campaign.pk} with 2 judgements"),
        ("campaign.finished", f"campaign {campaign.pk} with 3 judgements"),
    ]


def test_each_closing_of_a_campaign_is_told(dataset, hook) -> None:
    campaign = CampaignFactory(dataset=dataset, name="News")

    campaign_close(campaign=campaign)
    campaign_resume(campaign=campaign)
    campaign_close(campaign=campaign)

    assert [event for event, _key in told(hook)] == ["campaign.closed"] * 2
    assert hook.deliveries.first().data == {"campaign": campaign.pk, "name": "News"}


def test_an_annotator_who_is_stopped_is_told_of_once_and_without_a_name(dataset, hook, annotator) -> None:
    person = ParticipationFactory(campaign=CampaignFactory(dataset=dataset), user=annotator)

    participation_stop(participation=person, reason="Too fast.")
    participation_stop(participation=person, reason="Too fast.", exclude=True)

    (delivery,) = hook.deliveries.all()
    assert delivery.event == "annotator.stopped"
    assert delivery.data == {
        "campaign": person.campaign_id, "participation": person.pk, "rule": False, "gold": False,
    }  # fmt: skip


def test_a_review_tells_with_its_last_verdict(dataset, hook, owner) -> None:
    first, second = (GeneratedPairFactory(dataset=dataset, p_d=p_d) for p_d in (0.1, 0.2))
    queue = Queue(dataset.score_sets.get(kind="realism"))
    decided = {"verdict": "keep", "by": owner, "at": AT, "queue": queue}

    review_decide(pair=first, client_id=uuid4(), **decided)
    assert told(hook) == []
    review_decide(pair=second, client_id=uuid4(), **decided)

    assert told(hook) == [("review.finished", f"review {queue.address} with 2 decisions")]


def test_what_ended_long_ago_is_forgotten_and_what_waits_is_not(hook, clock) -> None:
    happened(hook, "old")
    WebhookDelivery.objects.update(state=State.DELIVERED)
    happened(hook, "new")
    clock.now = AT + timedelta(days=91)

    deliveries_sweep()

    assert [key for _event, key in told(hook)] == ["new"]


def test_a_dataset_has_a_bounded_number_of_webhooks(dataset, owner) -> None:
    for number in range(MOST):
        webhook_create(dataset=dataset, url=f"https://example.org/{number}", events=[], by=owner)

    with pytest.raises(UserError, match="at most 10 webhooks"):
        webhook_create(dataset=dataset, url="https://example.org/more", events=[], by=owner)


def test_a_webhook_that_is_turned_off_sends_no_test(dataset, hook, owner) -> None:
    webhook_change(webhook=hook, url=hook.url, events=list(Event), active=False, by=owner)

    with pytest.raises(UserError, match="turned off"):
        webhook_try(webhook=hook, at=AT)


class Slow(BaseHTTPRequestHandler):
    """Sends its headers byte by byte, each long before the time of one read is over, and has no end."""

    def do_POST(self) -> None:
        with contextlib.suppress(OSError):
            while not self.server.stopped.wait(0.02):  # type: ignore[attr-defined]
                self.wfile.write(b"H")
                self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.mark.parametrize("private", [True, False])
def test_a_receiver_that_sends_a_byte_now_and_then_has_one_deadline(
    hook, clock, settings, monkeypatch, private: bool
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    monkeypatch.setattr(connections, "is_public", lambda _address: True)
    settings.PRIVATE_ADDRESSES = private
    delivery = happened(hook)
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        server.daemon_threads, server.stopped = True, threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        threading.Timer(3, server.stopped.set).start()  # type: ignore[attr-defined]
        Webhook.objects.update(url=f"http://127.0.0.1:{server.server_port}/in")
        begun = monotonic()

        assert deliveries_carry_out() == 0

        took = monotonic() - begun
        server.stopped.set()  # type: ignore[attr-defined]
        server.shutdown()
    delivery.refresh_from_db()
    assert took < 2
    assert delivery.state == State.WAITING
    assert "within 0.3 seconds" in delivery.problem or "timed out" in delivery.problem


def test_one_delivery_ends_well_before_another_worker_takes_its_row() -> None:
    assert timedelta(seconds=2 * sending.SECONDS) < CLAIMED_FOR


SECRET_URL = "https://somebody:pass@example.org:8443/services/T0/SECRET?token=SECRET"


def test_the_log_has_the_site_of_a_webhook_and_neither_path_nor_password(
    dataset, owner, client_of, receiver
) -> None:
    hook = webhook_create(dataset=dataset, url=SECRET_URL, events=list(Event), by=owner)
    webhook_change(webhook=hook, url=SECRET_URL, events=list(Event), active=True, by=owner)
    webhook_secret_renew(webhook=hook, by=owner)
    webhook_remove(webhook=hook, by=owner)

    subjects = AuditEntry.objects.filter(action__startswith="webhook").values_list("subject", flat=True)

    assert list(subjects) == ["https://example.org:8443"] * 4


@pytest.mark.parametrize(
    "address",
    [
        "/datasets/{}/log/",
        "/datasets/{}/log/log.csv",
        "/datasets/{}/log/log.jsonl",
        "/api/v1/datasets/{}/log/",
    ],
)
def test_what_earlier_versions_logged_is_shown_without_its_path(
    dataset, owner, client_of, address: str
) -> None:
    audit_record(dataset=dataset, action=Action.WEBHOOK_ADDED, by=owner, subject=SECRET_URL)

    answer = client_of(owner).get(address.format(dataset.slug))
    shown = b"".join(answer.streaming_content) if answer.streaming else answer.content

    assert answer.status_code == 200
    assert b"https://example.org:8443" in shown
    assert b"SECRET" not in shown


# ---- pages


def test_an_owner_makes_a_webhook_and_sees_its_secret_once(dataset, owner, client_of) -> None:
    client, address = client_of(owner), f"/datasets/{dataset.slug}/webhooks/"
    sent = {"url": "https://example.org/in", "events": ["run.finished"]}

    shown = client.post(address, sent, follow=True)
    hook = Webhook.objects.get()
    again = client.get(f"{address}{hook.pk}/")

    assert hook.secret in shown.content.decode()
    assert hook.secret not in again.content.decode()
    assert (hook.url, hook.events) == ("https://example.org/in", ["run.finished"])
    assert hook.url in client.get(address).content.decode()
    assert AuditEntry.objects.filter(action="webhook_added", subject="https://example.org", by=owner).exists()

    before = hook.secret
    renewed = client.post(f"{address}{hook.pk}/secret/", follow=True).content.decode()
    hook.refresh_from_db()
    assert hook.secret != before
    assert hook.secret in renewed


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"url": "ftp://example.org/x", "events": ["run.finished"]}, "must begin with https:// or http://"),
        ({"url": "nonsense here", "events": ["run.finished"]}, "Enter a valid URL."),
        ({"url": "https://example.org/x", "events": ["run.begun"]}, "run.begun is not one of the available"),
        ({"url": "https://example.org/x"}, "This field is required."),
        *(
            ({"url": f"http://{host}/x", "events": ["run.finished"]}, "This address is inside a network")
            for host in (
                "127.0.0.1",
                "[::1]",
                "169.254.169.254",
                "localhost:8000",
                "[::ffff:10.0.0.7]",
                "[fec0::1]",
            )
        ),
    ],
)
def test_what_is_no_webhook_is_refused_in_a_sentence(dataset, owner, client_of, sent, problem: str) -> None:
    answer = client_of(owner).post(f"/datasets/{dataset.slug}/webhooks/", sent)

    assert problem in answer.content.decode()
    assert not Webhook.objects.exists()


def test_the_page_sends_a_test_message_and_one_again(hook, owner, client_of, receiver, clock) -> None:
    client, address = client_of(owner), f"/datasets/{hook.dataset.slug}/webhooks/{hook.pk}/"
    clock.now = datetime(2100, 1, 1, tzinfo=UTC)

    client.post(f"{address}test/")
    assert deliveries_carry_out() == 1
    page = client.get(address).content.decode()
    client.post(f"{address}deliveries/{hook.deliveries.get().pk}/again/")
    assert deliveries_carry_out() == 1

    assert "A test" in page
    assert "delivered" in page
    assert [json.loads(body)["type"] for *_rest, body in receiver.came] == ["test", "test"]


def test_a_webhook_is_removed_with_its_log(hook, owner, client_of) -> None:
    happened(hook)

    client_of(owner).post(f"/datasets/{hook.dataset.slug}/webhooks/{hook.pk}/remove/")

    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert AuditEntry.objects.filter(action="webhook_removed").exists()


def test_curators_see_no_webhooks(hook, curator, stranger, client_of) -> None:
    address = f"/datasets/{hook.dataset.slug}/webhooks/"

    assert client_of(curator).get(address).status_code == 403
    assert client_of(stranger).get(f"{address}{hook.pk}/").status_code == 404
    assert (
        "Webhooks" not in client_of(curator).get(f"/datasets/{hook.dataset.slug}/settings/").content.decode()
    )
