# PhaseRunner: every task of the project. `make` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

GOAL ?=
REPO ?=
AGENT ?=
PORT ?=
ARGS ?=
OUT ?=
SHARD ?= commit
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 )))

# Behind a proxy that inspects TLS, only the system's certificates lead to its authority. uv has a list of its own
# unless it is told so; npm, git and pip each have a variable of their own for the file that SSL_CERT_FILE names.
export UV_SYSTEM_CERTS ?= true
ifneq ($(SSL_CERT_FILE),)
export NODE_EXTRA_CA_CERTS ?= $(SSL_CERT_FILE)
export GIT_SSL_CAINFO ?= $(SSL_CERT_FILE)
export PIP_CERT ?= $(SSL_CERT_FILE)
endif

.PHONY: help setup run test test-all forge-samples test-faults test-agents test-image test-compose lint format types lock bench check-layers dashboard check-dashboard api-types docs screenshots lighthouse wheel check-wheel clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | while IFS=$$'\t' read -r name text; do printf '  %-14s %s\n' "$$name" "$$text"; done

setup: $(STAMP) ## Prepare .venv with the locked dependencies

$(STAMP): requirements-dev.lock requirements-setup.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "PhaseRunner needs Python 3.11 or newer; name it: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing the locked dependencies into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-setup.lock
	@$(BIN)/python -m uv pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements-dev.lock
	@$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@$(BIN)/python -m compileall -q backend/app backend/phaserunner
	@touch $@

run: setup dashboard-if-possible ## Start everything and run a sprint: make run [GOAL="..." REPO=path] [AGENT=...] [PORT=8000]
	@exec $(BIN)/phaserunner up $(if $(value GOAL),"$$GOAL_TEXT") $(if $(value REPO),--repo "$$REPO_PATH") $(if $(AGENT),--agent "$(AGENT)") $(if $(PORT),--port $(PORT)) $(ARGS)

# As they were typed: make would take a dollar sign for a variable.
run: export GOAL_TEXT = $(value GOAL)
run: export REPO_PATH = $(value REPO)

# Files of tests side by side: three for every two processors, as many tests wait for programs. JOBS=0 runs them one
# after the other. What comes before keeps one processor busy each: types of Python and of the dashboard, side by side.
#
# Slow tests are divided: a commit runs one share of them, SHARD=2 the second one. test-all runs all.
test: setup dashboard ## Lint, types, layers, fast tests, and a share of the slow ones [SHARD=2] [JOBS=4]
	@$(MAKE) --no-print-directory -j 2 lint check-dashboard forge-samples
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --durations=20 --shard=$(SHARD) $(ARGS)

test-all: ## Everything that must hold, above an hour on two cores
	@$(MAKE) --no-print-directory test SHARD=all

forge-samples: setup
	@$(BIN)/python .ci/forge_samples.py

test-faults: setup ## Break everything at every boundary, many minutes; a short form is part of test
	@$(BIN)/python -m pytest -m "long or not long" backend/tests/faults $(ARGS)

test-agents: setup ## Install real coding agents and check each, minutes and gigabytes [ARGS="codex claude"]
	@$(BIN)/python .ci/test_agents.py $(ARGS)

test-image: setup ## Build the image with Podman and start it, as root, minutes; needs debootstrap where no registry is
	@$(BIN)/python .ci/test_image.py

test-compose: setup ## Start docker-compose.yml with Podman and run sprints in it, as root; after test-image
	@$(BIN)/python .ci/test_compose.py

lint: setup types check-layers ## Format, lint, types and layers, without changing anything
	@$(BIN)/ruff format --check --quiet backend hatch_build.py .ci
	@$(BIN)/ruff check --quiet backend hatch_build.py .ci

types: setup ## Strict type check
	@$(BIN)/basedpyright --level error | tail -n 40; exit $${PIPESTATUS[0]}

check-layers: setup ## Import rules between the layers
	@cd backend && ../$(BIN)/lint-imports --config ../pyproject.toml --no-cache > ../.venv/lint-imports.log 2>&1 || { cat ../.venv/lint-imports.log; exit 1; }

dashboard: setup ## Build the dashboard, unless it is built from these sources
	@$(BIN)/python frontend/build.py

# A service without its page is better than no service; the page says why it is not there.
.PHONY: dashboard-if-possible
dashboard-if-possible: setup
	@$(BIN)/python frontend/build.py --optional

check-dashboard: dashboard ## The dashboard's lint, types, unit tests, API types and size
	@$(BIN)/python frontend/build.py --run lint
	@$(BIN)/python frontend/build.py --run types
	@$(BIN)/python frontend/build.py --run api-types-check
	@$(BIN)/python frontend/build.py --run test
	@$(BIN)/python frontend/build.py --run check

api-types: setup ## Generate the dashboard's types from what the API describes
	@$(BIN)/python frontend/build.py --run api-types

docs: setup ## Build the documentation as a site with search into build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

screenshots: setup dashboard ## Make docs/images from the real page and the examples [OUT=directory]
	@$(BIN)/python .ci/screenshots.py $(or $(OUT),docs/images)

lighthouse: setup dashboard ## Ask Lighthouse about the built page, minutes; fails below 95 [ARGS="--preset mobile"]
	@$(BIN)/python .ci/lighthouse.py $(ARGS)

wheel: setup dashboard ## Build the wheel into dist
	@$(BIN)/python -m uv build --quiet --wheel --out-dir dist .

check-wheel: setup dashboard ## Build the wheel and start it from a fresh environment
	@$(BIN)/python .ci/check_wheel.py

format: setup ## Format and fix what can be fixed safely
	@$(BIN)/ruff check --quiet --fix backend; $(BIN)/ruff format backend

bench: setup ## Benchmarks; figures go to standard output
	@cd backend && "$(CURDIR)/$(BIN)/python" -m benchmarks $(ARGS)

lock: ## Resolve the dependencies anew into requirements*.lock
	@for spec in "pyproject.toml:requirements.lock" "pyproject.toml --group dev:requirements-dev.lock" "--group setup:requirements-setup.lock"; do \
		$(BIN)/python -m uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --python-version 3.11 $${spec%%:*} -o $${spec##*:} || exit 1; done

clean: ## Remove what was built; runs and their database in .phaserunner stay
	@rm -rf .venv build dist frontend/dist frontend/node_modules frontend/build-failed.txt .coverage .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find backend -name __pycache__ -type d -prune -exec rm -rf {} +
