"""The helper module of the course: a small library with the names and calls of *Dive into Deep Learning*.

Both `from d2l_local import torch as d2l` and `import d2l_local as d2l` give every name.
"""

from . import torch as _names


def __getattr__(name):
    return getattr(_names, name)


def __dir__():
    return _names.__all__
