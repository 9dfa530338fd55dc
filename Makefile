# Every target makes what it needs. `make demo` shows the main job, `make test` runs the tests, `make docs` rewrites what
# the docs print of the program.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all lint docs check-machine clean

demo: $(VENV)/.installed
	@PATH="$(abspath $(BIN)):$$PATH" sh example-vault/demo.sh

test: $(VENV)/.installed-dev lint
	$(BIN)/python -m pytest -n auto

test-all: $(VENV)/.installed-dev lint
	$(BIN)/python -m pytest -n auto -m ''

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python tests/test_docs.py

$(VENV)/.installed: pyproject.toml | check-machine
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | check-machine
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

# One clear line for each thing that may be missing, instead of a page from pip.
check-machine:
	@command -v git >/dev/null 2>&1 || { echo "memidx needs git: install it and run make again" >&2; exit 1; }
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "memidx needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "memidx needs Python 3.11 or newer: say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "memidx needs Python's venv module: install it (Debian: apt install python3-venv)" >&2; exit 1; }
	@command -v c++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || { echo "memidx needs a C++ compiler to install hnswlib: install g++ or clang (Debian: apt install g++)" >&2; exit 1; }
	@$(PYTHON) -c 'import os, sysconfig; header = os.path.join(sysconfig.get_path("include"), "Python.h"); raise SystemExit(not os.path.exists(header))' || { echo "memidx needs Python's headers to install hnswlib (Debian: apt install python3-dev)" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
