"""What gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

# Pages factor matrices of some hundred rows. On a busy machine, threads of OpenBLAS that wait for each other make that
# fifty times slower (log of experiments). It reads this when numpy is imported, which is after this line.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

application = get_wsgi_application()
