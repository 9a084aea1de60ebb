from django.apps import AppConfig


class SemblanceConfig(AppConfig):
    name = "semblance"
    verbose_name = "Semblance"

    def ready(self) -> None:
        from semblance import health, logins  # noqa: F401, PLC0415 - both register what they have
