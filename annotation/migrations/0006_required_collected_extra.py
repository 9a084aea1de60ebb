"""Tuples require and collect judgements, and a judgement has a status; its stored values follow."""

from django.db import migrations, models
from django.db.models import F, Q

VALUES = {"counted": "collected", "surplus": "extra"}


def rename_values(apps, schema_editor, values) -> None:
    judgements = apps.get_model("annotation", "Judgement").objects.using(schema_editor.connection.alias)
    for old, new in values.items():
        judgements.filter(status=old).update(status=new)


def forwards(apps, schema_editor) -> None:
    rename_values(apps, schema_editor, VALUES)


def backwards(apps, schema_editor) -> None:
    rename_values(apps, schema_editor, {new: old for old, new in VALUES.items()})


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_designs_by_workers")]

    operations = [
        migrations.RemoveConstraint("tuple", "tuple_counts_at_most_wanted"),
        migrations.RemoveConstraint("tuple", "gold_is_never_wanted"),
        migrations.RemoveConstraint("tuple", "repeats_are_never_wanted_nor_gold"),
        migrations.RemoveIndex("tuple", "tuple_still_wanted"),
        migrations.RenameField("tuple", "wanted", "required"),
        migrations.RenameField("tuple", "counted", "collected"),
        migrations.AddConstraint(
            "tuple",
            models.CheckConstraint(
                condition=Q(collected__lte=F("required")), name="tuple_collects_at_most_what_is_required"
            ),
        ),
        migrations.AddConstraint(
            "tuple",
            models.CheckConstraint(
                condition=Q(is_gold=False) | Q(required=0, leased=0), name="gold_requires_no_judgements"
            ),
        ),
        migrations.AddConstraint(
            "tuple",
            models.CheckConstraint(
                condition=Q(repeats=None) | Q(is_gold=False, required=0, leased=0),
                name="repeats_require_nothing_and_are_no_gold",
            ),
        ),
        migrations.AddIndex(
            "tuple",
            models.Index(
                condition=Q(collected__lt=F("required")),
                fields=["campaign", "round", "priority"],
                name="tuple_still_open",
            ),
        ),
        migrations.RenameField("judgement", "standing", "status"),
        migrations.AlterField(
            "judgement",
            "status",
            models.CharField(
                choices=[
                    ("collected", "collected"),
                    ("extra", "extra"),
                    ("excluded", "excluded"),
                    ("gold", "gold"),
                    ("repeat", "repeat"),
                ],
                default="extra",
                max_length=10,
            ),
        ),
        migrations.RunPython(forwards, backwards),
    ]
