"""A dataset with one object of every kind that an address can name, and who asks for it."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.apps import apps
from django.conf import settings
from django.utils.timezone import now

from annotation.campaigns.norming import norming_start
from annotation.crowds.services import crowd_of
from annotation.models import (
    Campaign,
    CampaignWork,
    CrowdConsent,
    CrowdPerson,
    CrowdSubmission,
    Lease,
    PairRating,
    SliderArm,
    SliderPair,
)
from curation.exchange.exporting import snapshot_create
from curation.files.writing import sha256_of
from curation.models import (
    AuditEntry,
    Composition,
    DuplicateSearch,
    ImportBatch,
    ReviewDecision,
    SplitChange,
)
from curation.people.members import invitation_create
from curation.people.webhooks.services import webhook_create, webhook_try
from mlworkers.models import Run, WorkerHeartbeat
from tests.factories import (
    ArtifactFactory,
    CampaignFactory,
    DatasetFactory,
    EvaluationFactory,
    FlagFactory,
    GeneratedPairFactory,
    GoldFactory,
    MembershipFactory,
    PairFactory,
    ParticipationFactory,
    RunFactory,
    ScoreSetFactory,
    TupleFactory,
    UserFactory,
    token_of,
)

MEMBERS = ("annotator", "curator", "owner")
PEOPLE = ("stranger", *MEMBERS, "elsewhere", "staff", "superuser")
# Which kind of run an address with the number of a run is about; all others show a run of any kind.
KINDS = {
    "search_csv": "search_settings",
    "paraphrased": "try_paraphraser",
    "api_trial": "try_paraphraser",
    "related": "relate_sentences",
    "sentences_searched": "search_sentences",
    "api_sentences_searched": "search_sentences",
    "corpus": "index_corpus",
    "api_corpus_contexts": "index_corpus",
    "context_scores": "score_contexts",
    "context_curves": "measure_context_curves",
    "pair_contexts": "score_contexts",
    "language": "analyse_language",
    "relatedness": "analyse_relatedness",
    "cross_validation": "cross_validate_encoder",
    "requested": "write_paraphrases",
    "selection": "select_paraphrases",
    "corpora": "profile_corpora",
    "comparison": "compare_weightings",
    "augmentations": "compare_augmentations",
    "pre_fine_tuning": "compare_pre_fine_tuning",
    "comparison_suites": "compare_weightings",
    "run_again": "export_dataset",
    "api_run_again": "export_dataset",
}
ROUND_TRIPS = ("round_trip", "rating", "rate", "api_round_trip", "api_rating")


class Others:
    """The objects, and for each named part of an address what to put there.

    mark: what stands behind the names of people and datasets, where there are several of these.
    """

    def __init__(self, mark: str = "") -> None:
        self._mark = mark
        self.dataset = DatasetFactory(slug=f"theirs{mark}")
        self.elsewhere = DatasetFactory(slug=f"elsewhere{mark}")
        self.people = {"stranger": UserFactory(username=f"stranger{mark}")}
        for role in MEMBERS:
            self.people[role] = MembershipFactory(
                dataset=self.dataset, role=role, user__username=f"{role}{mark}"
            ).user
        self.people["elsewhere"] = MembershipFactory(
            dataset=self.elsewhere, role="owner", user__username=f"elsewhere{mark}"
        ).user
        self.people["staff"] = UserFactory(username=f"staff{mark}", is_staff=True)
        self.people["superuser"] = UserFactory(username=f"superuser{mark}", is_staff=True, is_superuser=True)
        self._rows()
        self._campaign()
        self._runs()

    def _rows(self) -> None:
        dataset, owner = self.dataset, self.people["owner"]
        self.scores = ScoreSetFactory(dataset=dataset, name="reference")
        pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
        self.realism = dataset.score_sets.get(kind="realism")
        self.pair = PairFactory(dataset=dataset)
        decision = ReviewDecision.objects.create(
            sentence=pair.b, pair=pair, reviewer=owner, verdict="keep", decided_at=now(), client_id=uuid4(),
            frame="lowest",
        )  # fmt: skip
        edit = AuditEntry.objects.create(
            dataset=dataset,
            by=owner,
            via="site",
            action="pairs_edited",
            pairs=0,
            details={"set": {"split": "train"}},
        )
        hook = webhook_create(dataset=dataset, url="https://example.org/in", events=[], by=owner)
        search = DuplicateSearch.objects.create(dataset=dataset, threshold=0.8, state="done")
        token_of(owner)
        for _number in range(2):
            snapshot_create(dataset=dataset, by=owner)
        invitation, self.invitation = invitation_create(
            dataset=dataset, role="annotator", people=1, days=14, by=owner, at=now()
        )
        self.values: dict[str, Any] = {
            "slug": dataset.slug,
            "pair_pk": self.pair.pk,
            "pair": self.pair.pk,
            "decision_pk": decision.pk,
            "entry_pk": edit.pk,
            "search_pk": search.pk,
            "change_pk": SplitChange.objects.create(dataset=dataset, pairs=0).pk,
            "webhook_pk": hook.pk,
            "delivery_pk": webhook_try(webhook=hook, at=now()).pk,
            "composition_pk": Composition.objects.create(dataset=dataset, pairs=0).pk,
            "invitation_pk": invitation.pk,
            "member_pk": dataset.memberships.get(user=self.people["annotator"]).pk,
            "score_set_pk": self.scores.pk,
            "other_pk": self.realism.pk,
            "token_pk": owner.api_tokens.get().pk,
            "session_pk": 1,
            "number": 1,
            "since": 2,
            "id": self.people["annotator"].pk,
            "content_type_id": 1,
            "kind": "export_dataset",
            "name": "none",
            "address": "nowhere",
            "uidb64": "MQ",
            "file_format": "csv",
        }

    def _campaign(self) -> None:
        self.campaign: Campaign = CampaignFactory(dataset=self.dataset)
        waiting = TupleFactory(campaign=self.campaign, leased=1)
        gold = GoldFactory(campaign=self.campaign)
        holds_one = {"user": self.people["annotator"], "handed": 1}
        participation = ParticipationFactory(campaign=self.campaign, **holds_one)
        lease = Lease.objects.create(
            tuple=waiting,
            participation=participation,
            order_shown=[0, 1, 2, 3],
            claimed_at=now(),
            expires_at=now(),
        )
        norming_start(campaign=self.campaign, people=2, drawn=1)
        # The curator rates in the slider arm, and nobody else does.
        arm = SliderArm.objects.create(campaign=self.campaign, question="How close?", ratings_per_pair=2)
        rated = SliderPair.objects.create(arm=arm, number=1, pair=waiting.items.get(slot=0).pair)
        rater = ParticipationFactory(campaign=self.campaign, user=self.people["curator"], rates=True)
        rating = {"value": 50, "client_id": uuid4(), "submitted_at": now()}
        PairRating.objects.create(rated=rated, participation=rater, **rating)
        work = CampaignWork.objects.create(campaign=self.campaign, kind="publish", key="k", asked_at=now())
        self.bundle = self._kept_bundle()
        flag = FlagFactory(tuple=waiting, participation=participation)
        crowd = crowd_of(self.campaign)
        crowd.is_open, crowd.token = True, f"{'t' * 43}{self._mark}"[-43:]
        crowd.save()
        consent = CrowdConsent.objects.create(crowd=crowd, version=1, text="I agree.")
        sent = ParticipationFactory(campaign=self.campaign)  # somebody whom a platform sent
        facts = {"external_id": "x", "consent": consent, "consented_at": now()}
        person = CrowdPerson.objects.create(crowd=crowd, participation=sent, **facts)
        CrowdSubmission.objects.create(person=person, entered_at=now())
        self.crowd, self.crowd_person, self.participation = crowd, person, participation
        # What these addresses read before they look for the object: with less, everybody would be told what is missing.
        self.bodies: dict[str, dict[str, Any]] = {
            "api_judgements": {"lease": lease.pk, "best": 0, "worst": 1, "client_id": str(uuid4())},
            "api_skip": {"lease": lease.pk, "reason": "broken"},
            "api_flag": {"lease": lease.pk, "reason": "comment", "note": "Both are questions."},
            "api_campaign_move": {"move": "pause"},
            "rating_answer": {"pair": rated.pk, "value": 50, "client_id": str(uuid4())},
        }
        self.values |= {
            "campaign_pk": self.campaign.pk,
            "tuple_pk": gold.pk,
            "work_pk": work.pk,
            "flag_pk": flag.pk,
            "user_pk": self.people["curator"].pk,
            "client_id": UUID(int=1),
        }

    def _kept_bundle(self) -> CampaignWork:
        path = Path(settings.SEMBLANCE_HOME) / "bundles" / "1.zip"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"zip")
        kept = {"path": "bundles/1.zip", "sha256": sha256_of(path), "size": 3, "judgements": 1}
        kept |= {"mark": "m", "state": "s", "read_at": now().isoformat()}
        return CampaignWork.objects.create(
            campaign=self.campaign,
            kind="bundle",
            key="b",
            state="done",
            asked={"spreadsheet": False},
            asked_at=now(),
            result=kept,
        )

    def _runs(self) -> None:
        self.runs = {
            kind: RunFactory(
                kind=kind, dataset=self.dataset, state="running", started_by=self.people["owner"]
            )
            for kind in {*KINDS.values(), "export_dataset", "translate_round_trip"}
        }
        trained = RunFactory(kind="train_encoder", dataset=self.dataset, state="succeeded")
        self.model = ArtifactFactory(run=trained)
        self.paraphraser = ArtifactFactory(run=trained, kind="paraphraser", path="runs/1/1/p")
        self.evaluation = EvaluationFactory(run=trained)
        self.worker = WorkerHeartbeat.objects.create(
            name=f"gpu@host{self._mark}/1", queues=["gpu"], seen_at=now()
        )
        self.values["artifact_pk"] = self.model.pk

    def value(self, name: str, route: str, part: str) -> Any:
        """What stands at the named part of the address with that name."""
        if part == "batch_pk":
            return self._batch(route).pk
        if part == "object_id":
            return self._in_the_administration(route)
        if part == "token":
            return self.crowd.token if route.startswith("crowd/") else self.invitation
        if part == "person_pk":
            own = "signs", "annotator", "erase", "reinstate"
            people = self.participation if any(each in name for each in own) else self.crowd_person
            return people.pk
        if part == "pk" and "worker" in name:
            return self.worker.pk
        known = self.values | ({"work_pk": self.bundle.pk} if "bundle" in route else {})
        return self._number(name, route) if part == "pk" else known[part]

    @staticmethod
    def _in_the_administration(route: str) -> int:
        """The first object of the model that an address of the administration names; 0 where there is none."""
        _admin, app, model = route.split("/")[:3]
        found = (
            app != "r"
            and apps.get_model(app, model).objects.order_by("pk").values_list("pk", flat=True).first()
        )
        return found or 0

    def _batch(self, route: str) -> ImportBatch:
        kind = "pairs" if "import" in route else "judgements" if "judgements" in route else "sentences"
        named = {"file_name": "a.csv"}
        return ImportBatch.objects.get_or_create(dataset=self.dataset, kind=kind, defaults=named)[0]

    def _number(self, name: str, route: str) -> int:
        if "realism/" in route:
            return self.realism.pk
        if name in {"paraphrase", "api_try_paraphraser"}:
            return self.paraphraser.pk
        if name.startswith("artifact-") or name == "model_detail":
            return self.model.pk
        if name == "evaluation-detail":
            return self.evaluation.pk
        if name == "artifact_download":
            return self.model.run_id
        return self._run(name).pk

    def _run(self, name: str) -> Run:
        if name.startswith(ROUND_TRIPS):
            return self.runs["translate_round_trip"]
        return self.runs[KINDS.get(name) or KINDS.get(name.removesuffix("_csv"), "export_dataset")]
