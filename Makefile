# Needs only make and Python 3.11 or newer; everything else goes into .venv.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# One process for each core, each with one thread, a file's tests in one process.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile
REPORT := build/four_bar.html

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all soak check style types lint docs browser figures bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(VENV)/core.stamp ## install the core and run a four-bar mechanism; writes a report
	@mkdir -p build
	$(BIN)/cotree run examples/four_bar.yaml --report $(REPORT)
	@echo "Report: $(REPORT) (open it in a browser)"

test: style browser ## all checks and the quick tests
	@$(call beside,types docs,$(PYTEST))

test-all: style browser ## all checks, the slow tests too, and more random cases
	@$(call beside,types docs,COTREE_TEST_CASES=many $(PYTEST) -m "not soak")

soak: $(VENV)/test.stamp ## tests that take very long: ROOM=tests/io, or all
	COTREE_TEST_CASES=many $(PYTEST) -m soak $(ROOM)

# Targets that run beside a command, so that no core is idle; what they print comes after it.
define beside
mkdir -p build; $(MAKE) --no-print-directory $(1) >build/checks.log 2>&1 & checks=$$!; \
$(2); tests=$$?; wait $$checks; checked=$$?; cat build/checks.log; exit $$((tests || checked))
endef

check: lint docs

lint: style types ## ruff, mypy and the import rules

style: $(VENV)/test.stamp
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

docs: $(VENV)/test.stamp ## build the documentation; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "Documentation: docs/_build/html/index.html"

# Pages are tested in Chromium. It is installed where that is allowed; elsewhere those tests are skipped with a reason.
browser:
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium for the tests of pages" \
	&& apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; } \
	|| echo "There is no Chromium here, and it cannot be installed: tests of pages will be skipped"

figures: $(VENV)/test.stamp browser ## write the pictures and numbers of the documentation anew
	$(BIN)/python docs/regenerate.py

bench: $(VENV)/test.stamp ## measure; prints tables
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/graph.py
	$(BIN)/python bench/network.py
	$(BIN)/python bench/rigid/run.py
	$(BIN)/python bench/flexible/run.py
	$(BIN)/python bench/nodal/run.py
	$(BIN)/python bench/bond/run.py
	$(BIN)/python bench/machines.py

clean: ## remove the virtual environment and everything that was built
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/venv.stamp:
	@command -v "$(PYTHON)" >/dev/null || { echo "Cotree needs Python 3.11 or newer, and '$(PYTHON)' was not found: install it or call make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Cotree needs Python 3.11 or newer, and '$(PYTHON)' is older: call, for example, make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { echo "'$(PYTHON)' has no venv: install it (Debian and Ubuntu: the package python3-venv)" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/core.stamp: pyproject.toml $(VENV)/venv.stamp
	$(PIP) install --editable '.[view]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml $(VENV)/venv.stamp
	$(PIP) install --editable '.[data,test,docs]'
	@touch $@ $(VENV)/core.stamp
