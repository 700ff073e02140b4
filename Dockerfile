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
CMD ["phaserunner", "serve"]
