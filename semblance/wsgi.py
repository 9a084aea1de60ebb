"""What gunicorn serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application

# Pages factor matrices of some hundred rows. On a busy machine, threads of OpenBLAS that wait for each other make that
# fifty times slower (log of experiments). It reads this when numpy is imported, which is after this line.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is loaded here stays. To look through it for garbage while it grows takes a fifth of the start, and afterwards
# time in every full collection.
gc.disable()
application = get_wsgi_application()
import semblance.urls  # noqa: E402, F401 - needs Django; the first request would wait for it

gc.freeze()
gc.enable()
