"""The helper module as what leaves the project: a wheel, and a text for notebooks to carry."""

import base64
import hashlib
import io
import lzma
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from .languages import ROOT

PACKAGE = 'd2l_local'
SOURCES = ('pyproject.toml', 'requirements.txt', PACKAGE, 'results')
IMAGES = f'{PACKAGE}/sample/fashion_mnist.npz'
# Kaggle refuses a notebook of 1 MB, and as they are, the images alone would have 2.
SHADES = 8
# A tenth of the usual effort in search of repetitions, for three thousandths more size.
COMPRESSION = [{'id': lzma.FILTER_LZMA2, 'preset': 6, 'mf': lzma.MF_BT2, 'nice_len': 64, 'depth': 4}]
CARRIED = 'carried.txt'


class HelperError(RuntimeError):
    """The wheel could not be built; the message holds what pip said."""


def prepare(folder):
    """Put the wheel and the text for notebooks into `folder`, for `wheel` and `carried`; gives `folder`."""
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    built = build_wheel(folder)
    (folder / CARRIED).write_text(pack(built), encoding='ascii')
    return folder


def wheel(folder):
    """The path of the wheel in a folder that `prepare` has filled."""
    return next(Path(folder).glob('*.whl'))


def carried(folder):
    """The text for notebooks in a folder that `prepare` has filled."""
    return (Path(folder) / CARRIED).read_text(encoding='ascii')


def build_wheel(folder):
    """Build the module's wheel in `folder` and give its path; needs no network.

    Raises:
        HelperError: if pip fails.
    """
    with tempfile.TemporaryDirectory() as source:  # a build leaves files beside the sources
        for name in SOURCES:
            if (ROOT / name).is_dir():
                unwanted = shutil.ignore_patterns('__pycache__', '*.checkpoint')
                shutil.copytree(ROOT / name, Path(source) / name, ignore=unwanted)
            else:
                shutil.copy2(ROOT / name, source)
        options = ['--quiet', '--no-deps', '--no-build-isolation', '--no-index', '--wheel-dir', str(folder)]
        done = subprocess.run(
            [sys.executable, '-m', 'pip', 'wheel', *options, source], capture_output=True, text=True, encoding='utf-8'
        )
    if done.returncode != 0:
        raise HelperError(f'pip could not build {PACKAGE}:\n{done.stdout}{done.stderr}')
    return next(Path(folder).glob(f'{PACKAGE}-*.whl'))


def pack(wheel):
    """The package in the file `wheel`, its images in few shades of grey, as a ZIP archive, compressed, in base 85.

    The same package gives the same text.
    """
    archive = io.BytesIO()
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(archive, 'w') as small:
        for name in sorted(whole.namelist()):
            if name.startswith(f'{PACKAGE}/'):
                content = whole.read(name)
                content = in_few_shades(content) if name == IMAGES else content
                small.writestr(zipfile.ZipInfo(name), content)
    compressed = lzma.compress(archive.getvalue(), filters=COMPRESSION)
    return base64.b85encode(compressed).decode('ascii')


def in_few_shades(content):
    """The file of sample images with `SHADES` shades from black to white; what d2l_local does not read is left out."""
    with np.load(io.BytesIO(content)) as arrays:
        kept = {name: arrays[name] for name in arrays if not name.endswith('_indices')}
    step = 255 / (SHADES - 1)
    for name in kept:
        if name.endswith('_images'):
            kept[name] = np.rint(np.rint(kept[name] / step) * step).astype(np.uint8)
    file = io.BytesIO()
    np.savez(file, **kept)
    return file.getvalue()


def edition(text):
    """A short name of a text for notebooks: another text has another one."""
    return hashlib.sha256(text.encode('ascii')).hexdigest()[:12]
