"""What every notebook keeps to, and what the code on its pages promises."""

import ast
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

import d2l_local.torch as d2l
from book import languages, notebooks

NOTEBOOKS = [
    pytest.param(language.folder / f'{page}.ipynb', id=f'{language.code}-{page}')
    for language in languages.languages()
    for page in languages.pages()
    if language.code == languages.SOURCE or (language.folder / f'{page}.ipynb').is_file()
]


def english(page):
    return notebooks.read(languages.source().folder / f'{page}.ipynb')


def code_of(page, *cell_ids):
    """The code of the cells with these ids, or of all cells."""
    return '\n'.join(
        cell.source
        for cell in english(page).cells
        if cell.cell_type == 'code' and (not cell_ids or cell.id in cell_ids)
    )


@pytest.mark.parametrize('path', NOTEBOOKS)
def test_a_notebook_is_stored_in_canonical_form(path, tmp_path):
    notebook = notebooks.read(path)
    notebooks.write(notebook, tmp_path / 'copy.ipynb')
    assert path.read_bytes() == (tmp_path / 'copy.ipynb').read_bytes()
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata == {
        'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'},
        'language_info': {'name': 'python'},
    }
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert [cell_id for cell_id in ids if not re.fullmatch(r'[a-z][a-z0-9-]{1,63}', cell_id)] == []


@pytest.mark.parametrize('path', NOTEBOOKS)
def test_outputs_are_stored_in_the_order_they_ran(path):
    cells = [cell for cell in notebooks.read(path).cells if cell.cell_type == 'code']
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [output for cell in cells for output in cell.outputs if output.output_type == 'error'] == []
    stderr = [output.text for cell in cells for output in cell.outputs if output.get('name') == 'stderr']
    assert stderr == []


@pytest.mark.parametrize('page', languages.pages())
def test_code_cells_are_short_enough_to_read(page):
    limits = {True: 55, False: 28}  # lines of a script that is written to a file, and of any other cell
    too_long = [
        cell.id
        for cell in english(page).cells
        if cell.cell_type == 'code' and cell.source.count('\n') + 1 > limits[cell.source.startswith('%%writefile ')]
    ]
    assert too_long == []


def test_everything_is_formatted():
    for command in ('check', 'format --check'):
        subprocess.run([sys.executable, '-m', 'ruff', *command.split(), languages.ROOT], check=True)


class WithoutDocstrings(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    visit_ClassDef = visit_FunctionDef


def definitions(source):
    """The functions and classes at the top of `source`, by name, without docstrings and the prefix `d2l.`."""
    tree = WithoutDocstrings().visit(ast.parse(re.sub(r'\bd2l\.', '', source)))
    return {node.name: ast.dump(node) for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def saved_definitions():
    for page in languages.pages():
        for cell in english(page).cells:
            if cell.cell_type == 'code' and '# @save' in cell.source:
                for name, dump in definitions(cell.source).items():
                    yield pytest.param(page, name, dump, id=f'{page}-{name}')


@pytest.mark.parametrize('page, name, dump', list(saved_definitions()))
def test_a_saved_definition_is_that_of_the_helper_module(page, name, dump):
    files = [path.read_text(encoding='utf-8') for path in (languages.ROOT / 'd2l_local').glob('*.py')]
    assert dump in [definitions(source).get(name) for source in files if name in definitions(source)]


def test_the_helper_module_saves_what_the_sections_define():
    assert {param.values[1] for param in saved_definitions()} == {'Residual', 'resnet18', 'split_batch'}


def test_compared_runs_get_a_fresh_net_each():
    calls = [
        node
        for node in ast.walk(ast.parse(code_of('multiple-gpus-concise')))
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'train'
    ]
    settings = [[ast.unparse(keyword) for keyword in call.keywords] for call in calls]
    assert settings == [
        ['num_gpus=1', 'batch_size=scale.batch(256)', 'lr=0.1'],
        ['num_gpus=2', 'batch_size=scale.batch(512)', 'lr=0.2'],
    ]
    for call in calls:
        assert isinstance(call.args[0], ast.Call) and call.args[0].func.id == 'resnet18'


@pytest.fixture(scope='module')
def from_scratch(tmp_path_factory):
    """The names that the from-scratch section has defined before it trains."""
    names = {}
    cells = [
        'imports',
        'parameters',
        'lenet',
        'get-params',
        'allreduce',
        'split-batch',
        'sgd',
        'train-batch',
        'one-step',
    ]
    code = code_of('multiple-gpus', *cells).replace('d2l.choose_scale()', "d2l.choose_scale('smoke')")
    code = code.replace('replica = ', 'devices = d2l.replica_devices(2)\nreplica = ', 1)
    exec(code, names)
    return names


def test_replicas_on_one_device_share_no_memory(from_scratch):
    original = from_scratch['params']
    first, second = (from_scratch['get_params'](original, torch.device('cpu')) for _ in range(2))
    for p, q, r in zip(original, first, second):
        assert len({p.data_ptr(), q.data_ptr(), r.data_ptr()}) == 3
        assert q.requires_grad and torch.equal(p, q)


def test_allreduce_writes_the_sum_into_every_tensor(from_scratch):
    tensors = [torch.full((2,), float(i)) for i in range(4)]
    handles = list(tensors)
    from_scratch['allreduce'](tensors)
    assert [handle.tolist() for handle in handles] == [[6.0, 6.0]] * 4


@pytest.mark.parametrize('k', [1, 2, 3, 4, 7])
def test_one_step_of_k_replicas_is_the_step_of_one_device(from_scratch, k, capsys):
    single = from_scratch['one_step'](1)[0]
    moved = from_scratch['largest_difference'](single, from_scratch['start'])
    assert moved > 0.01
    for replica in from_scratch['one_step'](k):
        assert from_scratch['largest_difference'](replica, single) < 1e-6


def test_the_toy_network_has_the_parameters_of_the_original():
    assert sum(p.numel() for p in d2l.resnet18(10).parameters()) == 11_175_818


@pytest.mark.parametrize('count', [1, 2, 4])
def test_the_concise_section_wraps_the_net_only_for_several_devices(count):
    class Net:
        def to(self, device):
            self.device = device
            return self

    names = {'nn': SimpleNamespace(DataParallel=lambda net, device_ids: (net, device_ids))}
    exec(code_of('multiple-gpus-concise', 'parallelize'), names)
    net, devices = Net(), [torch.device('cuda', i) for i in range(count)]
    assert names['parallelize'](net, devices) == (net if count == 1 else (net, devices))
    assert net.device == devices[0]
