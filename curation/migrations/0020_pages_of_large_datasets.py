from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models, transaction
from django.db.utils import DatabaseError


def words_indexed(apps, schema_editor):
    """On PostgreSQL, an index for words within sentences, where the database has pg_trgm or lets this user add it.

    Without it everything works, and a search reads all sentences. On what `icontains` compares.
    """
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(schema_editor.connection.alias):
            TrigramExtension().database_forwards("curation", schema_editor, None, None)
    except DatabaseError as error:
        print(f"\n  Words are searched without an index: pg_trgm could not be added ({error}).")  # noqa: T201 - to whoever migrates
        return
    schema_editor.execute(
        "CREATE INDEX IF NOT EXISTS sentence_by_words ON curation_sentence USING gin (UPPER(text::text) gin_trgm_ops)"
    )


def words_forgotten(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS sentence_by_words")


class Migration(migrations.Migration):
    dependencies = [
        ("curation", "0019_lines_of_imported_scores"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="pairscore",
            index=models.Index(fields=["score_set", "value", "pair"], name="score_by_value_and_pair"),
        ),
        migrations.RemoveIndex(
            model_name="pairscore",
            name="score_by_value",
        ),
        migrations.RunPython(words_indexed, words_forgotten),
    ]
