"""Imported scores are called reference scores, scores from a campaign human scores. Names of score sets stay."""

from typing import Any

from django.db import migrations, models

NEW_NAMES = {"gold": "reference", "people": "human"}


def rename(apps: Any, schema_editor: Any) -> None:
    _rename(apps, schema_editor, NEW_NAMES)


def rename_back(apps: Any, schema_editor: Any) -> None:
    _rename(apps, schema_editor, {new: old for old, new in NEW_NAMES.items()})


def _rename(apps: Any, schema_editor: Any, names: dict[str, str]) -> None:
    score_sets = apps.get_model("curation", "ScoreSet").objects.using(schema_editor.connection.alias)
    for before, after in names.items():
        score_sets.filter(kind=before).update(kind=after)


class Migration(migrations.Migration):
    dependencies = [("curation", "0006_claims_of_imports")]

    operations = [
        migrations.AlterField(
            model_name="scoreset",
            name="kind",
            field=models.CharField(
                choices=[
                    ("reference", "reference"),
                    ("human", "human"),
                    ("model", "model"),
                    ("target", "target"),
                    ("realism", "realism"),
                ],
                max_length=10,
                verbose_name="kind",
            ),
        ),
        migrations.RunPython(rename, rename_back),
    ]
