# Two images. web has what the site, beat and commands need, without torch; worker has all extras besides.
#   docker build --target web --tag semblance-web .
#   docker build --target worker --tag semblance-worker .                         for GPUs; runs on processors as well
#   docker build --target worker --tag semblance-worker --build-arg DEVICE=cpu --build-arg TORCH_INDEX=ADDRESS .
# The last one is smaller. ADDRESS is PyTorch's index of packages for processors.
# Packages of all extras exist for Python 3.11 to 3.14 (docs/guide/run-a-site/requirements.md). deployment/pin_images.py writes digests behind the tags.

FROM python:3.14.7-slim AS wheel
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt setuptools wheel \
 && python deployment/build_wheel.py /wheel

# What the site needs comes first, in a layer that is built again only if these files change: torch alone is gigabytes.
FROM python:3.14.7-slim AS packages
WORKDIR /src
COPY deployment/install.sh deployment/
COPY semblance/requirements semblance/requirements

FROM packages AS web-packages
RUN sh deployment/install.sh /opt/semblance web semblance/requirements
COPY --from=wheel /wheel /wheel
RUN sh deployment/install.sh /opt/semblance web /wheel/*.whl
COPY deployment/sbom.py deployment/
RUN python deployment/sbom.py --environment /opt/semblance /opt/semblance/parts.cdx.json

FROM packages AS worker-packages
ARG DEVICE=cuda
ARG TORCH_INDEX=
RUN sh deployment/install.sh /opt/semblance worker-${DEVICE} semblance/requirements
COPY --from=wheel /wheel /wheel
RUN sh deployment/install.sh /opt/semblance worker-${DEVICE} /wheel/*.whl
COPY deployment/sbom.py deployment/
RUN python deployment/sbom.py --environment /opt/semblance /opt/semblance/parts.cdx.json

FROM python:3.14.7-slim AS program
# The number is fixed, so that a volume keeps its owner when the image is built again.
RUN useradd --uid 10001 --create-home --home-dir /home/semblance semblance \
 && install --directory --owner=semblance --mode=0750 /data
# Models of a hub are kept in the volume: the rest of the disk can be read-only.
ENV PATH=/opt/semblance/bin:$PATH SEMBLANCE_HOME=/data HF_HOME=/data/hub PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER semblance
WORKDIR /home/semblance
VOLUME /data
# What a container runtime sends first. Web, workers and beat all finish or hand back what they do.
STOPSIGNAL SIGTERM

FROM program AS worker
COPY --from=worker-packages /opt/semblance /opt/semblance
CMD ["semblance", "worker"]

FROM program AS web
COPY --from=web-packages /opt/semblance /opt/semblance
EXPOSE 8000
CMD ["gunicorn", "--config", "python:semblance.serving.web_server", "--bind", "0.0.0.0:8000", "semblance.wsgi:application"]
