"""Results of earlier versions say by which rule their words were found; their figures stay as they are."""

from typing import Any

from django.db import migrations

_KINDS = (
    "harvest_pairs",
    "analyse_relatedness",
    "compose_by_similarity",
    "train_on_sections",
    "cross_validate_encoder",
)
_EARLIER = "letters and digits between marks; earlier versions took marks out of words"


def rule_name(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("mlworkers", "Run").objects.using(schema_editor.connection.alias)
    for run in runs.filter(kind__in=_KINDS, state="succeeded").only("result").iterator(chunk_size=500):
        run.result = {"words_rule": _EARLIER, **run.result}
        run.save(update_fields=["result"])


class Migration(migrations.Migration):
    dependencies = [("mlworkers", "0015_draining_and_priorities")]

    operations = [migrations.RunPython(rule_name, migrations.RunPython.noop)]
