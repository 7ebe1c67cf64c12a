import gzip
import hashlib
import http.server
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import torch
from torchvision.datasets import FashionMNIST

from d2l_local import fashion_mnist

COUNTS = {'train': 30, 't10k': 20}
RAW = Path('FashionMNIST', 'raw')


def idx(*shape, offset=0):
    size = torch.Size(shape).numel()
    header = bytes([0, 0, 8, len(shape)]) + b''.join(length.to_bytes(4, 'big') for length in shape)
    return header + bytes((i + offset) % (10 if len(shape) == 1 else 256) for i in range(size))


def contents(offset=0):
    """The four files, much smaller than the original ones; `offset` marks them."""
    files = {}
    for split, n in COUNTS.items():
        files[f'{split}-images-idx3-ubyte'] = idx(n, 28, 28, offset=offset)
        files[f'{split}-labels-idx1-ubyte'] = idx(n, offset=offset)
    return files


ZIPPED = {name + '.gz': gzip.compress(content, mtime=0) for name, content in contents().items()}
TRAIN_IMAGES = 'train-images-idx3-ubyte.gz'


def put(folder, offset=0, zipped=True):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents(offset).items():
        if zipped:
            (folder / f'{name}.gz').write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


def closed_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


@pytest.fixture(autouse=True)
def small_and_offline(request, tmp_path, monkeypatch):
    """Stand-in files, an empty working directory, no Debian package and no network, but for tests of the real data."""
    if 'full_data' in request.fixturenames:
        yield
        return
    monkeypatch.setattr(fashion_mnist, 'COUNTS', COUNTS)
    monkeypatch.setattr(fashion_mnist, 'DEBIAN_FOLDER', tmp_path / 'debian')
    monkeypatch.delenv('D2L_LOCAL_DATA', raising=False)
    resources = [(name, hashlib.md5(content).hexdigest()) for name, content in ZIPPED.items()]
    monkeypatch.setattr(FashionMNIST, 'resources', resources)
    monkeypatch.setattr(FashionMNIST, 'mirrors', [f'http://127.0.0.1:{closed_port()}/'])
    for variable in ('http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / 'work').mkdir()
    monkeypatch.chdir(tmp_path / 'work')
    fashion_mnist._read_split.cache_clear()
    yield
    fashion_mnist._read_split.cache_clear()


@pytest.fixture
def chosen(tmp_path, monkeypatch):
    monkeypatch.setenv('D2L_LOCAL_DATA', str(tmp_path / 'chosen'))
    return tmp_path / 'chosen'


class Mirror(http.server.ThreadingHTTPServer):
    """Serve files on the loopback interface and count the downloads; `cut` breaks them off."""

    daemon_threads = True

    def __init__(self, files):
        super().__init__(('127.0.0.1', 0), Answer)
        self.files, self.requests, self.cut = files, Counter(), False
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server_port}/'


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files[self.path[1:]]
        if self.headers.get('Method') != 'HEAD':  # so torchvision asks where an address leads
            self.server.requests[self.path[1:]] += 1
        self.send_response(200)
        if self.server.cut == 'chunked':
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            self.wfile.write(b'ffff\r\n' + content[:20])
            return
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content[:100])
        time.sleep(0.02)
        if not self.server.cut:
            self.wfile.write(content[100:])

    def log_message(self, *args):
        pass


@pytest.fixture
def mirror():
    servers = []

    def start(*contents_of_mirrors):
        servers.extend(Mirror(files) for files in contents_of_mirrors)
        FashionMNIST.mirrors = [server.url for server in servers]
        return servers[0] if len(servers) == 1 else servers

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def left_in(folder):
    return {path.name for path in folder.iterdir()} - {'.download.lock'}


def test_the_folders_are_looked_through_in_order(tmp_path, chosen):
    for folder in (chosen, chosen / RAW, Path('data'), 'data' / RAW, tmp_path / 'debian'):
        put(folder)
    for folder in (chosen, chosen / RAW, Path('data'), 'data' / RAW, tmp_path / 'debian'):
        assert fashion_mnist.find_folder() == folder.resolve()
        for name in ZIPPED:
            (folder / name).unlink()


def test_without_the_environment_variable_data_comes_before_the_debian_package(tmp_path):
    put(tmp_path / 'debian')
    assert fashion_mnist.find_folder() == tmp_path / 'debian'
    put(Path('data'))
    assert fashion_mnist.find_folder() == Path('data').resolve()


def test_a_folder_without_all_four_files_is_passed_over(tmp_path):
    put(tmp_path / 'debian')
    put(Path('data'))
    Path('data', 't10k-labels-idx1-ubyte.gz').unlink()
    assert fashion_mnist.find_folder() == tmp_path / 'debian'


@pytest.mark.parametrize('zipped', [True, False])
@pytest.mark.parametrize('layout', [Path('.'), RAW])
def test_plain_and_gzipped_files_give_the_same_tensors_in_both_layouts(chosen, zipped, layout):
    put(chosen / layout, zipped=zipped)
    for split, n in COUNTS.items():
        images, labels = fashion_mnist.load(split)
        assert (images.shape, images.dtype) == ((n, 1, 28, 28), torch.uint8)
        assert (labels.dtype, labels.tolist()) == (torch.int64, [i % 10 for i in range(n)])
        assert images.flatten().tolist() == [i % 256 for i in range(n * 784)]


def test_another_folder_is_read_after_the_environment_variable_has_changed(tmp_path, monkeypatch):
    for offset in (1, 2):
        put(tmp_path / str(offset), offset)
        monkeypatch.setenv('D2L_LOCAL_DATA', str(tmp_path / str(offset)))
        assert fashion_mnist.load('train')[1][0] == offset


@pytest.mark.parametrize('zipped', [True, False])
@pytest.mark.parametrize('kept', [0, 1, 8, 0.5, -9, -1])
@pytest.mark.parametrize('kind', ['images-idx3-ubyte', 'labels-idx1-ubyte'])
def test_a_truncated_file_is_refused_by_name(chosen, zipped, kept, kind):
    put(chosen, zipped=zipped)
    path = chosen / (f'train-{kind}.gz' if zipped else f'train-{kind}')
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 if kept == 0.5 else kept])
    with pytest.raises(fashion_mnist.DataError, match='damaged.*Delete this file.*D2L_LOCAL_DATA') as raised:
        fashion_mnist.load('train')
    assert str(path) in str(raised.value)


@pytest.mark.parametrize('zipped', [True, False])
@pytest.mark.parametrize(
    'content',
    [
        idx(30, 28, 28)[:2] + b'\x0d' + idx(30, 28, 28)[3:],
        idx(28, 30, 28),
        idx(20, 28, 28),
        idx(30, 28, 28) + b'0',
        b'<html>This page has moved.</html>',
    ],
    ids=['another type', 'another shape', 'another count', 'a byte too many', 'a web page'],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_by_name(chosen, zipped, content):
    put(chosen, zipped=zipped)
    path = chosen / (TRAIN_IMAGES if zipped else TRAIN_IMAGES[:-3])
    path.write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(fashion_mnist.DataError, match='damaged') as raised:
        fashion_mnist.load('train')
    assert str(path) in str(raised.value)


@pytest.mark.parametrize('at', [0, 12, 300, -6])
def test_a_gzipped_file_with_an_altered_byte_is_refused_by_name(chosen, at):
    put(chosen)
    content = bytearray((chosen / TRAIN_IMAGES).read_bytes())
    content[at] ^= 0xFF
    (chosen / TRAIN_IMAGES).write_bytes(content)
    with pytest.raises(fashion_mnist.DataError, match='damaged') as raised:
        fashion_mnist.load('train')
    assert str(chosen / TRAIN_IMAGES) in str(raised.value)


def test_without_data_and_network_one_error_names_the_four_ways():
    with pytest.raises(fashion_mnist.DataError) as raised:
        fashion_mnist.load('train')
    message = str(raised.value)
    ways = ['D2L_LOCAL_DATA', 'data/', 'apt-get install dataset-fashion-mnist', 'connect to the network']
    positions = [message.index(f'({number}) ') for number in (1, 2, 3, 4)]
    assert all(way in message[position:] for way, position in zip(ways, positions)) and positions == sorted(positions)
    assert all(name in message for name in ZIPPED) and FashionMNIST.mirrors[0] in message
    assert 'D2L_LOCAL_SCALE=rehearsal' in message


def test_the_files_are_downloaded_once_into_data(mirror):
    server = mirror(ZIPPED)
    assert fashion_mnist.load('train')[0].shape == (30, 1, 28, 28)
    assert fashion_mnist.load('t10k')[0].shape == (20, 1, 28, 28)
    assert left_in('data' / RAW) == set(ZIPPED)
    assert server.requests == dict.fromkeys(ZIPPED, 1)


def test_the_files_are_downloaded_into_the_chosen_folder(mirror, chosen):
    mirror(ZIPPED)
    assert fashion_mnist.find_folder() == chosen / RAW
    assert not Path('data').exists()


def test_only_missing_files_are_downloaded(mirror):
    server = mirror(ZIPPED)
    put('data' / RAW)
    ('data' / RAW / TRAIN_IMAGES).unlink()
    fashion_mnist.find_folder()
    assert server.requests == {TRAIN_IMAGES: 1}


def test_a_download_with_a_wrong_checksum_is_dropped_and_the_next_mirror_tried(mirror):
    altered, good = mirror({**ZIPPED, TRAIN_IMAGES: gzip.compress(contents(1)[TRAIN_IMAGES[:-3]])}, ZIPPED)
    assert fashion_mnist.load('train')[0][0, 0, 0, 0] == 0
    assert altered.requests == dict.fromkeys(ZIPPED, 1) and good.requests == {TRAIN_IMAGES: 1}


@pytest.mark.parametrize('cut', ['short', 'chunked'])
def test_a_partial_download_is_not_taken_for_a_whole_one(mirror, cut):
    server = mirror(ZIPPED)
    server.cut = cut
    with pytest.raises(fashion_mnist.DataError, match='could not be downloaded') as raised:
        fashion_mnist.load('train')
    assert server.url + TRAIN_IMAGES in str(raised.value)
    assert left_in('data' / RAW) == set()
    server.cut = False
    assert fashion_mnist.load('train')[0].shape == (30, 1, 28, 28)


def test_the_final_name_appears_only_when_a_file_is_complete_and_checked(mirror, monkeypatch):
    mirror(ZIPPED)
    replaced, replace = [], os.replace

    def check_and_replace(source, target):
        assert not Path(target).exists()
        replaced.append((Path(target).name, Path(source).read_bytes() == ZIPPED[Path(target).name]))
        replace(source, target)

    monkeypatch.setattr(os, 'replace', check_and_replace)
    fashion_mnist.find_folder()
    assert replaced == [(name, True) for name in ZIPPED]


def test_what_a_killed_download_leaves_behind_does_no_harm(mirror):
    put('data' / RAW / '.download-killed')
    server = mirror(ZIPPED)
    fashion_mnist.find_folder()
    assert server.requests == dict.fromkeys(ZIPPED, 1)


def find_together(barrier, folders):
    barrier.wait(30)
    folders.put(fashion_mnist.find_folder())


def test_two_processes_at_once_download_each_file_once(mirror):
    server = mirror(ZIPPED)
    context = multiprocessing.get_context('fork')
    barrier, folders = context.Barrier(2), context.Queue()
    processes = [context.Process(target=find_together, args=(barrier, folders)) for _ in range(2)]
    for process in processes:
        process.start()
    try:
        assert {folders.get(timeout=30) for _ in processes} == {('data' / RAW).resolve()}
    finally:
        for process in processes:
            process.join(10)
            process.kill()
    assert server.requests == dict.fromkeys(ZIPPED, 1)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(fashion_mnist, 'NETWORK_TIMEOUT', 0.2)
    before = socket.getdefaulttimeout()
    with socket.socket() as silent:
        silent.bind(('127.0.0.1', 0))
        silent.listen()
        monkeypatch.setattr(FashionMNIST, 'mirrors', [f'http://127.0.0.1:{silent.getsockname()[1]}/'])
        with pytest.raises(fashion_mnist.DataError, match='timed out'):
            fashion_mnist.find_folder()
    assert socket.getdefaulttimeout() == before


@pytest.fixture
def become_ordinary_user():
    user = os.geteuid()
    yield lambda: os.seteuid(user or 65534)
    os.seteuid(user)


@pytest.fixture
def open_folder():
    """A folder that every user can reach, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.parametrize('mode', [0o555, 0o000])
def test_a_folder_that_cannot_be_written_or_read_gives_one_clear_error(
    mirror, open_folder, monkeypatch, become_ordinary_user, mode
):
    mirror(ZIPPED)
    (open_folder / 'closed').mkdir()
    (open_folder / 'closed').chmod(mode)
    monkeypatch.setenv('D2L_LOCAL_DATA', str(open_folder / 'closed'))
    become_ordinary_user()
    with pytest.raises(fashion_mnist.DataError, match=r'could not be downloaded.*closed.*Permission denied.*\(1\)'):
        fashion_mnist.find_folder()


def test_a_file_in_the_place_of_the_folder_gives_one_clear_error(mirror, chosen):
    mirror(ZIPPED)
    chosen.write_text('not a folder')
    with pytest.raises(fashion_mnist.DataError, match=r'could not be downloaded.*chosen.*\(1\)'):
        fashion_mnist.find_folder()


@pytest.mark.parametrize('split, n', [('train', 60000), ('t10k', 10000)])
def test_the_real_data_have_every_class_equally_often(full_data, split, n):
    images, labels = full_data.load(split)
    assert (images.shape, images.dtype) == ((n, 1, 28, 28), torch.uint8)
    assert labels.bincount().tolist() == [n // 10] * 10
    assert images.min() == 0 and images.max() == 255
