"""Plots in the style of the book: one call each, as SVG."""

import sys
from statistics import median

from matplotlib import pyplot as plt


def use_svg_display():
    """Show figures as SVG in a notebook; does nothing elsewhere."""
    if _in_notebook():
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats('svg')


def set_figsize(figsize=(3.5, 2.5)):
    """Set the size of the figures that follow, in inches."""
    use_svg_display()
    plt.rcParams['figure.figsize'] = figsize


def set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend):
    """Set labels, limits, scales and legend of `axes`; `legend` may be None or empty."""
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    axes.set_xlim(xlim)
    axes.set_ylim(ylim)
    if legend:
        axes.legend(legend)
    axes.grid(True)


def plot(
    X,
    Y=None,
    xlabel=None,
    ylabel=None,
    legend=None,
    xlim=None,
    ylim=None,
    xscale='linear',
    yscale='linear',
    fmts=('-', 'm--', 'g-.', 'r:'),
    figsize=(3.5, 2.5),
    axes=None,
):
    """Plot one or more curves.

    Args:
        X: the abscissae: one sequence for all curves, or a list with one for each. Without `Y`, the ordinates.
        Y: the ordinates: one sequence, or a list of sequences.
        xlabel, ylabel, legend, xlim, ylim, xscale, yscale: as in matplotlib; `legend` is a list.
        fmts: matplotlib format strings, used in turns.
        figsize: width and height of the figure, in inches.
        axes: where to draw; by default the current axes, cleared.

    Raises:
        ValueError: if the numbers of sequences in `X` and `Y` do not match.
    """
    if Y is None:
        Y = _as_curves(X)
        X = [range(len(y)) for y in Y]
    else:
        X, Y = _as_curves(X), _as_curves(Y)
    if len(X) == 1:
        X = X * len(Y)
    if len(X) != len(Y):
        raise ValueError(f'{len(X)} sequences of abscissae for {len(Y)} curves: give one, or one for each curve.')
    set_figsize(figsize)
    axes = axes or plt.gca()
    axes.cla()
    for i, (x, y) in enumerate(zip(X, Y)):
        axes.plot(_as_numbers(x), _as_numbers(y), fmts[i % len(fmts)])
    set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend)


def plot_ranges(groups, xlabel=None, xlim=None, figsize=(5, 2.5)):
    """Plot groups of numbers as rows: a dot for each number, a line over their range, a bar at the median.

    Args:
        groups: a dict from the name of a row to its numbers; the first row is on top.
        xlabel, xlim: as in matplotlib.
        figsize: width and height of the figure, in inches.

    Raises:
        ValueError: if a group is empty.
    """
    empty = [name for name, numbers in groups.items() if not len(numbers)]
    if empty:
        raise ValueError(f'no numbers for {", ".join(empty)}: give at least one for each row.')
    set_figsize(figsize)
    axes = plt.gca()
    axes.cla()
    for row, numbers in enumerate(groups.values()):
        axes.plot([min(numbers), max(numbers)], [row, row], 'C0-', linewidth=1)
        axes.plot(numbers, [row] * len(numbers), 'C0o', markersize=4)
        axes.plot([median(numbers)] * 2, [row - 0.3, row + 0.3], 'C1-', linewidth=2)
    set_axes(axes, xlabel, None, xlim, (len(groups) - 0.5, -0.5), 'linear', 'linear', None)
    axes.set_yticks(range(len(groups)), groups)


class Animator:
    """Curves that grow while a computation runs, in a figure that is updated in place."""

    def __init__(
        self,
        xlabel=None,
        ylabel=None,
        legend=None,
        xlim=None,
        ylim=None,
        xscale='linear',
        yscale='linear',
        fmts=('-', 'm--', 'g-.', 'r:'),
        nrows=1,
        ncols=1,
        figsize=(3.5, 2.5),
    ):
        """The arguments are those of `plot`; with several rows or columns, the first axes hold the curves."""
        use_svg_display()
        self.fig, axes = plt.subplots(nrows, ncols, figsize=figsize)
        self.axes = [axes] if nrows * ncols == 1 else list(axes.flat)
        # The figure is shown through its display handle; left open, it would be shown a second time.
        plt.close(self.fig)
        self._configure = lambda: set_axes(self.axes[0], xlabel, ylabel, xlim, ylim, xscale, yscale, legend)
        self.fmts = fmts
        self.X, self.Y = [], []
        self._display = None

    def add(self, x, y):
        """Add a point to each curve.

        Args:
            x: the abscissa: one number for all curves, or one for each.
            y: the ordinates: one number, or one for each curve; None leaves a curve as it is.
        """
        ys = list(y) if _is_sequence(y) else [y]
        xs = list(x) if _is_sequence(x) else [x] * len(ys)
        if not self.X:
            self.X, self.Y = [[] for _ in ys], [[] for _ in ys]
        for curve, (a, b) in enumerate(zip(xs, ys)):
            if a is not None and b is not None:
                self.X[curve].append(float(_as_numbers(a)))
                self.Y[curve].append(float(_as_numbers(b)))
        self._draw()

    def _draw(self):
        self.axes[0].cla()
        for i, (x, y) in enumerate(zip(self.X, self.Y)):
            self.axes[0].plot(x, y, self.fmts[i % len(self.fmts)])
        self._configure()
        if not _in_notebook():
            return
        from IPython import display

        if self._display is None:
            self._display = display.display(self.fig, display_id=True)
        else:
            self._display.update(self.fig)


def _in_notebook():
    """Whether a Jupyter kernel runs this process: a plain script has nobody to show a figure to."""
    ipython = sys.modules.get('IPython')
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, 'kernel')


def _is_sequence(value):
    """A tensor or array without axes is a number."""
    return hasattr(value, '__len__') and getattr(value, 'ndim', 1) > 0


def _as_curves(values):
    """`values` as a list of sequences: a sequence of numbers is one curve."""
    if hasattr(values, 'ndim'):
        return [values] if values.ndim == 1 else list(values)
    return list(values) if len(values) and _is_sequence(values[0]) else [values]


def _as_numbers(values):
    if isinstance(values, (list, tuple)):
        return [_as_numbers(value) for value in values]
    return values.detach().cpu().numpy() if hasattr(values, 'detach') else values
