import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from curation.migrations._models_create import ModelsCreate


class Migration(migrations.Migration):

    initial = True

    replaces = [('mlworkers', name) for name in (
        '0001_initial', '0002_shards_and_evaluations', '0003_one_launch_per_person', '0004_validation_share', '0005_remove_run_log_path',
        '0006_words_of_help', '0007_comparisons_without_controls', '0008_tables_of_suites', '0009_instructions',
        '0010_shuffles_of_stored_comparisons', '0011_artifacts_removed', '0012_token_of_runs', '0013_ratings_of_candidates',
        '0014_lines_of_runs', '0015_draining_and_priorities', '0016_rule_of_words_of_earlier_results', '0017_beat_progress_and_task_times',
    )]

    dependencies = [
        ('curation', '0001_squashed'),
        ('curation', '__first__'),
    ]

    operations = [
        ModelsCreate([
            migrations.CreateModel(
                name='Run',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=40, verbose_name='kind')),
                    ('dataset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='curation.dataset')),
                    ('plan', models.JSONField(default=dict, verbose_name='plan')),
                    ('queue', models.CharField(default='default', max_length=20, verbose_name='queue')),
                    ('priority', models.PositiveIntegerField(default=0, help_text='of the runs of a queue that wait, those with the highest go first, then the oldest')),
                    ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('succeeded', 'succeeded'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='queued', max_length=10, verbose_name='state')),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('lost', models.PositiveIntegerField(default=0, help_text='how often a worker stopped sending heartbeats while it held the run')),
                    ('done', models.PositiveBigIntegerField(default=0)),
                    ('total', models.PositiveBigIntegerField(default=0)),
                    ('message', models.TextField(blank=True)),
                    ('result', models.JSONField(blank=True, default=dict)),
                    ('worker', models.CharField(blank=True, max_length=200)),
                    ('started_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('token', models.CharField(blank=True, help_text='the beginning of the API token that started it', max_length=8)),
                    ('launch', models.UUIDField(blank=True, help_text='one per filled-in form: sent twice by a person, started once', null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('invited_at', models.DateTimeField(blank=True, help_text='when a worker was last invited to claim it', null=True)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('claimed_at', models.DateTimeField(blank=True, help_text='when the present count began: this attempt, or its stage', null=True)),
                    ('progressed_at', models.DateTimeField(blank=True, help_text='when its count or its message last changed, or it was last claimed', null=True)),
                    ('done_before', models.PositiveBigIntegerField(default=0, help_text='what stood done when the present count began')),
                    ('heartbeat_at', models.DateTimeField(blank=True, help_text='empty in a running run: its worker left it', null=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['state', 'heartbeat_at'], name='run_by_state')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('total', 0), ('done__lte', models.F('total')), _connector='OR'), name='run_does_not_exceed_its_total'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'succeeded', 'failed', 'cancelled'])), name='run_state_is_known'), models.UniqueConstraint(fields=('started_by', 'launch'), name='one_run_per_person_and_launch')],
                },
            ),
            migrations.CreateModel(
                name='RunShard',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shards', to='mlworkers.run')),
                    ('stage', models.CharField(help_text='the part of the run that is cut into shards', max_length=40)),
                    ('number', models.PositiveIntegerField()),
                    ('size', models.PositiveIntegerField(default=1, help_text="in the run's unit")),
                    ('done', models.PositiveIntegerField(default=0, help_text='of its size')),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('running', 'running'), ('done', 'done')], default='waiting', max_length=10)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('worker', models.CharField(blank=True, max_length=200)),
                    ('heartbeat_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('run', 'stage', 'number'), name='one_shard_per_run_stage_and_number')],
                },
            ),
            migrations.CreateModel(
                name='RunLine',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='mlworkers.run')),
                    ('curve', models.BooleanField(default=False)),
                    ('text', models.TextField()),
                ],
                options={
                    'indexes': [models.Index(fields=['run', 'curve', 'id'], name='lines_of_a_run')],
                },
            ),
            migrations.CreateModel(
                name='Artifact',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='mlworkers.run')),
                    ('kind', models.CharField(max_length=40)),
                    ('path', models.CharField(help_text='relative to SEMBLANCE_HOME', max_length=500)),
                    ('sha256', models.CharField(max_length=64)),
                    ('size', models.PositiveBigIntegerField(default=0, help_text='bytes')),
                    ('card', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('removed_at', models.DateTimeField(blank=True, help_text='when somebody removed its files to free the disk', null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('run', 'path'), name='one_artifact_per_run_and_path')],
                },
            ),
            migrations.CreateModel(
                name='Evaluation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evaluations', to='mlworkers.run')),
                    ('artifact', models.ForeignKey(blank=True, help_text='empty: a base model', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='evaluations', to='mlworkers.artifact')),
                    ('model', models.CharField(help_text="the model's source, as `sources.parse_source` reads it", max_length=300)),
                    ('label', models.CharField(blank=True, help_text='its row in a comparison: base, plain, realism …', max_length=40)),
                    ('source', models.CharField(blank=True, help_text='in a table of suites: the dataset trained on, or “baseline”', max_length=100)),
                    ('suite', models.CharField(help_text='dataset, score set and split; or the name of a suite', max_length=200)),
                    ('part', models.CharField(blank=True, help_text='of the suite: a source of its pairs, a mean, or a probe', max_length=100)),
                    ('metric', models.CharField(max_length=40)),
                    ('value', models.FloatField(help_text='empty: undefined, such as a correlation with a constant', null=True)),
                    ('low', models.FloatField(null=True)),
                    ('high', models.FloatField(null=True)),
                    ('n', models.PositiveIntegerField(help_text='pairs')),
                    ('seed', models.BigIntegerField(blank=True, help_text='of the training; empty: none was trained', null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['run', 'label'], name='evaluation_by_label')],
                },
            ),
            migrations.CreateModel(
                name='Instructions',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='curation.dataset')),
                    ('name', models.CharField(max_length=60, verbose_name='name')),
                    ('version', models.PositiveIntegerField()),
                    ('text', models.TextField(help_text='JSON, as `synthesis.prompts.task_named` reads it')),
                    ('note', models.CharField(blank=True, max_length=200, verbose_name='note')),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'verbose_name': 'instructions',
                    'verbose_name_plural': 'instructions',
                    'ordering': ['name', '-version'],
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'name', 'version'), name='one_row_per_version_of_instructions')],
                },
            ),
            migrations.CreateModel(
                name='RatedCandidate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rated_candidates', to='mlworkers.run')),
                    ('place', models.PositiveIntegerField()),
                    ('setting', models.CharField(max_length=100)),
                    ('source', models.TextField()),
                    ('text', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['place'],
                    'constraints': [models.UniqueConstraint(fields=('run', 'place'), name='one_candidate_per_place')],
                },
            ),
            migrations.CreateModel(
                name='CandidateRating',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='mlworkers.ratedcandidate')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('fluency', models.PositiveSmallIntegerField()),
                    ('meaning', models.PositiveSmallIntegerField()),
                    ('wording', models.PositiveSmallIntegerField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('candidate', 'person'), name='one_rating_per_candidate_and_person'), models.CheckConstraint(condition=models.Q(('fluency__range', (1, 5)), ('meaning__range', (1, 5)), ('wording__range', (1, 5))), name='ratings_are_from_1_to_5')],
                },
            ),
            migrations.CreateModel(
                name='WorkerHeartbeat',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='its Celery name / its process', max_length=200, unique=True)),
                    ('queues', models.JSONField(default=list)),
                    ('device', models.CharField(blank=True, max_length=100)),
                    ('devices', models.PositiveSmallIntegerField(default=0, help_text='accelerators; none: it works on a processor')),
                    ('version', models.CharField(blank=True, help_text='of Semblance', max_length=40)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('seen_at', models.DateTimeField()),
                    ('work', models.JSONField(blank=True, default=list, help_text='the tasks that it had at its last heartbeat')),
                    ('drain_at', models.DateTimeField(blank=True, help_text='when somebody asked it to take no more work; empty: nobody did', null=True)),
                    ('is_closed', models.BooleanField(default=False, help_text='it reads no queue now')),
                    ('tasks', models.JSONField(blank=True, default=dict, help_text='by name: how many tasks it has carried out, and for how long')),
                ],
            ),
            migrations.CreateModel(
                name='BeatHeartbeat',
                fields=[
                    ('number', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('host', models.CharField(help_text='the machine that it runs on', max_length=200)),
                    ('started_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('number', 1)), name='one_row_for_beat')],
                },
            ),
        ]),
    ]
