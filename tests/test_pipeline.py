"""Running notebooks: data, parameters, failures."""

from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient.exceptions import DeadKernelError

from helpers import paths, run
from helpers.files import registry

KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture
def tiny(tmp_path) -> Path:
    """Notebook with parameters that fails if they are wrong."""
    parameters = 'out_dir: str = "build"  # folder\nalpha: float = 1.0  # must be positive'
    cells = [
        nbformat.v4.new_markdown_cell("# Tiny"),
        nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell('if alpha < 0:\n    raise ValueError("alpha is below zero")'),
        nbformat.v4.new_code_cell("print(alpha, out_dir)"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    nbformat.write(notebook, tmp_path / "10_tiny.ipynb")
    return tmp_path / "10_tiny.ipynb"


def fail_with(monkeypatch, *errors: Exception) -> list:
    """Make papermill raise these errors in turn, then succeed; give the list of its calls."""
    calls, waiting = [], list(errors)

    def execute_notebook(notebook, target, parameters, **options):
        calls.append(parameters)
        if waiting:
            raise waiting.pop(0)
        target.write_text("executed")

    monkeypatch.setattr(papermill, "execute_notebook", execute_notebook)
    return calls


def test_notebooks_are_listed_by_number_and_each_number_is_used_once():
    names = run.notebook_names()
    assert names == sorted(names)
    assert len({name[:3] for name in names}) == len(names)
    assert all((paths.NOTEBOOKS / f"{name}.ipynb").is_file() for name in names)


def test_a_study_notebook_reads_its_study_and_others_read_all_studies_at_hand():
    names = ["00_overview", "14_confound", "21_aspects", "50_beyond"]
    assert run.studies_of("14_confound", names) == ["hosking"]
    assert run.studies_of("21_aspects", names) == ["kamoda"]
    assert run.studies_of("00_overview", names) == ["hosking", "kamoda"]
    assert run.studies_of("50_beyond", names) == ["hosking", "kamoda"]


def test_a_study_without_data_files_needs_nothing_but_its_printed_tables():
    assert run.resolve("chatbench", "auto") == ("real", "printed tables only")


def test_real_data_are_used_where_they_can_be_had(monkeypatch):
    asked = []
    monkeypatch.setattr(
        registry, "locate", lambda files, _: dict.fromkeys(asked.append(files) or files)
    )
    source, reason = run.resolve("hosking", "auto")
    assert source == "real"
    assert reason == f"{len(asked[0])} files, checksums right"
    assert asked[0]
    assert all(file.startswith("hosking/") for file in asked[0])


def test_unavailable_data_are_simulated_unless_real_data_are_asked_for(monkeypatch):
    def locate(files, data_source):
        raise registry.DataUnavailableError("no network. Connect.")

    monkeypatch.setattr(registry, "locate", locate)
    assert run.resolve("kamoda", "auto") == ("simulated", "no network")
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        run.resolve("kamoda", "real")


def test_an_unknown_choice_of_data_is_refused():
    with pytest.raises(run.ParameterError, match="auto, real or simulated, not 'fake'"):
        run.resolve("kamoda", "fake")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("True", True),
        ("false", False),
        ("None", None),
        ("'{\"a\": [1]}'", {"a": [1]}),
        ("mode", "mode"),
        ("'two words'", "two words"),
        ("''", ""),
    ],
)
def test_parameter_values_are_read_as_json_types(text, value):
    parsed = run.parse_parameters(f"-p name {text}")["name"]
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("text", ["alpha 0.05", "-p alpha", "-r alpha 0.05", "-p alpha 1 -p"])
def test_parameters_in_another_form_are_refused(text):
    with pytest.raises(run.ParameterError, match="write parameters as -p NAME VALUE, not"):
        run.parse_parameters(text)


def test_an_unknown_parameter_is_refused_with_the_names_of_those_that_exist(tiny):
    message = "10_tiny has no parameter alfa: its parameters are out_dir, alpha"
    with pytest.raises(run.ParameterError, match=message):
        run.execute(tiny, tiny.with_name("out.ipynb"), {"alfa": 1})
    assert not tiny.with_name("out.ipynb").exists()


def test_a_notebook_without_parameters_says_so(tmp_path):
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNELSPEC})
    nbformat.write(notebook, tmp_path / "bare.ipynb")
    with pytest.raises(run.ParameterError, match="bare has no parameter seed: it has no"):
        run.check_parameters(tmp_path / "bare.ipynb", {"seed": 1})


def test_what_a_cell_prints_in_parts_is_kept_as_one(tiny):
    notebook = nbformat.read(tiny, as_version=4)
    parts = "import time\nprint('a', flush=True)\ntime.sleep(0.5)\nprint('b', flush=True)"
    notebook.cells.append(nbformat.v4.new_code_cell(parts))
    nbformat.write(notebook, tiny)
    target = tiny.with_name("out.ipynb")
    run.execute(tiny, target, {})
    outputs = nbformat.read(target, as_version=4).cells[-1].outputs
    assert [output.text for output in outputs] == ["a\nb\n"]


def test_an_executed_notebook_holds_its_parameters_and_outputs_and_becomes_a_page(tiny):
    target = tiny.parent / "new" / "out.ipynb"
    seconds = run.execute(tiny, target, {"alpha": 2.5})
    run.to_html(target, tiny.parent / "html" / "out.html")
    assert seconds > 0
    assert nbformat.read(target, as_version=4).cells[-1].outputs[0].text == "2.5 build\n"
    assert "2.5 build" in (tiny.parent / "html" / "out.html").read_text()
    assert [file.name for file in target.parent.iterdir()] == ["out.ipynb"]


def test_a_failed_notebook_names_cell_and_error_and_leaves_no_finished_copy(tiny):
    target = tiny.with_name("out.ipynb")
    with pytest.raises(run.NotebookError) as failure:
        run.execute(tiny, target, {"alpha": -1})
    first, second = str(failure.value).splitlines()
    assert first.startswith("10_tiny stopped in cell In [3] of ")
    assert second == "    ValueError: alpha is below zero"
    assert not target.exists()
    assert target.with_suffix(".unfinished.ipynb").exists()


def test_a_long_error_message_is_cut(tiny, monkeypatch):
    message = "\n".join(map(str, range(100)))
    fail_with(monkeypatch, papermill.PapermillExecutionError(2, 3, "", "ValueError", message, []))
    with pytest.raises(run.NotebookError, match=r"59\n    …$"):
        run.execute(tiny, tiny.with_name("out.ipynb"), {})


def test_a_kernel_that_dies_before_the_first_cell_is_started_once_more(tiny, monkeypatch):
    calls = fail_with(monkeypatch, RuntimeError("Kernel died before replying to kernel_info"))
    run.execute(tiny, tiny.with_name("out.ipynb"), {"alpha": 2})
    assert calls == [{"alpha": 2}, {"alpha": 2}]
    assert tiny.with_name("out.ipynb").read_text() == "executed"


def test_a_kernel_that_never_starts_is_given_up(tiny, monkeypatch):
    calls = fail_with(monkeypatch, RuntimeError("died"), RuntimeError("died again"))
    with pytest.raises(run.NotebookError, match="its kernel, which did not start\n    died ag"):
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    assert len(calls) == 2


def test_a_kernel_that_dies_in_a_cell_is_not_started_again(tiny, monkeypatch):
    calls = fail_with(monkeypatch, DeadKernelError("Kernel died"))
    with pytest.raises(run.NotebookError, match=r"10_tiny stopped in a cell.*\n.*kernel died"):
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    assert len(calls) == 1
