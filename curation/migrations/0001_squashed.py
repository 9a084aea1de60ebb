import curation.models.webhooks
import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models, transaction
from django.db.utils import DatabaseError

from curation.migrations._models_create import ModelsCreate


def words_index(apps, schema_editor):
    """On PostgreSQL, an index for words within sentences, where the database has pg_trgm or lets this user add it.

    Without it everything works, and a search reads all sentences. On what `icontains` compares.
    """
    if schema_editor.connection.vendor != 'postgresql':
        return
    try:
        with transaction.atomic(schema_editor.connection.alias):
            TrigramExtension().database_forwards('curation', schema_editor, None, None)
    except DatabaseError as error:
        print(f'\n  Words are searched without an index: pg_trgm could not be added ({error}).')  # to whoever migrates
        return
    schema_editor.execute(
        'CREATE INDEX IF NOT EXISTS sentence_by_words ON curation_sentence USING gin (UPPER(text::text) gin_trgm_ops)'
    )


class Migration(migrations.Migration):

    initial = True

    replaces = [('curation', name) for name in (
        '0001_initial', '0002_sentence_scores_and_review', '0003_review_claims_and_what_an_undo_restores',
        '0004_invitation_bars_and_password_tries', '0005_api_tokens_as_digests', '0006_claims_of_imports', '0007_kinds_of_scores',
        '0008_ids_within_source_and_split', '0009_imports_of_judgements', '0010_sampling_frames_of_verdicts',
        '0011_processes_lost_by_imports', '0012_consistency_scores', '0013_snapshots_of_runs', '0014_pairs_by_their_sentences',
        '0015_drawn_splits', '0016_audit_log', '0017_composing', '0018_duplicate_searches', '0019_lines_of_imported_scores',
        '0020_pages_of_large_datasets', '0021_runs_in_the_audit_log', '0022_campaigns_in_the_audit_log', '0023_files_of_sentences',
        '0024_uploads_of_running_text', '0025_scores_by_contexts', '0026_crowds_in_the_audit_log', '0027_archived_campaigns',
        '0028_several_tokens', '0029_machine_judges', '0030_webhooks', '0031_norming_in_the_audit_log', '0032_mails',
        '0033_exports_of_the_log', '0034_slider', '0035_the_site_in_the_audit_log', '0036_notices_by_mail', '0037_browser_sessions',
        '0038_second_factor', '0039_upload_days',
    )]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        ModelsCreate([
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('simulated', models.BooleanField(default=False, verbose_name='simulated')),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                },
                managers=[
                    ('objects', django.contrib.auth.models.UserManager()),
                ],
            ),
            migrations.CreateModel(
                name='PasswordTries',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64, unique=True)),
                    ('tries', models.PositiveIntegerField(default=0)),
                    ('ends_at', models.DateTimeField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                    ('name', models.CharField(max_length=60, verbose_name='name')),
                    ('scope', models.CharField(choices=[('read', 'Read'), ('judge', 'Annotate and rate'), ('write', 'Read and change')], max_length=5, verbose_name='scope')),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('beginning', models.CharField(help_text='by which its owner recognises it', max_length=8)),
                    ('password_digest', models.CharField(help_text="of the password's hash when it was made", max_length=64)),
                    ('created_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='one_token_per_person_and_name'), models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'judge', 'write'])), name='token_scope_is_known')],
                },
            ),
            migrations.CreateModel(
                name='BrowserSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='sessions.session')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='browser_sessions', to=settings.AUTH_USER_MODEL)),
                    ('browser', models.CharField(blank=True, max_length=20)),
                    ('system', models.CharField(blank=True, max_length=20)),
                    ('password_digest', models.CharField(max_length=64)),
                    ('started_at', models.DateTimeField()),
                    ('last_used_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='SecondFactor',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='second_factor', to=settings.AUTH_USER_MODEL)),
                    ('secret', models.CharField(max_length=64)),
                    ('last_step', models.BigIntegerField()),
                    ('recovery', models.JSONField(default=list)),
                    ('created_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Dataset',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(help_text='Stands in addresses and commands.', max_length=60, unique=True, verbose_name='short name')),
                    ('name', models.CharField(max_length=200, verbose_name='name')),
                    ('description', models.TextField(blank=True, verbose_name='description')),
                    ('language', models.CharField(default='en', help_text='A BCP-47 tag such as en or pt-BR.', max_length=35, validators=[django.core.validators.RegexValidator('^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$', 'Give a BCP-47 tag such as en or pt-BR.')], verbose_name='language')),
                    ('licence', models.CharField(blank=True, max_length=100, verbose_name='licence')),
                    ('source_address', models.URLField(blank=True, verbose_name='source address')),
                    ('archived', models.BooleanField(default=False, verbose_name='archived')),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['name', 'pk'],
                },
            ),
            migrations.CreateModel(
                name='Composition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='compositions', to='curation.dataset')),
                    ('parameters', models.JSONField(default=dict, help_text='the strategy and its settings')),
                    ('pairs', models.PositiveIntegerField()),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('undone_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='DuplicateSearch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='duplicate_searches', to='curation.dataset')),
                    ('against', models.CharField(blank=True, help_text='numbers of the other datasets, rising, with commas', max_length=200)),
                    ('threshold', models.FloatField()),
                    ('state', models.CharField(choices=[('waiting', 'waiting for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='waiting', max_length=10)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('lost', models.PositiveSmallIntegerField(default=0)),
                    ('heartbeat_at', models.DateTimeField(blank=True, null=True)),
                    ('done', models.PositiveIntegerField(default=0)),
                    ('total', models.PositiveIntegerField(default=0)),
                    ('message', models.CharField(blank=True, help_text='why it failed', max_length=500)),
                    ('counts', models.JSONField(blank=True, default=dict, help_text='groups by likeness, and how many leak')),
                    ('pairs_state', models.CharField(blank=True, help_text='of the pairs that were read', max_length=64)),
                    ('asked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'verbose_name_plural': 'duplicate searches',
                    'ordering': ['-asked_at', '-pk'],
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'against', 'threshold'), name='one_duplicate_search_per_question')],
                },
            ),
            migrations.CreateModel(
                name='UploadDay',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('day', models.DateField()),
                    ('size', models.PositiveBigIntegerField(default=0, help_text='bytes')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('user', 'day'), name='one_row_of_uploads_per_person_and_day')],
                },
            ),
            migrations.CreateModel(
                name='ImportBatch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='curation.dataset')),
                    ('kind', models.CharField(choices=[('pairs', 'pairs'), ('judgements', 'judgements'), ('sentences', 'sentences'), ('corpus', 'running text')], default='pairs', max_length=10)),
                    ('file_name', models.CharField(max_length=255)),
                    ('path', models.CharField(blank=True, help_text='the first uploaded file, relative to SEMBLANCE_HOME', max_length=500)),
                    ('sha256', models.CharField(blank=True, max_length=64)),
                    ('mapping', models.JSONField(blank=True, default=dict)),
                    ('state', models.CharField(choices=[('uploaded', 'uploaded'), ('waiting', 'waiting for a worker'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='uploaded', max_length=10)),
                    ('rows', models.PositiveIntegerField(default=0)),
                    ('added', models.PositiveIntegerField(default=0)),
                    ('unchanged', models.PositiveIntegerField(default=0)),
                    ('rejected', models.PositiveIntegerField(default=0)),
                    ('report', models.JSONField(blank=True, default=dict, help_text='duplicates, scale, first errors')),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('lost', models.PositiveSmallIntegerField(default=0, help_text='processes that fell silent over it since somebody asked for it')),
                    ('heartbeat_at', models.DateTimeField(blank=True, null=True)),
                    ('written', models.JSONField(blank=True, default=dict, help_text="what this import's attempts have added so far")),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                },
            ),
            migrations.CreateModel(
                name='TupleBlock',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tuple_blocks', to='curation.dataset')),
                    ('campaign_ref', models.BigIntegerField(unique=True)),
                    ('name', models.CharField(help_text='of the campaign', max_length=200)),
                    ('question', models.CharField(max_length=300)),
                    ('best_label', models.CharField(max_length=40)),
                    ('worst_label', models.CharField(max_length=40)),
                    ('guidelines', models.TextField(blank=True)),
                    ('tuples', models.JSONField(help_text='of each its number in the design, its pairs in the order of the design, and the slots in the order of the first of two questions, which was drawn; the second has them reversed')),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='MachineJudge',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('block', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judges', to='curation.tupleblock')),
                    ('run_ref', models.BigIntegerField(unique=True)),
                    ('model', models.CharField(help_text='as the plan of the run names it', max_length=500)),
                    ('parameters', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='MachineJudgement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('judge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='curation.machinejudge')),
                    ('place', models.PositiveIntegerField(help_text='of the tuple in the block, from 0')),
                    ('reversed', models.BooleanField(help_text='whether the tuple was shown in the second order')),
                    ('best_slot', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('worst_slot', models.PositiveSmallIntegerField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['place', 'reversed'],
                    'constraints': [models.UniqueConstraint(fields=('judge', 'place', 'reversed'), name='one_machine_judgement_per_question'), models.CheckConstraint(condition=models.Q(models.Q(('best_slot', None), ('worst_slot', None)), models.Q(('best_slot__isnull', False), ('worst_slot__isnull', False), models.Q(('best_slot', models.F('worst_slot')), _negated=True)), _connector='OR'), name='machine_judgement_is_whole_or_empty')],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='curation.dataset')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('role', models.CharField(choices=[('annotator', 'annotator'), ('curator', 'curator'), ('owner', 'owner')], max_length=10, verbose_name='role')),
                    ('joined_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'user'), name='one_membership_per_person_and_dataset'), models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'curator', 'owner'])), name='membership_role_is_known')],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='curation.dataset')),
                    ('role', models.CharField(choices=[('annotator', 'annotator'), ('curator', 'curator'), ('owner', 'owner')], max_length=10, verbose_name='role')),
                    ('token_digest', models.CharField(max_length=64, unique=True)),
                    ('note', models.CharField(blank=True, max_length=100, verbose_name='for whom')),
                    ('uses_left', models.PositiveIntegerField(default=1, verbose_name='people it admits')),
                    ('admitted', models.PositiveIntegerField(default=0, help_text='people who came by it')),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField(verbose_name='expires')),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'curator', 'owner'])), name='invitation_role_is_known')],
                },
            ),
            migrations.CreateModel(
                name='Mail',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('failed', 'given up')], default='waiting', max_length=10)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('next_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, max_length=300)),
                    ('kind', models.CharField(choices=[('invitation', 'invitation'), ('password', 'new password'), ('address', 'confirmation of an address'), ('changed', 'notice of a new password'), ('moved', 'notice of another address')], max_length=10)),
                    ('to', models.EmailField(max_length=254)),
                    ('language', models.CharField(max_length=15)),
                    ('address', models.CharField(max_length=500)),
                    ('invitation', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mail', to='curation.invitation')),
                    ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('nonce', models.CharField(blank=True, max_length=64)),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['state', 'next_at'], name='mails_due'), models.Index(fields=['to', 'kind', 'made_at'], name='mails_by_address')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('invitation__isnull', False), ('kind', 'invitation')), models.Q(('invitation__isnull', True), ('kind', 'password')), models.Q(('kind__in', ['address', 'changed', 'moved']), ('user__isnull', False)), _connector='OR'), name='mail_has_what_it_is_about')],
                },
            ),
            migrations.CreateModel(
                name='InvitationBar',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='curation.dataset')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('until', models.DateTimeField()),
                ],
                options={
                    'indexes': [models.Index(fields=['dataset', 'user', 'until'], name='invitation_bar_by_person')],
                },
            ),
            migrations.CreateModel(
                name='Sentence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sentences', to='curation.dataset')),
                    ('text', models.CharField(max_length=2000)),
                    ('key', models.CharField(help_text='SHA-256 of the normalised text; keeps case', max_length=64)),
                    ('language', models.CharField(blank=True, max_length=35)),
                    ('origin', models.CharField(choices=[('human', 'human'), ('machine', 'machine'), ('edited', 'edited')], default='human', max_length=10)),
                    ('run_ref', models.BigIntegerField(blank=True, null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'key'), name='one_sentence_per_text_and_dataset'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='sentence_is_not_empty')],
                },
            ),
            migrations.CreateModel(
                name='PooledSentence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pool', to='curation.dataset')),
                    ('sentence', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='pooled', to='curation.sentence')),
                    ('source', models.CharField(blank=True, max_length=100)),
                    ('labels', models.JSONField(blank=True, default=dict, help_text='by the names of their columns')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Pair',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='curation.dataset')),
                    ('external_id', models.CharField(help_text="the file's, or made from content and occurrence", max_length=200)),
                    ('a', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_a', to='curation.sentence')),
                    ('b', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_b', to='curation.sentence')),
                    ('source', models.CharField(blank=True, max_length=100)),
                    ('subset', models.CharField(blank=True, max_length=100)),
                    ('split', models.CharField(blank=True, help_text='what the file said', max_length=20)),
                    ('origin', models.CharField(choices=[('imported', 'imported'), ('sampled', 'sampled'), ('generated', 'generated')], default='imported', max_length=10)),
                    ('run_ref', models.BigIntegerField(blank=True, null=True)),
                    ('status', models.CharField(choices=[('active', 'active'), ('pending', 'pending review'), ('rejected', 'rejected'), ('retired', 'retired')], default='active', max_length=10)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['pk'],
                    'indexes': [models.Index(fields=['dataset', 'status', 'id'], name='pair_by_status'), models.Index(fields=['dataset', 'source', 'id'], name='pair_by_source'), models.Index(fields=['dataset', 'split', 'id'], name='pair_by_split'), models.Index(fields=['a', 'b'], name='pair_by_sentences')],
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'external_id', 'source', 'split'), name='one_pair_per_id_in_source_and_split')],
                },
            ),
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit_entries', to='curation.dataset')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('via', models.CharField(choices=[('site', 'on the site'), ('token', 'with a token'), ('command', 'by command'), ('blind', 'in a blind review'), ('rule', 'by a rule of the site')], max_length=10)),
                    ('token', models.CharField(blank=True, help_text='the beginning of the API token', max_length=8)),
                    ('action', models.CharField(choices=[('dataset_created', 'created the dataset'), ('dataset_changed', 'changed the settings'), ('dataset_archived', 'archived the dataset'), ('dataset_restored', 'restored the dataset'), ('invitation_created', 'made an invitation'), ('invitation_revoked', 'revoked an invitation'), ('member_joined', 'became a member'), ('member_changed', 'changed the role of a member'), ('member_removed', 'removed a member'), ('member_restored', 'restored a member'), ('pairs_imported', 'imported pairs'), ('pairs_generated', 'added generated pairs'), ('pairs_edited', 'edited pairs'), ('edit_undone', 'undid an edit of pairs'), ('pairs_composed', 'sampled pairs'), ('composed_undone', 'undid sampled pairs'), ('sentences_added', 'added single sentences'), ('pool_emptied', 'removed the single sentences'), ('splits_drawn', 'drew splits'), ('splits_undone', 'undid drawn splits'), ('scores_published', 'published a score set'), ('snapshot_created', 'created a snapshot'), ('campaign_created', 'created a campaign'), ('campaign_imported', 'imported judgements as a campaign'), ('campaign_changed', 'changed the settings of a campaign'), ('campaign_opened', 'opened a campaign'), ('campaign_paused', 'paused a campaign'), ('campaign_resumed', 'resumed a campaign'), ('campaign_closed', 'closed a campaign'), ('campaign_archived', 'archived a campaign'), ('campaign_restored', 'restored a campaign'), ('campaign_grown', 'added pairs to a campaign'), ('tuples_reserved', 'sampled the tuples of a campaign for model annotators'), ('machine_judged', 'had a model annotate tuples of a campaign'), ('guidelines_saved', 'changed the guidelines of a campaign'), ('norming_started', 'started a calibration session of a campaign'), ('norming_moved', 'moved a calibration session of a campaign on'), ('slider_started', 'added a rating-scale condition to a campaign'), ('slider_changed', 'changed the rating-scale condition of a campaign'), ('gold_added', 'added an attention check to a campaign'), ('gold_changed', 'changed the reason of an attention check of a campaign'), ('gold_removed', 'removed an attention check from a campaign'), ('annotator_stopped', 'stopped an annotator of a campaign'), ('annotator_excluded', 'stopped an annotator and excluded their judgements from a campaign'), ('annotator_reinstated', 'reinstated an annotator of a campaign'), ('crowd_changed', 'changed how a crowd enters a campaign'), ('person_erased', 'erased the personal data of an annotator'), ('run_started', 'started a run'), ('run_cancelled', 'cancelled a run'), ('run_put_first', 'put a waiting run before others'), ('worker_drained', 'drained a worker'), ('worker_undrained', 'ended the draining of a worker'), ('factor_removed', 'removed the second factor of an account'), ('webhook_added', 'added a webhook'), ('webhook_changed', 'changed a webhook'), ('webhook_removed', 'removed a webhook'), ('log_exported', 'downloaded the log'), ('review_decided', 'decided about a sentence'), ('review_undone', 'undid a decision about a sentence')], max_length=20)),
                    ('subject', models.CharField(blank=True, help_text='the file, person, score set, snapshot or campaign that it was about', max_length=255)),
                    ('pair', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit_entries', to='curation.pair')),
                    ('pairs', models.PositiveIntegerField(blank=True, help_text='that were added or changed', null=True)),
                    ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='audit_entries', to='curation.importbatch')),
                    ('details', models.JSONField(blank=True, default=dict)),
                    ('undoes', models.OneToOneField(blank=True, help_text='the edit', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='undone_by', to='curation.auditentry')),
                ],
                options={
                    'verbose_name_plural': 'audit entries',
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['dataset', 'id'], name='audit_by_dataset'), models.Index(fields=['dataset', 'action', 'id'], name='audit_by_action')],
                },
            ),
            migrations.CreateModel(
                name='PairChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='curation.auditentry')),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='curation.pair')),
                    ('field', models.CharField(choices=[('split', 'split'), ('source', 'source'), ('subset', 'subset'), ('status', 'status'), ('score', 'score')], max_length=10)),
                    ('before', models.CharField(blank=True, max_length=100)),
                    ('after', models.CharField(blank=True, max_length=100)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('entry', 'pair', 'field'), name='one_change_per_pair_and_field_of_an_entry')],
                },
            ),
            migrations.CreateModel(
                name='ComposedPair',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('composition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='composed', to='curation.composition')),
                    ('pair', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='composed', to='curation.pair')),
                ],
            ),
            migrations.CreateModel(
                name='DuplicateFound',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('search', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='found', to='curation.duplicatesearch')),
                    ('group', models.PositiveIntegerField()),
                    ('place', models.PositiveIntegerField()),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='curation.pair')),
                    ('likeness', models.CharField(max_length=10)),
                    ('pairs', models.PositiveIntegerField(help_text='of the group')),
                    ('leaks', models.BooleanField(help_text='the dataset has pairs of the group in several splits')),
                    ('elsewhere', models.BooleanField()),
                ],
                options={
                    'ordering': ['group', 'place'],
                    'indexes': [models.Index(fields=['search', 'place', 'group'], name='duplicate_groups_in_order')],
                    'constraints': [models.UniqueConstraint(fields=('search', 'group', 'place'), name='one_pair_per_place_of_a_group')],
                },
            ),
            migrations.CreateModel(
                name='ReviewClaim',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pair', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='review_claim', to='curation.pair')),
                    ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('until', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='ScoreSet',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='score_sets', to='curation.dataset')),
                    ('name', models.CharField(max_length=100, verbose_name='name')),
                    ('kind', models.CharField(choices=[('reference', 'reference'), ('human', 'human'), ('model', 'model'), ('target', 'target'), ('realism', 'realism'), ('consistency', 'label consistency')], max_length=20, verbose_name='kind')),
                    ('low', models.FloatField(verbose_name='lowest score')),
                    ('high', models.FloatField(verbose_name='highest score')),
                    ('method', models.CharField(blank=True, max_length=100, verbose_name='method')),
                    ('parameters', models.JSONField(blank=True, default=dict)),
                    ('campaign_ref', models.BigIntegerField(blank=True, null=True)),
                    ('run_ref', models.BigIntegerField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'name'), name='one_score_set_per_name_and_dataset'), models.CheckConstraint(condition=models.Q(('low__lt', models.F('high'))), name='score_scale_goes_up')],
                },
            ),
            migrations.CreateModel(
                name='ReviewDecision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='curation.sentence')),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='curation.pair')),
                    ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('verdict', models.CharField(choices=[('keep', 'keep'), ('reject', 'reject'), ('edit', 'edit')], max_length=10)),
                    ('reasons', models.JSONField(blank=True, default=list, help_text='why it was rejected (curation.review)')),
                    ('note', models.CharField(blank=True, max_length=500)),
                    ('replacement', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaces', to='curation.pair')),
                    ('value_shown', models.FloatField(blank=True, help_text='p_D at the time of the decision', null=True)),
                    ('blind', models.BooleanField(default=False, help_text='whether p_D was hidden from the reviewer')),
                    ('decided_at', models.DateTimeField()),
                    ('undone_at', models.DateTimeField(blank=True, null=True)),
                    ('undone_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('status_before', models.CharField(choices=[('active', 'active'), ('pending', 'pending review'), ('rejected', 'rejected'), ('retired', 'retired')], default='active', help_text='what an undo restores', max_length=10)),
                    ('alongside', models.ForeignKey(blank=True, help_text='the decision on the pair that was shown, where another pair holds the same sentence', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='companions', to='curation.reviewdecision')),
                    ('client_id', models.UUIDField(help_text='one per shown sentence: sent twice, decided once', unique=True)),
                    ('score_set', models.ForeignKey(blank=True, help_text='the p_D set whose queue showed it', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='curation.scoreset')),
                    ('frame', models.CharField(choices=[('lowest', 'lowest p_D'), ('uncertain', 'nearest to p_D = 0.5'), ('random', 'random sample'), ('stratified', 'stratified sample'), ('chosen', 'chosen one by one')], help_text='the queue in which it was shown', max_length=10)),
                    ('stratum', models.PositiveSmallIntegerField(blank=True, help_text='tenth of the sentences by p_D, from 1, of a stratified sample', null=True)),
                    ('binding', models.BooleanField(default=True, help_text='whether the pair has the status that this says')),
                    ('second', models.BooleanField(default=False, help_text='asked of a second reviewer, who did not see the first')),
                    ('text', models.CharField(blank=True, help_text='of an edit that changed no pair', max_length=2000)),
                    ('settles', models.ForeignKey(blank=True, help_text='the decision that it replaces by adjudication', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='settled_by', to='curation.reviewdecision')),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['pair', 'undone_at'], name='decision_by_pair')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('verdict__in', ['keep', 'reject', 'edit'])), name='review_verdict_is_known'), models.CheckConstraint(condition=models.Q(('frame__in', ['lowest', 'uncertain', 'random', 'stratified', 'chosen'])), name='review_frame_is_known'), models.UniqueConstraint(condition=models.Q(('binding', True), ('undone_at', None)), fields=('pair',), name='one_standing_decision_per_pair'), models.UniqueConstraint(condition=models.Q(('alongside', None), ('binding', False), ('undone_at', None)), fields=('sentence', 'frame', 'second'), name='one_opinion_per_sentence_and_frame')],
                },
            ),
            migrations.CreateModel(
                name='PairScore',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('score_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='curation.scoreset')),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='curation.pair')),
                    ('value', models.FloatField()),
                    ('standard_error', models.FloatField(blank=True, null=True)),
                    ('judgements', models.PositiveIntegerField(blank=True, null=True)),
                    ('contexts', models.PositiveIntegerField(blank=True, help_text='by how many contexts of a corpus the score was computed', null=True)),
                    ('interval_low', models.FloatField(blank=True, help_text='95 %, over contexts', null=True)),
                    ('interval_high', models.FloatField(blank=True, help_text='95 %, over contexts', null=True)),
                    ('imported', models.BigIntegerField(blank=True, help_text='the import and the line that gave it (curation.datasets.lineage)', null=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['score_set', 'value', 'pair'], name='score_by_value_and_pair')],
                    'constraints': [models.UniqueConstraint(fields=('score_set', 'pair'), name='one_score_per_pair_and_score_set')],
                },
            ),
            migrations.CreateModel(
                name='SentenceScore',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('score_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sentence_scores', to='curation.scoreset')),
                    ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='curation.sentence')),
                    ('value', models.FloatField()),
                    ('logit_machine', models.FloatField(blank=True, null=True)),
                    ('logit_human', models.FloatField(blank=True, null=True)),
                    ('fold', models.PositiveSmallIntegerField(blank=True, null=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['score_set', 'value'], name='sentence_score_by_value')],
                    'constraints': [models.UniqueConstraint(fields=('score_set', 'sentence'), name='one_score_per_sentence_and_score_set')],
                },
            ),
            migrations.CreateModel(
                name='Snapshot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='curation.dataset')),
                    ('number', models.PositiveIntegerField()),
                    ('filter', models.JSONField(blank=True, default=dict)),
                    ('rows', models.PositiveIntegerField()),
                    ('sha256', models.CharField(max_length=64)),
                    ('path', models.CharField(help_text='relative to SEMBLANCE_HOME', max_length=500)),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('run_ref', models.BigIntegerField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['-number'],
                    'constraints': [models.UniqueConstraint(fields=('dataset', 'number'), name='one_snapshot_per_number_and_dataset'), models.UniqueConstraint(fields=('dataset', 'run_ref'), name='one_snapshot_per_run_and_dataset')],
                },
            ),
            migrations.CreateModel(
                name='SplitChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='split_changes', to='curation.dataset')),
                    ('parameters', models.JSONField(default=dict, help_text='shares, seed, and which pairs were divided')),
                    ('pairs', models.PositiveIntegerField(help_text='whose split changed')),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('undone_at', models.DateTimeField(blank=True, null=True)),
                    ('undone_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='SplitBefore',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('change', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='before', to='curation.splitchange')),
                    ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='curation.pair')),
                    ('split', models.CharField(blank=True, max_length=20)),
                    ('given', models.CharField(max_length=20)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('change', 'pair'), name='one_split_before_per_pair_and_change')],
                },
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='curation.dataset')),
                    ('url', models.URLField(max_length=500, verbose_name='address')),
                    ('events', models.JSONField(default=list, verbose_name='events')),
                    ('secret', models.CharField(max_length=100)),
                    ('active', models.BooleanField(default=True, verbose_name='turned on')),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
            ),
            migrations.CreateModel(
                name='WebhookDelivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('failed', 'given up')], default='waiting', max_length=10)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('next_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, max_length=300)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='curation.webhook')),
                    ('message_id', models.CharField(default=curation.models.webhooks.message_id_new, max_length=40, unique=True)),
                    ('event', models.CharField(max_length=30)),
                    ('key', models.CharField(help_text='what happened; told once', max_length=200)),
                    ('data', models.JSONField(default=dict)),
                    ('status', models.PositiveSmallIntegerField(help_text='of the last answer', null=True)),
                ],
                options={
                    'verbose_name_plural': 'webhook deliveries',
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['state', 'next_at'], name='webhook_deliveries_due')],
                    'constraints': [models.UniqueConstraint(fields=('webhook', 'event', 'key'), name='webhook_told_once')],
                },
            ),
        ]),
        migrations.RunPython(words_index, migrations.RunPython.noop),
    ]
