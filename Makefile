# Completes .venv (install.py), then hands over to the doit task of the same name.
#
## make reproduce    re-derive all results, then open build/site/index.html
## make site         build the site from the last run
## make notebook     run one: NAME=11_error_weights ARGS="-p alpha 0.05"
## make new          start the notebook of a new study: NAME=60_my_study
## make test         lint, tests, committed outputs, all notebooks on simulated data
## make lab          open JupyterLab
## make refresh      renew the committed outputs, figures and claims from real data
## make bench        print speed ratios
## make coverage     measure how often printed intervals hold the truth (a quarter of an hour)
## make audit        measure what the rules of verdicts notice, and how often they err
## make sweep        run all notebooks with other values of each parameter (some minutes)
## make gates        measure how often conclusions about own ratings err (half an hour)
## make answers      let the model under test answer again (extra: models)
## make doctor       say what is wrong with the installation, and mend it
## make clean        delete build/
##
## DATA=auto         real data where they can be had (default); or DATA=real, DATA=simulated
## PYTHON=python3.13 build .venv with this Python (default: the first found, 3.11 before others)

DATA ?= auto
# Called through Python, since the first line of a script fails in a long path or one with quotes.
DOIT := .venv/bin/python -m doit
RATINGS := .venv/bin/python .venv/bin/ratings

unexport PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH
export DATA NAME

.DEFAULT_GOAL := help
.PHONY: help reproduce site notebook new test lab refresh bench coverage audit gates sweep answers
.PHONY: .venv clean doctor

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

reproduce site test lab refresh bench coverage audit gates sweep answers: .venv
	@$(DOIT) $@ data="$$DATA"

notebook: .venv
	@$(RATINGS) run "$$NAME" --data "$$DATA" $(ARGS)

new: .venv
	@$(RATINGS) new "$$NAME"

.venv:
	@command -v python3 >/dev/null || { echo "Python 3.11 or newer is needed: install it."; exit 1; }
	@python3 -I install.py

doctor:
	@python3 -I install.py doctor
	@if [ -e .venv/bin/ratings ]; then $(RATINGS) doctor; fi

clean:
	@rm -rf build
