FROM node:22-slim AS dashboard
WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci
COPY frontend ./
RUN npm run build

# One image for API and worker; the worker needs git, and bubblewrap to confine what it runs.
FROM python:3.13-slim-trixie

RUN apt-get update \
    && apt-get install -y --no-install-recommends git bubblewrap openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 phaserunner \
    && install -d -o phaserunner -g phaserunner /data

WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --compile --require-hashes -r requirements.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY backend ./backend
COPY examples ./examples
COPY --from=dashboard /frontend/dist ./frontend/dist
RUN pip install --no-cache-dir --compile --no-deps .

USER phaserunner
ENV DATA_DIR=/data PYTHONUNBUFFERED=1
EXPOSE 8000
# Of the API. A worker that runs alone has no port: it renews WORKER_ALIVE_FILE (see docker-compose.yml).
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 8000)}/healthz', timeout=2)"]
CMD ["phaserunner", "serve"]
