# What a developer runs. It needs Python 3.11 or later and make; `make` alone lists the targets.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BENCH_VENV := .venv-bench
BIN := $(VENV)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
TORCH := $(shell grep '^torch==' constraints.txt)
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -ra --durations=10
COVERED := core sampling files storage

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all soak lint format pins bench-setup calibration calibration-page docs-data release clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.installed  ## install, then run the whole playbook on a bundled problem
	@$(BIN)/tunebook demo

test: lint  ## install, then the checks and every test that is not long
	@rm -f .coverage .coverage.*
	$(PYTEST) -m "not long and not soak" --cov --cov-report=
	@for package in $(COVERED); do \
		report="$(BIN)/coverage report --include=src/tunebook/$$package/*"; \
		if total=$$($$report --format=total --precision=2 --fail-under=95.01); then \
			echo "tunebook.$$package: $$total% covered, branches included"; \
		else \
			echo "tunebook.$$package must be covered above 95%, branches included:"; \
			$$report --show-missing --skip-covered; exit 1; \
		fi; \
	done

test-all: $(VENV)/.installed  ## the long tests, after `make test`
	$(PYTEST) -m long --timeout=1500 --hypothesis-profile=long || { code=$$?; \
		[ $$code != 5 ] || echo "No test is marked long: make test-all has nothing to run."; exit $$code; }

soak: $(VENV)/.installed  ## the tests that have no limit of time
	$(BIN)/python -m pytest -m soak --timeout=0 -ra --capture=no || { code=$$?; \
		[ $$code != 5 ] || echo "No test is marked soak: make soak has nothing to run."; exit $$code; }

lint: $(VENV)/.installed  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.installed  ## let ruff mend what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# To move a pin: `.venv/bin/pip install -U <name>`, `make pins`, `make test`.
# The build of torch (+cpu, +cu126) is left open: whichever the machine has fits the pin.
pins:  ## write the versions that .venv holds into constraints.txt
	@{ sed -n '/^#/p' constraints.txt; \
		$(BIN)/python -m pip freeze --exclude-editable --exclude tunebook \
			| sed 's/^\(torch==[^+]*\)+.*/\1/'; } > constraints.txt.new
	@mv constraints.txt.new constraints.txt
	@touch $(VENV)/.installed

bench-setup: $(BENCH_VENV)/.installed  ## the environment of the benchmarks, with the peers

# One thread each: the matrices are small. The folder of public logs is read where it is.
calibration: $(VENV)/.installed  ## compute the calibration of all findings again (half an hour), then its page
	@for script in alarms power winners logs probes; do \
		OPENBLAS_NUM_THREADS=1 $(BIN)/python calibration/$$script.py || exit 1; done
	@$(MAKE) --no-print-directory calibration-page

calibration-page: $(VENV)/.installed  ## docs/calibration.md from the results that are kept
	@$(BIN)/python calibration/page.py

docs-data: $(VENV)/.installed  ## docs/real from public tuning logs, where these are at hand
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python calibration/real_reports.py

release: $(VENV)/.installed  ## build sdist and wheel of the last commit, then run the demo from the wheel
	@rm -rf dist
	@set -e; place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; \
	echo "Building commit $$(git rev-parse --short HEAD)"; \
	mkdir "$$place/source"; git archive HEAD | tar -x -C "$$place/source"; \
	$(BIN)/python -m build --outdir dist "$$place/source"; \
	echo "Installing the wheel into an empty environment"; \
	$(PYTHON) -m venv "$$place/venv"; \
	"$$place/venv/bin/python" $(PIP_INSTALL) -c constraints.txt $(TORCH); \
	"$$place/venv/bin/python" $(PIP_INSTALL) -c constraints.txt "$$(echo dist/*.whl)[demo]"; \
	cd "$$place" && venv/bin/tunebook demo

clean:  ## remove what was built and cached; the environments stay
	rm -rf dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis

# torch comes first and by its exact version: asked for it in passing, pip may choose another build
# and bring gigabytes of CUDA libraries along.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "tunebook needs Python 3.11 or later, and $(PYTHON) is not; name one: make PYTHON=python3.12"; \
		exit 1; }
	@echo "Installing into $(VENV) (a few minutes the first time)"
	@$(PYTHON) -m venv $(VENV) || { \
		echo "$(PYTHON) cannot make environments; on Debian, install python3-venv"; exit 1; }
	@$(BIN)/python $(PIP_INSTALL) -c constraints.txt $(TORCH)
	@$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[all,dev]"
	@touch $@

$(BENCH_VENV)/.installed: benchmarks/requirements.txt
	@echo "Installing into $(BENCH_VENV) (a few minutes the first time)"
	@$(PYTHON) -m venv $(BENCH_VENV)
	@torch=$$(grep '^torch==' $<); \
		[ -z "$$torch" ] || $(BENCH_VENV)/bin/python $(PIP_INSTALL) "$$torch"
	@$(BENCH_VENV)/bin/python $(PIP_INSTALL) -r $<
	@touch $@
