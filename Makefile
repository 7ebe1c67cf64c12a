# Every command a person types. Each makes what it needs first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The stored outputs are those of a machine without a GPU, at the scale that such a machine chooses.
WITHOUT_GPU := env -u D2L_LOCAL_SCALE CUDA_VISIBLE_DEVICES=

.PHONY: help book pdf slides answers test lab assignments grade execute translations figures bench gpu-check gpu-check-carry wheel clean

help:
	@echo 'make book             render the book in every language into _build/site/'
	@echo 'make pdf              the same, and each book in one PDF, printed by Chromium'
	@echo 'make slides           make the slides of each section in every language in _build/slides/'
	@echo 'make answers          render the book with the answers to all exercises, for instructors, in _build/answers/'
	@echo 'make test             run all tests: module, languages, notebooks, site'
	@echo 'make lab              open the notebooks in JupyterLab'
	@echo 'make assignments      make the student versions of the assignments in _build/assignments/'
	@echo 'make grade            grade the folder SUBMISSIONS=... and write marks and feedback into OUT=..., or _build/grading/'
	@echo 'make execute          run the English notebooks, store their outputs, carry code and outputs to every language'
	@echo 'make translations     say what is translated, and which cells are not'
	@echo 'make figures          draw the concept figures in every language'
	@echo 'make bench            measure the helper module against its goals'
	@echo 'make gpu-check        on a machine with GPUs: run every notebook at full scale and record two runs'
	@echo 'make gpu-check-carry  gather in data/ what gpu-check needs on a machine without a network'
	@echo 'make wheel            build d2l_local as a file for Colab or Kaggle'
	@echo 'make clean            remove everything that was built, the environment included'

# One environment in layers: a stamp says that a layer is complete. The book needs no torch.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	    echo '$(PYTHON) cannot make environments: install the package python3-venv, or set PYTHON=...'; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.book-ready: book/requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r book/requirements.txt
	@touch $@

$(VENV)/.module-ready: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt -e .
	@touch $@

$(VENV)/.lab-ready: $(VENV)/.module-ready
	$(BIN)/python -m pip install --quiet jupyterlab
	@touch $@

$(VENV)/.grading-ready: grading/requirements.txt $(VENV)/.module-ready $(VENV)/.book-ready
	$(BIN)/python -m pip install --quiet -r grading/requirements.txt
	@touch $@

$(VENV)/.test-ready: tests/requirements.txt $(VENV)/.grading-ready
	$(BIN)/python -m pip install --quiet -r tests/requirements.txt
	@touch $@

book: $(VENV)/.book-ready
	@$(BIN)/python -m book.site

pdf: $(VENV)/.book-ready
	@$(BIN)/python -m book.site --pdf

slides: $(VENV)/.book-ready
	@$(BIN)/python -m book.slides

answers: $(VENV)/.book-ready
	@$(BIN)/python -m book.answers

# Two files at a time, each with one thread: that is quicker on two cores than one file with two.
test: $(VENV)/.test-ready
	env OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile tests
	$(WITHOUT_GPU) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --nbval \
	    --nbval-sanitize-with tests/nbval-masks.cfg chapters answers/en

lab: $(VENV)/.lab-ready
	$(BIN)/jupyter lab chapters

assignments: $(VENV)/.grading-ready
	@$(BIN)/python -m grading.release

grade: $(VENV)/.grading-ready
	@$(BIN)/python -m grading.grade $(or $(SUBMISSIONS),$(error Say which folder: make grade SUBMISSIONS=folder)) $(if $(OUT),--out $(OUT))

execute: $(VENV)/.test-ready
	$(WITHOUT_GPU) $(BIN)/python -m book.execute

translations: $(VENV)/.book-ready
	@$(BIN)/python -m book.translations status

figures: $(VENV)/.book-ready
	$(BIN)/python -m book.figures

bench: $(VENV)/.module-ready
	$(BIN)/python tests/bench.py

# For a machine without a network: any Python with torch and torchvision will do, and no environment is made.
gpu-check:
	$(PYTHON) tests/gpu_check.py

gpu-check-carry: $(VENV)/.module-ready
	$(BIN)/python tests/gpu_check.py --carry

wheel: | $(VENV)/bin/python
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir _build .
	@ls _build/d2l_local-*.whl

clean:
	rm -rf $(VENV) _build build *.egg-info
