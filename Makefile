# make start   install, and open the lessons in JupyterLab   (BROWSER=none opens nothing)
# make test    install, then run lint and tests
# make env     install only
# make lint    check style and types
# make tests   run the tests
# make site    write all lessons as pages that work offline to site/
# make pdf     print these pages to site/course.pdf; needs an installed Chromium
# make fuzz    run more tests of random texts and arguments: FUZZ=100
# make corpus  test the pictures of all graphs of tests/corpus; make test draws nine of them
# make mutants insert small faults into the engine and count the faults that its tests notice
# make bench   measure speed relative to other tools
#
# PYTHON=… selects the interpreter (3.11 or later), VENV=… the folder of the environment, and
# ONLY='not browser' skips the tests in Chromium, which are the slowest.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
COURSE ?= course
SETTINGS := $(VENV)/share/jupyter/lab/settings
# Show the number of packages during an installation, and print pip's errors.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
install = @$(BIN)/python -m pip --disable-pip-version-check install --progress-bar off --editable '.[$(1)]' 2>&1 | \
	{ while read -r line; do case "$$line" in \
	Collecting*|"Requirement already"*) n=$$((n + 1)); printf '\r  %d packages found, %d s' $$n $$SECONDS;; \
	"Installing collected"*) printf '\n  installing new packages, the second half of the time\n';; \
	"Successfully installed"*) echo "  done after $$SECONDS s";; \
	*[Ee][Rr][Rr][Oo][Rr]*) echo "$$line" >&2;; esac; done; }
comma := ,
# A worker more than cores, because tests in a browser wait.
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
SITE ?= site
CHROMIUM ?= $(shell which chromium chromium-browser google-chrome chrome msedge 2>/dev/null | head -n 1)

.PHONY: start lessons env test tests lint site pdf fuzz corpus mutants bench clean

start: lessons
	@$(BIN)/jupyter lab $(if $(filter none,$(BROWSER)),--no-browser) $(if $(filter 0,$(shell id -u)),--allow-root) \
		--log-level=WARN --LabApp.default_url=/lab/tree/$(COURSE)/index.ipynb

test: lint tests

# A worker runs all tests of a file, because they share expensive objects such as a JupyterLab server.
# The summary lists skipped tests with reasons, and the ten slowest tests.
tests: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder -rs --durations=10 $(if $(ONLY),-m '$(ONLY)')

env: $(VENV)/.test

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

site: $(VENV)/.site
	$(BIN)/python -m sphinx -q -W -j $(JOBS) -d $(VENV)/.doctrees -E -c notebooks/site notebooks $(SITE)
	@echo "Open $(SITE)/index.html"

pdf: site
	@if [ -z "$(CHROMIUM)" ]; then echo "Chromium is missing; set its path with CHROMIUM=…" >&2; exit 1; fi
	@for page in $(SITE)/[0-9]*.html; do $(CHROMIUM) --headless $(if $(filter 0,$(shell id -u)),--no-sandbox) \
		--user-data-dir=$(VENV)/.chromium --no-pdf-header-footer \
		--print-to-pdf=$${page%html}pdf "file://$$(realpath $$page)" 2>&1 | \
		{ grep written || { echo "$(CHROMIUM) did not print $$page" >&2; exit 1; }; } || exit 1; done
	@$(BIN)/pypdfium2 arrange $(SITE)/[0-9]*.pdf -o $(SITE)/course.pdf
	@echo "Print $(SITE)/course.pdf"

fuzz: $(VENV)/.test
	FUZZ=$(or $(FUZZ),100) $(BIN)/python -m pytest -n $(JOBS) -m fuzz

corpus: $(VENV)/.test
	CORPUS=all $(BIN)/python -m pytest -n $(JOBS) tests/corpus

mutants: $(VENV)/.test
	$(BIN)/python bench/mutants.py --count $(or $(COUNT),20) $(PACKAGES)

bench: $(VENV)/.test
	PYTHONPATH=tests/support $(BIN)/python bench

# Convert the lessons from text to notebooks in a folder of their own.
lessons: $(VENV)/.start
	@$(BIN)/scantape lessons $(COURSE) --no-open

$(VENV)/.venv:
	@if [ -z "$(PYTHON)" ]; then echo "Scantape needs Python 3.11 or later; set it with PYTHON=…" >&2; exit 1; fi
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; ok = sys.version_info >= (3, 11); \
	print(f"Setting up $(VENV) with Python {v}, once: a hundred packages, one to three minutes." if ok else \
	f"Scantape needs Python 3.11 or later, but $(PYTHON) is {v}; set another with PYTHON=…"); sys.exit(not ok)'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.start: pyproject.toml | $(VENV)/.venv
	$(call install,notebook)
	@mkdir -p $(SETTINGS)
	@echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}' > $(SETTINGS)/overrides.json
	@touch $@

$(VENV)/.site: pyproject.toml | $(VENV)/.start
	$(call install,notebook$(comma)site)
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.start
	$(call install,notebook$(comma)site$(comma)dev)
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info build dist
