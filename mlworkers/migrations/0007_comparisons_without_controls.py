"""Comparisons that were started before controls were added to their weightings say so in their plans.

A run that is under way then goes on with the encoders that it started with.
"""

from typing import Any

from django.db import migrations


def controls_add(apps: Any, schema_editor: Any) -> None:
    for run in _comparisons(apps, schema_editor):
        if "controls" not in run.plan:
            run.plan = {**run.plan, "controls": False}
            run.save(update_fields=["plan"])


def controls_remove(apps: Any, schema_editor: Any) -> None:
    for run in _comparisons(apps, schema_editor):
        run.plan = {name: value for name, value in run.plan.items() if name != "controls"}
        run.save(update_fields=["plan"])


def _comparisons(apps: Any, schema_editor: Any) -> Any:
    runs = apps.get_model("mlworkers", "Run").objects.using(schema_editor.connection.alias)
    return runs.filter(kind="compare_weightings").only("plan").iterator(chunk_size=500)


class Migration(migrations.Migration):
    dependencies = [("mlworkers", "0006_words_of_help")]

    operations = [migrations.RunPython(controls_add, controls_remove)]
