# ruff: noqa: E402, T201 - a family is added before Django loads the kinds
"""A site with one more family of kinds: form, estimate, run, page, files, command and API. Prints "all seen"."""

import json
import os
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "semblance.settings"
import mlworkers.kinds

# All that a family needs is to be a folder beside the others.
mlworkers.kinds.__path__.append(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.getcwd())

import django

django.setup()

from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse

from curation.models import User
from mlworkers.models import Run
from mlworkers.tasks import execute
from tests.factories import DatasetFactory, PairFactory

KIND = "measure_length"
setup_test_environment()  # answers have the context of their templates
dataset = DatasetFactory(slug="birds")
for first, second in (("a bird sings", "birds sing"), ("it rains", "rain falls on the roof")):
    PairFactory(dataset=dataset, split="train", a__text=first, b__text=second)
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create_superuser("ada", password="x"))


def page(address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content.decode() if not answer.streaming else b"".join(answer).decode()


assert "Measure lengths" in page(reverse("mlworkers:run_kinds"))
start = reverse("mlworkers:run_start", args=[KIND])
form = client.get(f"{start}?dataset=birds").context["form"]
values = {name: form[name].value() for name in form.fields} | {"dataset": "birds", "split": "train"}
given = {name: value for name, value in values.items() if value is not None}
assert "2 pairs to read." in client.post(start, {**given, "estimate": "1"}).content.decode()
assert client.post(start, given).status_code == 302
run = Run.objects.get(kind=KIND)
execute(run.pk)
run.refresh_from_db()
assert (run.state, run.message) == ("succeeded", "3.00 words"), (run.state, run.message)

shown = page(reverse("mlworkers:run_detail", args=[run.pk]))
assert "See the length of sentences" in shown
assert "Measure another split" in shown
assert "A sentence has 3.00 words in the mean." in page(reverse("mlworkers:lengths", args=[run.pk]))
assert page(reverse("mlworkers:lengths_csv", args=[run.pk])).splitlines()[1].startswith("train,3.0,")

asked = {"kind": KIND, "plan": {"dataset": "birds", "split": "train"}}
answer = client.post("/api/v1/runs/", json.dumps(asked), content_type="application/json")
assert answer.status_code in (201, 202), (answer.status_code, answer.content)
call_command("run", KIND, "dataset=birds", verbosity=0)
assert Run.objects.filter(kind=KIND).count() == 3
print("all seen")
