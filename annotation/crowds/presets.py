"""What a platform calls the parameters of its links, and where it takes people back. A preset fills in a form."""

from typing import NamedTuple

from django.utils.translation import gettext_lazy as _


class Preset(NamedTuple):
    """The settings of a platform, by the names of `Crowd`; `parameters` is what the platform's form asks to be added
    to the entry link, with the placeholders that the platform fills in.
    """

    label: object
    settings: dict[str, str]
    parameters: str


# https://docs.prolific.com: the entry link carries three placeholders; several completion codes per study.
PRESETS = {
    "prolific": Preset(
        _("Prolific"),
        {
            "external_id_parameter": "PROLIFIC_PID",
            "study_parameter": "STUDY_ID",
            "submission_parameter": "SESSION_ID",
            "completion_address": "https://app.prolific.com/submissions/complete?cc={code}",
        },
        "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    ),
    "generic": Preset(
        _("Another platform, or a link for volunteers"),
        {
            "external_id_parameter": "participant",
            "study_parameter": "",
            "submission_parameter": "",
            "completion_address": "",
        },
        "participant=…",
    ),
}


def parameters_of(settings: dict[str, str]) -> str:
    """What is added to the entry link, where the platform replaces the placeholders in double braces."""
    for preset in PRESETS.values():
        if all(
            settings[name] == value for name, value in preset.settings.items() if name.endswith("_parameter")
        ):
            return preset.parameters
    names = (settings[f"{name}_parameter"] for name in ("external_id", "study", "submission"))
    return "&".join(f"{name}=…" for name in names if name)
