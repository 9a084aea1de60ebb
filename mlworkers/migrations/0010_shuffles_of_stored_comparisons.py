"""Comparisons that were started when `controls` added one shuffle name the weightings that they had.

A run that is under way then goes on with the encoders that it started with.
"""

from typing import Any

from django.db import migrations

_ADDED = ("shuffle", "constant")
_DEFAULT = "plain,realism,filter,random"


def weightings_name(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("mlworkers", "Run").objects.using(schema_editor.connection.alias)
    for run in runs.filter(kind="compare_weightings").only("plan").iterator(chunk_size=500):
        if run.plan.get("controls", True):
            named = [name.strip() for name in run.plan.get("weightings", _DEFAULT).split(",") if name.strip()]
            weightings = ",".join(dict.fromkeys([*named, *_ADDED]))
            run.plan = {**run.plan, "weightings": weightings, "controls": False}
            run.save(update_fields=["plan"])


class Migration(migrations.Migration):
    dependencies = [("mlworkers", "0009_instructions")]

    operations = [migrations.RunPython(weightings_name, migrations.RunPython.noop)]
