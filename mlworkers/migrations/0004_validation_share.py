"""The setting `held_back` of encoders' plans is called `validation_share`, and so are the counts in their results."""

from typing import Any

from django.db import migrations

PLAN_NAMES = {"held_back": "validation_share"}
RESULT_NAMES = {"held_back": "validation_pairs", "tied_to_held_back": "tied_to_validation"}
KINDS = ("train_encoder", "compare_weightings")


def rename(apps: Any, schema_editor: Any) -> None:
    _rename(apps, schema_editor, PLAN_NAMES, RESULT_NAMES)


def rename_back(apps: Any, schema_editor: Any) -> None:
    plan_names, result_names = (
        {new: old for old, new in names.items()} for names in (PLAN_NAMES, RESULT_NAMES)
    )
    _rename(apps, schema_editor, plan_names, result_names)


def _rename(
    apps: Any, schema_editor: Any, plan_names: dict[str, str], result_names: dict[str, str]
) -> None:
    alias = schema_editor.connection.alias
    runs = apps.get_model("mlworkers", "Run").objects.using(alias)
    for run in runs.filter(kind__in=KINDS).only("plan", "result").iterator(chunk_size=500):
        run.plan, run.result = _renamed(run.plan, plan_names), _renamed(run.result, result_names)
        run.save(update_fields=["plan", "result"])
    artifacts = apps.get_model("mlworkers", "Artifact").objects.using(alias)
    for artifact in artifacts.filter(kind="encoder").only("card").iterator(chunk_size=500):
        if "plan" in artifact.card:
            artifact.card["plan"] = _renamed(artifact.card["plan"], plan_names)
            artifact.save(update_fields=["card"])


def _renamed(values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The values in their order, under their new names."""
    return {names.get(name, name): value for name, value in values.items()}


class Migration(migrations.Migration):
    dependencies = [("mlworkers", "0003_one_launch_per_person")]

    operations = [migrations.RunPython(rename, rename_back)]
