"""The full Fashion-MNIST data set (Xiao et al., 2017): found on disk, or downloaded once.

The files are the four of the original release, in the IDX format of MNIST, gzipped or not.
"""

import gzip
import http.client
import os
import socket
import tempfile
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

VARIABLE = 'D2L_LOCAL_DATA'
DEBIAN_FOLDER = Path('/usr/share/datasets/fashion-mnist')
COUNTS = {'train': 60000, 't10k': 10000}
NETWORK_TIMEOUT = 30  # seconds without an answer before a mirror is given up


class DataError(RuntimeError):
    """Fashion-MNIST is missing or damaged; the message says what to do."""


def load(split):
    """Return all images and labels of a split, in the order of the files.

    Args:
        split: 'train' (60,000 images) or 't10k' (the 10,000 test images).

    Returns:
        A uint8 tensor of shape (n, 1, 28, 28) and an int64 tensor of shape (n,), labels 0 to 9.

    Raises:
        DataError: if the files are neither on this machine nor downloadable, or if one is damaged.
    """
    return _read_split(find_folder(), split)


def find_folder():
    """Return the folder that holds the four files, after downloading them if no folder does.

    Looks in `D2L_LOCAL_DATA`, `data/` and the folder of the Debian package `dataset-fashion-mnist`, and in
    `FashionMNIST/raw` below each, where torchvision keeps them.

    Raises:
        DataError: if the files are nowhere and cannot be downloaded.
    """
    return folder_on_disk() or _download(_roots()[0] / 'FashionMNIST' / 'raw').resolve()


def folder_on_disk():
    """Return the folder that holds the four files on this machine, or None."""
    for root in _roots() + [DEBIAN_FOLDER]:
        for folder in (root, root / 'FashionMNIST' / 'raw'):
            if all(_find_file(folder, name) for name in _names()):
                return folder.resolve()
    return None


def _roots():
    chosen = os.environ.get(VARIABLE)
    return ([Path(chosen).expanduser()] if chosen else []) + [Path('data')]


def _names():
    return [f'{split}-{kind}' for split in COUNTS for kind in ('images-idx3-ubyte', 'labels-idx1-ubyte')]


def _find_file(folder, name):
    return next((path for path in (folder / name, folder / f'{name}.gz') if os.path.isfile(path)), None)


@lru_cache(maxsize=4)
def _read_split(folder, split):
    n = COUNTS[split]
    images = _read_idx(_find_file(folder, f'{split}-images-idx3-ubyte'), (n, 28, 28))
    labels = _read_idx(_find_file(folder, f'{split}-labels-idx1-ubyte'), (n,))
    return images.unsqueeze(1), labels.long()


def _read_idx(path, shape):
    """Read an IDX file of unsigned bytes: 4 bytes of type, 4 for each length, then the data."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == '.gz' else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(path, f'it cannot be decompressed: {error}') from error
    header = bytes([0, 0, 8, len(shape)]) + b''.join(length.to_bytes(4, 'big') for length in shape)
    expected = len(header) + int(np.prod(shape))
    if len(content) != expected:
        raise _damaged(path, f'{len(content):,} bytes of data where {expected:,} are due')
    if not content.startswith(header):
        raise _damaged(path, 'its header is not that of Fashion-MNIST')
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape).copy())


def _damaged(path, what):
    return DataError(
        f'{path} is damaged ({what}), perhaps by an interrupted download. Delete this file and run again, '
        f'or set {VARIABLE} to a folder with a good copy.'
    )


def _download(folder):
    """Download the four files into `folder`: by one process, each to a temporary name, checked, then renamed."""
    import filelock  # only a download needs these two
    from torchvision.datasets import FashionMNIST

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder / '.download.lock'):
            for name, md5 in FashionMNIST.resources:
                if not (folder / name).is_file():
                    _download_file(FashionMNIST.mirrors, name, md5, folder)
    except OSError as error:
        raise DataError(
            f'Fashion-MNIST is not on this machine and could not be downloaded to {folder} ({error}). '
            f'Do one of these: (1) set {VARIABLE} to a folder that holds the four files '
            f'{", ".join(name + ".gz" for name in _names())}; (2) put them into data/; '
            '(3) on Debian or Ubuntu, run `apt-get install dataset-fashion-mnist`; '
            '(4) connect to the network and run again. '
            'D2L_LOCAL_SCALE=rehearsal works without them, on the sample that d2l_local carries.'
        ) from error
    return folder


def _download_file(mirrors, name, md5, folder):
    from torchvision.datasets.utils import check_integrity, download_url

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(NETWORK_TIMEOUT)
    reasons = []
    try:
        for mirror in mirrors:
            with tempfile.TemporaryDirectory(dir=folder, prefix='.download-') as temporary:
                try:
                    download_url(mirror + name, temporary, name)
                except (OSError, RuntimeError, http.client.HTTPException) as error:
                    reasons.append(f'{mirror}{name}: {error}')
                    continue
                if check_integrity(os.path.join(temporary, name), md5):
                    os.replace(os.path.join(temporary, name), folder / name)
                    return
                reasons.append(f'{mirror}{name}: incomplete or altered')
    finally:
        socket.setdefaulttimeout(before)
    raise OSError('; '.join(reasons))
