# The site and its workers. Build: docker build -t semblance . With a smaller image for the web alone: --build-arg EXTRAS=
FROM python:3.11-slim AS build
ARG EXTRAS=[ml,s3]
WORKDIR /src
# What the site needs comes first, in a layer that is built again only if these files change: torch alone is gigabytes.
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY curation/version.py curation/
RUN python -m venv /opt/semblance \
 && /opt/semblance/bin/pip install --no-cache-dir --constraint constraints.txt ".${EXTRAS}"
COPY . .
RUN /opt/semblance/bin/pip install --no-cache-dir --no-deps --force-reinstall .

FROM python:3.11-slim
# The number is fixed, so that a volume keeps its owner when the image is built again.
RUN useradd --uid 10001 --create-home --home-dir /home/semblance semblance \
 && install --directory --owner=semblance --mode=0750 /data
COPY --from=build /opt/semblance /opt/semblance
# Models of a hub are kept in the volume: the rest of the disk can be read-only.
ENV PATH=/opt/semblance/bin:$PATH SEMBLANCE_HOME=/data HF_HOME=/data/hub PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER semblance
WORKDIR /home/semblance
VOLUME /data
EXPOSE 8000
# What a container runtime sends first. Web, workers and beat all finish or hand back what they do.
STOPSIGNAL SIGTERM
CMD ["gunicorn", "--config", "python:semblance.serving.web_server", "--bind", "0.0.0.0:8000", "semblance.wsgi:application"]
