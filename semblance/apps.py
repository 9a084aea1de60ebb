from django.apps import AppConfig


class SemblanceConfig(AppConfig):
    name = "semblance"
    verbose_name = "Semblance"

    def ready(self) -> None:
        import semblance.health  # noqa: F401, PLC0415 - registers them
