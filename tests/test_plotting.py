import sys

import matplotlib
import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

import d2l_local as d2l

A, B, C = [1.0, 2.0, 4.0], [3.0, 1.0, 2.0], [0.0, 1.0, 2.0]
SCALARS = [torch.tensor(value, requires_grad=True) for value in A]


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    matplotlib.use('agg')
    with matplotlib.rc_context():
        yield
    d2l.plt.close('all')


def curves(axes=None):
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in (axes or d2l.plt.gca()).lines]


@pytest.mark.parametrize(
    'arguments, expected',
    [
        ((A,), [(C, A)]),
        (([A, B],), [(C, A), (C, B)]),
        ((C, A), [(C, A)]),
        ((C, [A]), [(C, A)]),
        (([C], [A]), [(C, A)]),
        ((C, [A, B]), [(C, A), (C, B)]),
        (([C], [A, B]), [(C, A), (C, B)]),
        (([C, A], [A, B]), [(C, A), (A, B)]),
        (([[1, 2], [1, 2, 3]], [[5, 6], [7, 8, 9]]), [([1, 2], [5, 6]), ([1, 2, 3], [7, 8, 9])]),
        ((range(3), A), [(C, A)]),
        ((np.array(C), np.array([A, B])), [(C, A), (C, B)]),
        ((torch.tensor(C), torch.tensor([A, B])), [(C, A), (C, B)]),
        ((torch.tensor(C), [torch.tensor(A, requires_grad=True), np.array(B), C]), [(C, A), (C, B), (C, C)]),
        ((C, SCALARS), [(C, A)]),
        ((SCALARS,), [(C, A)]),
        (([np.float64(value) for value in C], A), [(C, A)]),
        (([], []), [([], [])]),
    ],
)
def test_plot_takes_one_or_more_curves_in_every_documented_form(arguments, expected):
    d2l.plot(*arguments)
    assert curves() == expected


@pytest.mark.parametrize('X, Y', [([A, B], [A, B, C]), ([A, B], A), ([A, B, C], [A, B])])
def test_plot_refuses_numbers_of_curves_that_do_not_match(X, Y):
    with pytest.raises(ValueError, match=f'{len(X)} sequences of abscissae for {len(Y) if Y != A else 1} curves'):
        d2l.plot(X, Y)
    assert d2l.plt.get_fignums() == []


def test_plot_as_the_book_calls_it():
    x = torch.arange(-8.0, 8.0, 0.1, requires_grad=True)
    y = torch.sigmoid(x)
    d2l.plot(x.detach().numpy(), [y.detach().numpy(), y], 'x', 'y', legend=['sigmoid', 'gradient'], figsize=(4.5, 2.5))
    axes = d2l.plt.gca()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ('x', 'y')
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ['sigmoid', 'gradient']
    assert tuple(d2l.plt.gcf().get_size_inches()) == (4.5, 2.5)


def test_plot_uses_limits_scales_and_formats_in_turns():
    d2l.plot([1, 10], [[1, 2]] * 5, xlim=[1, 10], ylim=[0.5, 20], xscale='log', yscale='log', fmts=['r-', 'b--'])
    axes = d2l.plt.gca()
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_xscale(), axes.get_yscale()) == (
        (1, 10),
        (0.5, 20),
        *['log'] * 2,
    )
    assert [line.get_color() for line in axes.lines] == ['r', 'b', 'r', 'b', 'r']
    assert axes.get_legend() is None


def test_plot_clears_its_axes_and_draws_into_those_it_is_given():
    _, (left, right) = d2l.plt.subplots(1, 2)
    for _ in range(2):
        d2l.plot(C, A, axes=left)
    d2l.plot(C, B, axes=right)
    assert (curves(left), curves(right)) == ([(C, A)], [(C, B)])


def test_plt_is_pyplot():
    assert d2l.plt is sys.modules['matplotlib.pyplot']
    d2l.plt.imshow(np.zeros((2, 2)))


def test_set_axes_and_set_figsize_as_the_book_calls_them():
    d2l.set_figsize((2, 1))
    fig, axes = d2l.plt.subplots()
    d2l.set_axes(axes, 'x', 'y', [0, 1], [2, 3], 'linear', 'linear', [])
    assert tuple(fig.get_size_inches()) == (2, 1)
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (2, 3))
    d2l.set_figsize()
    assert d2l.plt.rcParams['figure.figsize'] == [3.5, 2.5]


def test_the_animator_collects_points_of_several_curves():
    animator = d2l.Animator('epoch', legend=['loss', 'train acc', 'test acc'], xlim=[1, 10])
    animator.add(1, (0.5, torch.tensor(0.25, requires_grad=True), None))
    animator.add(2, [0.25, np.float32(0.5), 0.5])
    animator.add((3, 4, 5), np.array([0.125, 0.75, 1]))
    expected = [([1, 2, 3], [0.5, 0.25, 0.125]), ([1, 2, 4], [0.25, 0.5, 0.75]), ([2, 5], [0.5, 1])]
    assert curves(animator.axes[0]) == expected


@pytest.mark.parametrize('y', [0.5, torch.tensor(0.5), np.float64(0.5), [0.5]])
def test_the_animator_takes_a_single_number(y):
    animator = d2l.Animator('epoch', 'test acc', xlim=[1, 10])
    animator.add(torch.tensor(1), y)
    assert curves(animator.axes[0]) == [([1], [0.5])]


@pytest.mark.parametrize('nrows, ncols, count', [(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 4)])
def test_the_animator_takes_rows_and_columns(nrows, ncols, count):
    animator = d2l.Animator(nrows=nrows, ncols=ncols)
    animator.add(1, 2)
    assert len(animator.axes) == count and curves(animator.axes[0]) == [([1], [2])]


def test_outside_a_notebook_nothing_is_shown_printed_or_left_open(capfd):
    d2l.use_svg_display()
    animator = d2l.Animator('epoch', 'test acc', xlim=[1, 10])
    animator.add(1, 0.5)
    animator.add(2, 0.6)
    assert capfd.readouterr() == ('', '')
    assert d2l.plt.get_fignums() == []


CELLS = [
    'import d2l_local as d2l',
    "animator = d2l.Animator('epoch', 'test acc', xlim=[1, 10])\n"
    'for epoch in range(3):\n    animator.add(epoch + 1, (0.1 * epoch, 0.2))',
    'len(d2l.plt.get_fignums()), animator._display.display_id',
    "d2l.plot([1, 2], [[3, 4], [4, 5]], legend=['a', 'b'])",
    'len(d2l.plt.get_fignums())',
    'd2l.plot([1, 2], [[3, 4], [4, 5], [5, 6]])\nd2l.plt.show()',
]


@pytest.fixture(scope='module')
def notebook(root):
    """Run the cells in a kernel; return the cells and the messages that changed a display."""
    notebook, updates = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS]), []

    class Client(NotebookClient):
        def process_message(self, message, cell, index):
            if message['msg_type'] == 'update_display_data':
                updates.append(message['content'])
            return super().process_message(message, cell, index)

    Client(notebook, timeout=120, kernel_name='python3', resources={'metadata': {'path': str(root)}}).execute()
    return notebook.cells, updates


def test_in_a_notebook_the_animator_has_one_svg_output_that_is_updated_in_place(notebook):
    cells, updates = notebook
    assert [output.output_type for output in cells[1].outputs] == ['display_data']
    assert 'image/png' not in cells[1].outputs[0].data
    shown = [''.join(update['data']['image/svg+xml']) for update in updates]
    assert len(shown) == len(set(shown)) == 2
    assert ''.join(cells[1].outputs[0].data['image/svg+xml']) == shown[-1]


def test_in_a_notebook_no_figure_is_left_open(notebook):
    cells, updates = notebook
    identifier = updates[0]['transient']['display_id']
    assert cells[2].outputs[0].data['text/plain'] == f"(0, '{identifier}')"
    assert cells[4].outputs[0].data['text/plain'] == '0'


@pytest.mark.parametrize('cell', [3, 5])
def test_in_a_notebook_a_plot_has_one_svg_output(notebook, cell):
    (output,) = notebook[0][cell].outputs
    assert output.output_type == 'display_data'
    assert 'image/svg+xml' in output.data and 'image/png' not in output.data


def test_groups_of_numbers_become_rows_from_the_top_with_range_and_median():
    d2l.plot_ranges({'first': [3.0, 1.0, 2.0, 2.5], 'second': [0.5]}, 'test acc', xlim=[0, 4])
    axes = d2l.plt.gca()
    assert curves()[:3] == [([1.0, 3.0], [0, 0]), ([3.0, 1.0, 2.0, 2.5], [0] * 4), ([2.25] * 2, [-0.3, 0.3])]
    assert curves()[3:] == [([0.5, 0.5], [1, 1]), ([0.5], [1]), ([0.5, 0.5], [0.7, 1.3])]
    assert [label.get_text() for label in axes.get_yticklabels()] == ['first', 'second']
    assert axes.get_ylim() == (1.5, -0.5)
    assert (axes.get_xlabel(), axes.get_xlim()) == ('test acc', (0, 4))


def test_a_row_without_numbers_is_an_error():
    with pytest.raises(ValueError, match='no numbers for second'):
        d2l.plot_ranges({'first': [1.0], 'second': []})
