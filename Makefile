SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env test check-types check-rest demo pictures bench bench-check bench-reading bench-engines bench-rows bench-size bench-far bench-viewer rtstruct-peers fuzz clean

BIN := .venv/bin
LOGS := .cache/make-test
DEMO_BUNDLE ?= sample_bundles/torso_ct
DEMO_MODEL ?= mixed

# Tests must neither read nor change the napari settings of whoever runs them.
test: export NAPARI_CONFIG :=
# Kernels are compiled anew with every environment, and those of whoever runs this stay as they are.
test: export MEDOTTER_VIEWER_KERNELS := $(CURDIR)/.cache/kernels
# Two processes run tests: each with threads for two cores they would wait for each other.
test: export MEDOTTER_VIEWER_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1

# Tests of numbers and rings: all of them run with both engines. Others run with the plain one.
BY_BOTH_ENGINES := metrics scoring geometry test_real_bundles.py test_real_instances.py

# A header line, then the command; the first one that fails ends the run.
define step
@printf '\n== %s\n' '$(strip $(1))'
@$(1)
endef

# The same for pytest, whose output is kept so that all summary lines can stand together at the end.
define pytest
@printf '\n== %s\n' 'pytest $(strip $(2))'
@$(3) $(BIN)/pytest $(2) 2>&1 | tee $(LOGS)/$(strip $(1)).log
endef

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env:  ## Set up .venv and, as root on Debian, the packages that windows need
	@scripts/setup_env.sh
	@echo "Ready: $(BIN)/medotter-viewer"

test:  ## Run every check: style, types, layers, plugin manifest, tests, notebooks
	@scripts/setup_env.sh --need-screen
	@rm -rf $(LOGS) && mkdir -p $(LOGS)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-types check-rest
	$(call pytest,tests,-n 2 --dist worksteal -m "not window" --doctest-modules tests src)
	$(call pytest,compiled,-n 2 --dist worksteal $(BY_BOTH_ENGINES:%=tests/%),MEDOTTER_VIEWER_ENGINE=compiled)
	$(call pytest,windows,-n 2 --dist worksteal -m window tests)
	$(call pytest,notebooks,-n 2 --nbmake notebooks)
	@printf '\n== all checks passed\n'
	@tail -q -n 1 $(LOGS)/tests.log $(LOGS)/compiled.log $(LOGS)/windows.log $(LOGS)/notebooks.log

# Of one thread each and about as long: make test runs both at once. Kernels are compiled before tests of two
# processes would both do it.
check-types:
	$(call step,$(BIN)/mypy)

check-rest:
	$(call step,$(BIN)/ruff check)
	$(call step,$(BIN)/ruff format --check)
	$(call step,$(BIN)/lint-imports)
	$(call step,$(BIN)/npe2 validate --imports medotter-viewer)
	$(call step,$(BIN)/python -m medotter_viewer.engine.compile)

demo:  ## Open the viewer on a sample bundle (without a screen: score it and write demo/window.png)
	@scripts/setup_env.sh --need-screen
	@scripts/demo.sh "$(DEMO_BUNDLE)" "$(DEMO_MODEL)"

pictures:  ## Take the pictures of docs/images anew
	@scripts/setup_env.sh --need-screen
	@xvfb-run -a -s "-screen 0 1600x1000x24" $(BIN)/python scripts/pictures.py

bench:  ## Run every benchmark, equality first, and rewrite benchmarks/RESULTS.md (about 40 minutes)
	@benchmarks/setup_env.sh
	@benchmarks/run.sh rows what_if batch engines far size check reading

bench-check:  ## Compare numbers with MedPy, MONAI, surface-distance, StarDist and HoVer-Net's definition
	@benchmarks/setup_env.sh
	@benchmarks/run.sh check

bench-reading:  ## Time reading of NIfTI files against nibabel, indexed_gzip and SimpleITK
	@benchmarks/setup_env.sh
	@benchmarks/run.sh reading

bench-engines:  ## Compare the compiled engine with the plain one, MedPy and MONAI, bit for bit
	@benchmarks/setup_env.sh
	@benchmarks/run.sh engines

bench-rows:  ## Time scores, remaps, instances and polygons against other libraries; ROWS="scores-w2 fill" chooses some
	@benchmarks/setup_env.sh
	@benchmarks/run.sh rows

bench-size:  ## Cost against voxels, labels and instances, with a plot
	@benchmarks/setup_env.sh
	@benchmarks/run.sh size

bench-far:  ## Surfaces far apart, against a search tree
	@benchmarks/setup_env.sh
	@benchmarks/run.sh far

bench-viewer:  ## Time what a person waits for in the window, on a screen of its own
	@scripts/setup_env.sh --need-screen
	@xvfb-run -a -s "-screen 0 1600x1000x24" $(BIN)/python benchmarks/bench_viewer.py

rtstruct-peers:  ## Let dcmrtstruct2nii and rt-utils read our RTSTRUCTs of SCANS, into benchmarks/RESULTS.md
	@scripts/setup_env.sh
	@test -n "$(SCANS)" || { echo "name a folder of scans with CT/ and RTst/: make rtstruct-peers SCANS=..."; exit 2; }
	@$(BIN)/python scripts/rtstruct_peers.py "$(SCANS)"

fuzz:  ## Fuzz every reader of files, each for FUZZ_SECONDS (default 60); TARGETS="nifti png" chooses some
	@scripts/setup_env.sh
	@UV_LINK_MODE=copy $(BIN)/uv pip install --quiet --python $(BIN)/python --group fuzz
	@$(BIN)/python scripts/fuzz.py $(TARGETS)

clean:  ## Remove the environment, caches and build results
	rm -rf .venv .venv-bench .venv-bench-panoptica .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .benchmarks build dist demo
