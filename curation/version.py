"""The version of Semblance: the only place that names it. The wheel, backups and the page of workers read it here."""

VERSION = "1.0.0rc3"
