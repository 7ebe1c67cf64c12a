"""Make `d2l_local`, the helper module of the course, importable. Nothing else is installed or changed."""

import base64
import importlib.util
import io
import lzma
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MARK = 'from_a_notebook.txt'  # beside a module that a notebook has unpacked; says which one it is
NEEDED = ('torch', 'torchvision', 'matplotlib')


def bring_d2l_local(carried, edition, addresses=()):
    """Make the module importable, and say where it comes from.

    Args:
        carried: the module as a ZIP archive, compressed with LZMA, in base 85, for where there is no other.
        edition: a short name of what `carried` holds.
        addresses: what pip may install the module from, best first.

    Raises:
        ModuleNotFoundError: if PyTorch or Matplotlib is missing; the message says how to install it.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f'This notebook needs {", ".join(missing)}. Run `%pip install {" ".join(missing)}` and restart the kernel.'
        )
    if _is_here(edition):
        print('d2l_local is here already: nothing to do.')
        return
    for address in addresses:
        if _install(address) and _is_here(edition):
            print(f'd2l_local was installed from {address}')
            return
    folder = _unpack(carried, edition)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    print(f'd2l_local comes out of this notebook, into {folder}')
    print('To be small, its sample of Fashion-MNIST has few shades of grey.')


def _is_here(edition):
    """Whether the module can be imported; one that an older notebook has unpacked does not count."""
    importlib.invalidate_caches()
    found = importlib.util.find_spec('d2l_local')
    if found is None or found.origin is None:
        return False
    mark = Path(found.origin).with_name(MARK)
    return not mark.exists() or mark.read_text() == edition


def _install(address):
    """Let pip install the module, and nothing that it depends on; returns whether that worked."""
    options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--retries', '1', '--timeout', '15']
    try:
        done = subprocess.run(
            [sys.executable, '-m', 'pip', 'install', *options, address], capture_output=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _unpack(carried, edition):
    """Unpack the module beside the notebook, where scripts find it too, or else in a temporary folder; gives it."""
    archive = zipfile.ZipFile(io.BytesIO(lzma.decompress(base64.b85decode(carried))))
    try:
        return _unpack_into(Path.cwd(), archive, edition)
    except OSError:  # the folder is read-only, or something else there has the name of the module
        return _unpack_into(Path(tempfile.mkdtemp(prefix='d2l_local-')), archive, edition)


def _unpack_into(folder, archive, edition):
    with tempfile.TemporaryDirectory(prefix='.d2l_local-', dir=folder) as name:
        new, target = Path(name), folder / 'd2l_local'
        archive.extractall(new)
        (new / 'd2l_local' / MARK).write_text(edition)
        if (target / MARK).exists():
            target.rename(new / 'old')
        (new / 'd2l_local').rename(target)  # at once, so that nobody finds half a module
    return folder
