# `make demo` and `make test` set the machine up themselves: Python 3.11 or newer is all they need.
VENV := .venv
PYTHON := $(VENV)/bin/python
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# Models run one at a time where there is a GPU.
PROFILE := $(shell nvidia-smi >/dev/null 2>&1 && echo --profile profiles/gpu)
# With `rules` a failed job's message would be left out, too.
QUIET := --quiet host reason
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# The first one that runs and is new enough; set SYSTEM_PYTHON to choose another.
SYSTEM_PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null && { command -v "$$python"; break; }; done)
# Programs of the environment run this checkout's code, whichever checkout the environment is of.
export PYTHONPATH := $(CURDIR)
SMK := Snakefile $(wildcard rules/*.smk rules/*/*.smk)
# The result of the default study, one page.
ATLAS := results/demo/atlas.html

.DEFAULT_GOAL := help
.PHONY: help setup setup-web demo atlas sentence test lint format docs unit workflow tiny test-papers test-faults test-slurm test-web lint-web clean distclean

help:
	@echo "make demo       set up and run the default study; CORES=n, all cores by default"
	@echo "make atlas MODEL=... TEXT=...  all heads of a model (directory, .gguf or id on the hub) on a text, on one page"
	@echo 'make sentence STUDY=mine.yaml TEXT="..."  add maps of a sentence, or of those in a file, to its page'
	@echo "make test       set up, then lint, unit and workflow; each is a target, too"
	@echo "make test-faults  injected faults: killed jobs, full disks; make test-slurm: a real SLURM"
	@echo "make tiny CHAPTERS=surface  some chapters of a tiny study: what a new measure makes, in a minute"
	@echo "make test-papers  what studies/papers.yaml has from the hub, of which this machine has a stand-in"
	@echo "make test-web   test the default study's atlas in a browser; make lint-web: its JavaScript"
	@echo "make docs       write what the pages list of keys and results"
	@echo "make format     format the code"
	@echo "make setup      set up .venv only; VENV=/path/to/venv: another environment, used as it is if it has all pins"
	@echo "make clean      remove results and caches; distclean removes the set-up too"

# An environment that has every pin is used as it is; only one that was made here is changed.
setup:
	@envs/setup.sh "$(VENV)" "$(SYSTEM_PYTHON)"

# After `setup`, never at the same time: both change the environment.
setup-web: setup
	@envs/setup.sh "$(VENV)" "$(SYSTEM_PYTHON)" web

# The default study, to the end.
demo: setup
	$(PYTHON) -m snakemake --cores $(CORES) $(PROFILE) $(QUIET)
	@echo && echo "Open $(ATLAS) in a browser."

# A study of one model on one text: NAME.yaml is written unless it is there, and run.
atlas: setup
	@test -n "$$MODEL" || { echo "Error: give MODEL=, a directory, a .gguf file or a hub id" >&2; exit 1; }
	@study=$$($(PYTHON) -m workflow_scripts.new_study "$$MODEL" $${TEXT:+"$$TEXT"} $${BEFORE:+--before "$$BEFORE"} $${NAME:+--name "$$NAME"} --write) && \
	$(PYTHON) -m snakemake --cores $(CORES) $(PROFILE) $(QUIET) --configfile "$$study" && \
	echo && echo "Open results/$${study%.yaml}/atlas.html in a browser. To change the study, edit $$study."

# Maps of a text of one's own on the page of a finished study: a sentence, or a file with one a line.
STUDY ?= config.yaml
sentence: override export TEXT := $(value TEXT)
sentence: setup
	@$(PYTHON) -m workflow_scripts.atlas.sentence --cores $(CORES) -- "$(STUDY)" "$$TEXT"

# Tests share the cores, one thread each.
PYTEST := OMP_NUM_THREADS=1 $(PYTHON) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
APART := papers web faults cluster slurm

# Lint, then unit tests and whole runs of the workflow together: while those wait for a job, or for
# the tiny study, the other worker has tests to do.
test: lint
	$(PYTEST) $(APART:%=--ignore=tests/%)

lint: setup
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m snakefmt --check $(SMK)
	$(PYTHON) -m snakemake --lint
	$(VENV)/bin/lint-imports --no-cache

unit: setup
	$(PYTEST) $(patsubst %,--ignore=tests/%,workflow $(APART))

workflow: setup
	$(PYTEST) tests/workflow

# Faults that are really injected: killed jobs, a full disk; and a cluster's scheduler.
test-faults: setup
	$(PYTHON) -m pytest tests/faults tests/cluster --numprocesses 2 --dist loadfile

# What the papers' study downloads: tiny models and made-up data, which a hub on this machine has.
test-papers: setup
	$(PYTHON) -m pytest tests/papers

# Some chapters of the tiny study, by this checkout's code: what a new measure makes, in a minute.
CHAPTERS ?= surface
tiny: setup
	@$(PYTHON) -m tests.workflow.some_chapters $(CHAPTERS)

# A real SLURM on this machine, where its programs are; skipped elsewhere. Each worker has its own,
# and mostly waits for it.
test-slurm: setup
	$(PYTHON) -m pytest tests/slurm --numprocesses 3 --dist loadfile

# The page of the atlas: its JavaScript linted, its functions tested apart, then all in a browser.
# Each worker has its own browser, and often waits for it.
test-web: lint-web
	@test -f $(ATLAS) || { echo "Error: $(ATLAS) is tested and does not exist: make demo writes it" >&2; exit 1; }
	$(PYTHON) -m tests.web.browser node --test "tests/atlas/js/*.test.js"
	$(PYTHON) -m pytest tests/web --numprocesses 2 --dist worksteal

lint-web: setup-web
	$(VENV)/bin/oxlint --deny-warnings workflow_scripts/atlas/page tests/atlas/js

format: setup
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(PYTHON) -m snakefmt $(SMK)

# The reference of a study's keys, and the results.
docs: setup
	$(PYTHON) docs/configuration.py
	$(PYTHON) docs/results.py

# Products and caches; the virtual environment stays.
clean:
	rm -rf results .snakemake .pytest_cache .ruff_cache build
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf attention_atlas.egg-info
	@case "$$(cat $(VENV)/.ready $(VENV)/.setting-up 2>/dev/null)" in \
		"$(CURDIR)") rm -rf $(VENV) ;; \
		*) test ! -e $(VENV) || echo "$(VENV) was not made here, and is left" ;; \
	esac
