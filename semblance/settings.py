"""Every setting, from the environment only. `.env.example` lists the variables.

Two ways of running. Embedded, the default: SQLite and Celery's filesystem transport under SEMBLANCE_HOME,
loopback only, nothing to configure. Production: DATABASE_URL and REDIS_URL, and then SECRET_KEY and
ALLOWED_HOSTS must be given; if one of these two is missing, nothing starts. Without REDIS_URL, `semblance.health`
says what that means.
"""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import environ
import platformdirs
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from semblance import languages
from semblance.error_reports import errors_report
from semblance.folder import folder_private
from semblance.mail_server import mail_server_of
from semblance.shared_storage import shared_storage_of
from semblance.sign_on_settings import issuer_check, rules_of_groups

# A checkout, or the folder that holds the packages of an installed wheel.
BASE_DIR = Path(__file__).resolve().parent.parent
CHECKOUT = (BASE_DIR / "manage.py").is_file() and (BASE_DIR / "pyproject.toml").is_file()
# Where `.env` is, and where the programs that `serve` starts work. A wheel has no folder that people see.
WORKING_FOLDER = BASE_DIR if CHECKOUT else Path.cwd()
env = environ.Env()
env_file = Path(env.str("ENV_FILE", default=str(WORKING_FOLDER / ".env")))
if env_file.is_file():
    environ.Env.read_env(env_file)


def site_path(name: str) -> str:
    """The path at which the site is mounted, without the last slash: "" is the whole host, "/a/b" a part of it."""
    text: str = env.str(name, default="") or "/"
    path = text.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", path) or not text.startswith("/"):
        raise ImproperlyConfigured(
            f"{name} is {text}; give a path such as /tools/semblance/ of letters, digits, -, _, ~ and dots."
        )
    return path


def octal(name: str, *, default: str) -> int:
    text: str = env.str(name, default=default)
    if not re.fullmatch("0?[0-7]{3}", text):
        raise ImproperlyConfigured(f"{name} is {text}; give three octal digits such as {default}.")
    return int(text, 8)


# Cores that share a multiplication wait for each other in a loop. Beside other work, a long loop takes the time that
# the slower core needs: training beside one busy process took three times as long (log of experiments, W-01).
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]

DEBUG = env.bool("DEBUG", default=False)
HOME_OF_THE_USER = platformdirs.user_data_path("semblance", appauthor=False)
SEMBLANCE_HOME = Path(
    env.str("SEMBLANCE_HOME", default=str(BASE_DIR / "var" if CHECKOUT else HOME_OF_THE_USER))
).resolve()
# Here, because whatever runs Semblance reads its settings: web, workers, beat and every command.
SEMBLANCE_UMASK = octal("SEMBLANCE_UMASK", default="077")
folder_private(SEMBLANCE_HOME, umask=SEMBLANCE_UMASK)

# Where web and workers share no disk: the store of the files that they share, instead of SEMBLANCE_HOME.
STORAGE_URL = env.str("STORAGE_URL", default="")
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if STORAGE_URL:
    STORAGES["shared"] = shared_storage_of(STORAGE_URL)

DATABASE_URL = env.str("DATABASE_URL", default="")
REDIS_URL = env.str("REDIS_URL", default="")
REDIS_PREFIX = env.str("REDIS_PREFIX", default="semblance")
# A page that waits for the cache longer than this is quicker without it.
REDIS_TIMEOUT_SECONDS = 0.5
EMBEDDED = not DATABASE_URL and not REDIS_URL


def required(name: str, *, where: str = "DATABASE_URL, REDIS_URL or ALLOWED_HOSTS is given") -> str:
    value: str = env.str(name, default="")
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set; it is required where {where} (.env.example shows an example)."
        )
    return value


def embedded_secret_key() -> str:
    """The key of an embedded installation: made once, like every file here readable by its owner alone."""
    path = SEMBLANCE_HOME / "secret_key"
    # "x" lets one of several processes that start together make the key; the others read it.
    with suppress(FileExistsError), path.open("x", encoding="ascii") as file:
        file.write(get_random_secret_key())
    return path.read_text(encoding="ascii")


ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
if EMBEDDED and not ALLOWED_HOSTS:
    ALLOWED_HOSTS = LOOPBACK
    SECRET_KEY = env.str("SECRET_KEY", default="") or embedded_secret_key()
else:
    SECRET_KEY = required("SECRET_KEY")
    if SECRET_KEY == "fifty-or-more-random-characters":  # noqa: S105 - everybody knows it
        raise ImproperlyConfigured(
            "SECRET_KEY is the one of .env.example, which everybody knows. Make one of your own: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'."
        )
    required("ALLOWED_HOSTS")

# Where the site is a part of its host, Django puts this path before each link, redirect and static file.
SITE_PATH = site_path("SITE_PATH")
FORCE_SCRIPT_NAME = SITE_PATH or None
# Another program on the same host neither gets these cookies nor sets them.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{SITE_PATH}/"

INSTALLED_APPS = [
    "semblance",
    # Of allauth only its client of OpenID Connect and the table of who is who at a provider: none of its pages.
    "allauth.account",
    "allauth.socialaccount",
    "curation",
    "annotation",
    "mlworkers",
    "django.contrib.admin.apps.SimpleAdminConfig",  # the addresses register what it shows, with its forms
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",  # the files of Swagger UI, so that no browser asks another host
]

MIDDLEWARE = [
    "semblance.request_ids.request_ids",
    "semblance.request_times.request_times",
    "semblance.request_times.refusals_logged",
    "semblance.middleware.under_site_path",
    "semblance.middleware.Compressed",
    "django.middleware.security.SecurityMiddleware",
    "semblance.middleware.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "semblance.middleware.nothing_kept",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "semblance.middleware.LanguageOfPage",
    "semblance.middleware.known_host",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "semblance.middleware.ReadableText",
    "semblance.middleware.LoginFirst",
    "semblance.middleware.SessionsNoted",
    "semblance.middleware.SecondFactorFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "semblance.middleware.UserErrorMiddleware",
]

ROOT_URLCONF = "semblance.urls"
WSGI_APPLICATION = "semblance.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,  # `semblance`, the first app, has the templates, the static files and the translations of all
        "OPTIONS": {
            "builtins": ["curation.templatetags.components"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "semblance.home.navigation",
                "semblance.languages.language_choices",
                "semblance.guide.links.guide_link",
            ],
        },
    }
]

# Forms are drawn by templates/django/forms, the same everywhere.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

SQLITE_OPTIONS: dict[str, object] = {
    # IMMEDIATE takes the write lock at once, so that two writers queue instead of failing half-way.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # FULL: a judgement that was answered with "saved" survives a power cut.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
}
# A server that does not answer must not hold every thread of the site.
POSTGRESQL_OPTIONS: dict[str, object] = {"connect_timeout": 5}
# Statements that ask for it are planned once per connection (`curation.foundation.statements`); no others are, however
# often they come. A pooler that gives each transaction another connection may know nothing of them.
if env.bool("PREPARED_STATEMENTS", default=True):
    POSTGRESQL_OPTIONS["prepare_threshold"] = sys.maxsize

embedded: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": SEMBLANCE_HOME / "semblance.sqlite3",
}
database: dict[str, Any] = env.db_url("DATABASE_URL") if DATABASE_URL else embedded
if database["ENGINE"].endswith("sqlite3"):
    database["OPTIONS"] = SQLITE_OPTIONS | database.get("OPTIONS", {})
else:
    database = {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True} | database
    database["OPTIONS"] = POSTGRESQL_OPTIONS | database.get("OPTIONS", {})
DATABASES = {"default": database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "semblance.cache.ForgivingRedis",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": REDIS_PREFIX,
            "OPTIONS": {
                "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
                "socket_timeout": REDIS_TIMEOUT_SECONDS,
            },
        }
    }
# In the database alone: people stay logged in, and can log in, while Redis is away.
SESSION_ENGINE = "django.contrib.sessions.backends.db"

AUTH_USER_MODEL = "curation.User"
# The first hashes new passwords. One that another of them hashed is hashed again when its person logs in.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_RESET_TIMEOUT = 60 * 60  # seconds that the link of an e-mail is valid
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30  # a month: a session must not end in the middle of a sitting

# Single sign-on with a provider of OpenID Connect, if one is named.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_NAME = env.str("OIDC_NAME", default="single sign-on")
OIDC_CLIENT_ID = OIDC_CLIENT_SECRET = ""
if OIDC_ISSUER:
    issuer_check(OIDC_ISSUER)
    OIDC_CLIENT_ID = required("OIDC_CLIENT_ID", where="OIDC_ISSUER is given")
    OIDC_CLIENT_SECRET = required("OIDC_CLIENT_SECRET", where="OIDC_ISSUER is given")
OIDC_SCOPES = env.list("OIDC_SCOPES", default=[])
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", default="groups")
OIDC_ROLES = rules_of_groups(env.list("OIDC_ROLES", default=[]))
OIDC_JOIN_BY_EMAIL = env.bool("OIDC_JOIN_BY_EMAIL", default=False)
OIDC_SESSION_SECONDS = 3600 * env.int("OIDC_SESSION_HOURS", default=24)
# Whether people log in with passwords. Without them, `semblance login_link` lets a superuser in.
LOCAL_LOGIN = env.bool("LOCAL_LOGIN", default=True)
if not (LOCAL_LOGIN or OIDC_ISSUER):
    raise ImproperlyConfigured("LOCAL_LOGIN is false, but OIDC_ISSUER is not set: nobody could log in.")
# Who must set up a second factor after logging in with a password: staff, or nobody.
REQUIRE_SECOND_FACTOR = env.str("REQUIRE_SECOND_FACTOR", default="")
if REQUIRE_SECOND_FACTOR not in {"", "staff"}:
    raise ImproperlyConfigured(
        f"REQUIRE_SECOND_FACTOR is {REQUIRE_SECOND_FACTOR}; give staff, or leave it out."
    )
SOCIALACCOUNT_ADAPTER = "curation.people.sign_on.provider.Adapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a link on the login page: the policy forbids a form that leads elsewhere
ACCOUNT_EMAIL_VERIFICATION = "none"

# A mail server, if there is one. Without it, no page offers e-mail.
EMAIL_URL = env.str("EMAIL_URL", default="")
MAIL_SERVER = bool(EMAIL_URL)
if MAIL_SERVER:
    mail_server = mail_server_of(EMAIL_URL)
    EMAIL_HOST, EMAIL_PORT = mail_server.host, mail_server.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = mail_server.user, mail_server.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = mail_server.starts_tls, mail_server.tls
    EMAIL_TIMEOUT = 10
    EMAIL_BACKEND = "curation.people.mail.backend.BoundedBackend"
    DEFAULT_FROM_EMAIL = SERVER_EMAIL = required("EMAIL_FROM", where="EMAIL_URL is given")

# Behind a proxy that speaks HTTPS, cookies travel over HTTPS alone; an embedded site has no certificate.
HTTPS = env.bool("HTTPS", default=not EMBEDDED)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
# By these names a browser takes the cookies over HTTPS alone, and of `__Host-` neither for nor from another host.
COOKIE_PREFIX = ("__Secure-" if SITE_PATH else "__Host-") if HTTPS else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
LANGUAGE_COOKIE_NAME = f"{COOKIE_PREFIX}django_language"
MESSAGE_STORAGE = "semblance.notices.Notices"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=60 * 60 * 24 * 365)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_SUBDOMAINS", default=False)
# How many proxies in front add the address that called them to X-Forwarded-For; 0: visitors come directly.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
PUBLIC_HOSTS = [host.lstrip(".") for host in ALLOWED_HOSTS if host not in (*LOOPBACK, "*")]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in PUBLIC_HOSTS]
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

LANGUAGE_CODE = "en"
LANGUAGES = languages.languages_there()
LOCALE_PATHS = [languages.FOLDER]
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = f"{SITE_PATH}/static/"
# Served from where they lie: no collecting step that a new installation could forget.
WHITENOISE_USE_FINDERS = True

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024**2
FILE_UPLOAD_PERMISSIONS = 0o666 & ~SEMBLANCE_UMASK
FILE_UPLOAD_HANDLERS = ["curation.exchange.receiving.BoundedUpload"]
# The folders from which runs that people start on pages take models; links are followed before it is checked.
MODEL_ROOTS = [
    Path(root).expanduser().resolve()
    for root in env.list("MODEL_ROOTS", default=[str(SEMBLANCE_HOME), str(Path.cwd())])
]
# Where runs look for published test suites: a folder for each, by the suite's name. Plans name suites and no paths.
SUITES_FOLDER = Path(env.str("SUITES_FOLDER", default=str(SEMBLANCE_HOME / "suites"))).expanduser()
# A WordNet in Princeton's format, whose synonyms count as one word where pairs are composed; the usual places without.
WORDNET_FOLDER = env.str("WORDNET_FOLDER", default="")
# Whether a hub, what it leads to, and receivers of webhooks may be addresses inside a network: one's own mirror.
PRIVATE_ADDRESSES = env.bool("PRIVATE_ADDRESSES", default=False)
# The OpenAI-compatible API that workers ask for models openai:NAME. Read from the environment alone: never stored.
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=300 * 1024**2)
# What one person may upload in a day, and how many of their runs may wait for a worker. Commands have no such limit.
UPLOADS_PER_DAY_BYTES = env.int("UPLOADS_PER_DAY_BYTES", default=5 * 1024**3)
RUNS_WAITING_MOST = env.int("RUNS_WAITING_MOST", default=100)
# With less than this the health check says that the disk is nearly full.
DISK_FREE_MIN_BYTES = env.int("DISK_FREE_MIN_BYTES", default=1024**3)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "curation.people.accounts.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "curation.people.accounts.tokens.InScope",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "semblance.rest.Pages",
    "DEFAULT_PARSER_CLASSES": [
        "semblance.rest.ReadableJSON",
        "semblance.rest.ReadableForm",
        "semblance.rest.ReadableMultiPart",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "semblance.rest.error_answer",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Semblance",
    "DESCRIPTION": "Datasets, pairs, scores, campaigns and runs, for programs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none", "validatorUrl": None},
    "PATH_CONVERTER_OVERRIDES": {"number": int},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "semblance.rest.refusals_described",
    ],
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "SERVERS": [{"url": SITE_PATH}] if SITE_PATH else [],
    "ENUM_NAME_OVERRIDES": {
        "ImportStateEnum": "curation.models.ImportBatch.State",
        "KindEnum": "curation.models.ScoreSet.Kind",
        "CampaignWorkKindEnum": "annotation.models.CampaignWork.Kind",
        "CampaignWorkStateEnum": "annotation.models.CampaignWork.State",
    },
}

# Celery. A message only invites a worker to claim a run; the run's row is the truth (docs/adr).
BROKER_FOLDER = SEMBLANCE_HOME / "broker"
# What sends messages to workers, by name: most commands send none, and loading Celery takes as long as loading Django.
BACKGROUND_APP = "semblance.celery.app"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object]
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # Two installations number their runs alike: one's workers must not take the other's messages.
        "global_keyprefix": f"{REDIS_PREFIX}:",
        "queue_order_strategy": "semblance.broker:RedisOrder",
        # Longer than any run: Redis hands a message out again after this time.
        "visibility_timeout": 60 * 60 * 24 * 7,
        # Whoever starts a run does not wait for a broker that is away or hangs: the sweep invites again.
        "socket_connect_timeout": 3,
        "socket_timeout": 5,
        "max_retries": 0,
    }
else:
    for folder in ("messages", "control"):
        (BROKER_FOLDER / folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "filesystem://localhost"  # the name means nothing, but its lack is warned of
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_FOLDER / "messages"),
        "data_folder_out": str(BROKER_FOLDER / "messages"),
        "control_folder": str(BROKER_FOLDER / "control"),
    }
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False  # the sweep invites again; a poisoned run must not loop by itself
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# What Flower and programs that add workers by need read. Through files nobody would read them.
CELERY_WORKER_SEND_TASK_EVENTS = CELERY_TASK_SEND_SENT_EVENT = bool(REDIS_URL)
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # pages read WorkerHeartbeat and never ask a worker
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# By default a worker ends when the broker was away for three quarters of an hour.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TIMEZONE = "UTC"
# In memory: a file of last times would only be one more that a full disk stops. What beat asks for comes every minute.
CELERY_BEAT_SCHEDULER = "semblance.beat:BeatThatSaysSo"
CELERY_BEAT_SCHEDULE = {
    # It expires before the next one comes: a busy worker must not find a pile of them afterwards. Queued runs are found
    # without beat (mlworkers.tasks.worker_arrives).
    "expire-leases": {"task": "annotation.expire_leases", "schedule": 60.0, "options": {"expires": 55}},
    "curation-sweep": {"task": "curation.sweep", "schedule": 60.0, "options": {"expires": 55}},
    "annotation-tidy": {"task": "annotation.tidy", "schedule": 3600.0, "options": {"expires": 3500}},
    "mlworkers-tidy": {"task": "mlworkers.tidy", "schedule": 600.0, "options": {"expires": 550}},
}

# Which accelerators a worker may use, as CUDA itself reads it; all where it is not set.
CUDA_VISIBLE_DEVICES = env.str("CUDA_VISIBLE_DEVICES", default=None)
# Another worker takes over a run whose worker was silent for this long; an import may then be started again.
RUN_STALE_SECONDS = env.float("RUN_STALE_SECONDS", default=60)
# A job that reports nothing new for so long is shown as stuck, though its worker is heard.
STUCK_SECONDS = 60 * env.float("STUCK_MINUTES", default=30)

# What a program sends that reads /metrics; without it there is nothing at that address.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
# Where errors are reported, by programs that have the extra `sentry`; nowhere without it.
SENTRY_DSN = env.str("SENTRY_DSN", default="")
if SENTRY_DSN:
    errors_report(SENTRY_DSN)

# A line for each request, on standard output; a proxy in front mostly writes one.
ACCESS_LOG = env.bool("ACCESS_LOG", default=False)
LOG_FORMAT = env.str("LOG_FORMAT", default="line")
if LOG_FORMAT not in {"line", "json"}:
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT}; give line or json.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_ids": {"()": "semblance.request_ids.RequestIds"}},
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} {request_id}: {message}", "style": "{"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "{asctime} {levelname} {name} {request_id} {message}",
            "style": "{",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
        },
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["request_ids"]}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
