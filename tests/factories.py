"""Rows for tests, each valid by itself."""

import hashlib
from uuid import uuid4

import factory
from django.test import Client
from django.utils import timezone
from factory.django import DjangoModelFactory

from annotation import models as annotation
from curation import models as curation
from curation.people.accounts.tokens import api_token_create
from mlworkers import models as mlworkers


class UserFactory(DjangoModelFactory):
    class Meta:
        model = curation.User
        django_get_or_create = ("username",)

    username = factory.Sequence(lambda n: f"person{n}")


def token_of(user, scope="write", *, name="", at=None, expires_at=None) -> str:
    """The text of a new token of the person."""
    facts = {
        "name": name or uuid4().hex,
        "scope": scope,
        "expires_at": expires_at,
        "at": at or timezone.now(),
    }
    return api_token_create(user=user, **facts)


def client_of(user) -> Client:
    """A browser in which the person is logged in."""
    client = Client()
    client.force_login(user)
    return client


def program_of(user, scope="write") -> Client:
    """A program with a token of the person, which no page would let in."""
    return Client(headers={"authorization": f"Token {token_of(user, scope)}"})


class DatasetFactory(DjangoModelFactory):
    class Meta:
        model = curation.Dataset

    slug = factory.Sequence(lambda n: f"dataset-{n}")
    name = factory.LazyAttribute(lambda o: o.slug.replace("-", " ").capitalize())


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = curation.Membership

    dataset = factory.SubFactory(DatasetFactory)
    user = factory.SubFactory(UserFactory)
    role = "annotator"


class SentenceFactory(DjangoModelFactory):
    class Meta:
        model = curation.Sentence

    dataset = factory.SubFactory(DatasetFactory)
    text = factory.Sequence(lambda n: f"A dog runs past house number {n}.")
    key = factory.LazyAttribute(lambda o: hashlib.sha256(o.text.encode()).hexdigest())


class PairFactory(DjangoModelFactory):
    class Meta:
        model = curation.Pair

    dataset = factory.SubFactory(DatasetFactory)
    external_id = factory.Sequence(lambda n: f"pair-{n}")
    a = factory.SubFactory(SentenceFactory, dataset=factory.SelfAttribute("..dataset"))
    b = factory.SubFactory(SentenceFactory, dataset=factory.SelfAttribute("..dataset"))


class ScoreSetFactory(DjangoModelFactory):
    class Meta:
        model = curation.ScoreSet

    dataset = factory.SubFactory(DatasetFactory)
    name = factory.Sequence(lambda n: f"scores-{n}")
    kind = "reference"
    low = 0.0
    high = 5.0


class CampaignFactory(DjangoModelFactory):
    """An open campaign without tuples; `tuples=3, gold=2` adds ordinary and gold ones of new pairs."""

    class Meta:
        model = annotation.Campaign
        skip_postgeneration_save = True

    dataset = factory.SubFactory(DatasetFactory)
    name = factory.Sequence(lambda n: f"Campaign {n}")
    state = "open"

    @factory.post_generation
    def tuples(self, create, number, **kwargs):
        TupleFactory.create_batch(number or 0, campaign=self)

    @factory.post_generation
    def gold(self, create, number, **kwargs):
        GoldFactory.create_batch(number or 0, campaign=self)


class TupleFactory(DjangoModelFactory):
    """A tuple of the campaign's size, of new pairs; `pairs=[…]` gives them."""

    class Meta:
        model = annotation.Tuple
        skip_postgeneration_save = True

    campaign = factory.SubFactory(CampaignFactory)
    is_gold = False
    number = factory.LazyAttribute(
        lambda o: o.campaign.tuples.filter(is_gold=o.is_gold).count() + 1,
    )
    priority = factory.LazyAttribute(lambda o: o.number - 1)
    required = factory.LazyAttribute(lambda o: 0 if o.is_gold else o.campaign.judgements_per_tuple)

    @factory.post_generation
    def pairs(self, create, pairs, **kwargs):
        given = pairs or PairFactory.create_batch(self.campaign.tuple_size, dataset=self.campaign.dataset)
        annotation.TupleItem.objects.bulk_create(
            annotation.TupleItem(tuple=self, slot=slot, pair=pair) for slot, pair in enumerate(given)
        )


class GoldFactory(TupleFactory):
    """A gold tuple whose best is slot 0 and whose worst is slot 1."""

    is_gold = True

    @factory.post_generation
    def answer(self, create, extracted, **kwargs):
        annotation.GoldAnswer.objects.create(
            tuple=self, best_slot=0, worst_slot=1, why="The first pair says the same twice."
        )


class ParticipationFactory(DjangoModelFactory):
    class Meta:
        model = annotation.Participation

    campaign = factory.SubFactory(CampaignFactory)
    user = factory.SubFactory(UserFactory)


class FlagFactory(DjangoModelFactory):
    class Meta:
        model = annotation.Flag

    tuple = factory.SubFactory(TupleFactory)
    participation = factory.SubFactory(
        ParticipationFactory, campaign=factory.SelfAttribute("..tuple.campaign")
    )
    kind = "flag"
    reason = "broken"
    created_at = factory.LazyFunction(timezone.now)


class RunFactory(DjangoModelFactory):
    """A queued export of a dataset."""

    class Meta:
        model = mlworkers.Run

    kind = "export_dataset"
    dataset = factory.SubFactory(DatasetFactory)
    plan = factory.LazyAttribute(lambda o: {"dataset": o.dataset.slug, "format": "csv"})


class GeneratedPairFactory(PairFactory):
    """A pair whose second sentence a machine wrote in run 7; p_d=0.1 and intended=0.5 score it in that run's sets."""

    class Meta:
        model = curation.Pair
        skip_postgeneration_save = True

    external_id = factory.Sequence(lambda n: f"g7-{n}")
    b = factory.SubFactory(
        SentenceFactory, dataset=factory.SelfAttribute("..dataset"), origin="machine", run_ref=7
    )
    origin = "generated"
    source = "run 7"
    split = "train"
    run_ref = 7

    @factory.post_generation
    def p_d(self, create, value, **kwargs):
        if value is None:
            return
        score_set = run_score_set(self.dataset, "realism", "p_D")
        curation.PairScore.objects.create(score_set=score_set, pair=self, value=value)
        curation.SentenceScore.objects.get_or_create(
            score_set=score_set, sentence=self.b, defaults={"value": value}
        )

    @factory.post_generation
    def intended(self, create, value, **kwargs):
        if value is not None:
            score_set = run_score_set(self.dataset, "target", "target")
            curation.PairScore.objects.create(score_set=score_set, pair=self, value=value)


def run_score_set(dataset, kind: str, what: str):
    """The score set in which run 7 keeps what it says of the dataset's pairs and sentences."""
    facts = {"kind": kind, "low": 0.0, "high": 1.0, "run_ref": 7}
    return curation.ScoreSet.objects.get_or_create(dataset=dataset, name=f"run 7: {what}", defaults=facts)[0]


class ArtifactFactory(DjangoModelFactory):
    """An encoder that a training run made; its files are written by whoever needs them."""

    class Meta:
        model = mlworkers.Artifact

    run = factory.SubFactory(RunFactory, kind="train_encoder", state="succeeded")
    kind = "encoder"
    path = factory.LazyAttribute(lambda o: f"runs/{o.run.pk}/1/encoder")
    sha256 = "0" * 64


class EvaluationFactory(DjangoModelFactory):
    class Meta:
        model = mlworkers.Evaluation

    run = factory.SubFactory(RunFactory, kind="evaluate_encoder", state="succeeded")
    model = "packaged:all-MiniLM-L6-v2"
    suite = "scenes, people, test"
    metric = "spearman"
    value = 0.8
    low = 0.78
    high = 0.82
    n = 420
