# Needs make, git and Python 3.11 or newer; everything else goes into .venv.
# `make report` and `make test` need the network only until .venv is complete.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
STUDY ?= study
OLD_COMMIT := d9e4d64
OLD := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/faultatlas/old-$(OLD_COMMIT)

# The first interpreter that really starts and is new enough (a name on the path may be a dead shim).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: help install report test old record faults check size format docs tutorial site bench lock clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

$(READY): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "faultatlas needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing into $(VENV) (once; a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(READY)

install: $(READY)  ## Make .venv with all extras

report: $(READY)  ## Print the research-versus-practice gap and write its report
	@$(BIN)/analysis coverage-gap --study $(STUDY)

test: $(READY)  ## Run the tests but those of `make faults`
	@# Compiled once: hundreds of processes that tests start would each do it again.
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder --ignore=tests/faults

old: $(READY)  ## Install the program before its rewrite, for recording golden tests
	@test -e $(OLD)/.ready || { echo "Installing commit $(OLD_COMMIT) into $(OLD) (once)" && \
		rm -rf $(OLD) && mkdir -p $(OLD) && git archive $(OLD_COMMIT) | tar -x -C $(OLD) && \
		$(BIN)/python -m venv $(OLD)/.venv && \
		$(BIN)/uv pip install --quiet --python $(OLD)/.venv/bin/python -r $(OLD)/requirements.lock && \
		cd $(OLD) && .venv/bin/python -m pip install --quiet --disable-pip-version-check \
			--no-build-isolation --no-deps --editable . && touch .ready; }

record: old  ## Record golden tests from the old program (ONLY=G06,G35 COMPARE=1: compare, write nothing)
	@PYTHONPATH=tests $(BIN)/python -P -m golden.record $(if $(ONLY),--only $(ONLY)) $(if $(COMPARE),--compare)

faults: $(READY)  ## Run a whole study while things break
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --dist worksteal tests/faults

check: $(READY)  ## Lint, types, layers, generated pages, dead links, size of the code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy .ci/size.py
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m docs.generate --check
	@$(BIN)/python -m docs.site --check
	@$(BIN)/annotation taxonomy validate -q
	@$(BIN)/python .ci/size.py

size: $(READY)  ## Record the size and structure of the code after a deliberate change
	@$(BIN)/python .ci/size.py --write

format: $(READY)  ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY)  ## Write the generated pages of docs/
	@$(BIN)/python -m docs.generate

tutorial: $(READY)  ## Write the outputs and pictures of docs/tutorial.md, by running its commands
	@PYTHONPATH=tests $(BIN)/python -m walkthrough

site: $(READY)  ## Build docs/ as a site in build/site
	@$(BIN)/python -m docs.site

bench: $(READY)  ## Measure speed and memory beside other tools (ONLY=commits,dump WRITE=docs/performance.md)
	@$(BIN)/python tests/bench/run.py $(if $(ONLY),--only $(ONLY)) $(if $(WRITE),--write $(WRITE)) $(if $(JSON),--json $(JSON))

lock: $(READY)  ## Resolve requirements.lock again
	@$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate --upgrade --quiet \
		--output-file requirements.lock

clean:  ## Remove the environment and what the tools left
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
