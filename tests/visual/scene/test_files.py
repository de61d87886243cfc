"""Files appear complete, even if other processes write to the same folder."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_IMODE

import pytest

from lab.errors import ArgumentError
from visual.scene import formats
from visual.scene.formats import write_whole

TOKEN = "0123456789abcdef"


@pytest.fixture
def opened_files(monkeypatch):
    """Return a list for the path, the mode, and the size of each new file when it is opened."""
    files, original = [], os.open

    def record(path, flags, *others, **options):
        descriptor = original(path, flags, *others, **options)
        if flags & os.O_CREAT:
            status = os.fstat(descriptor)
            files.append((Path(path), S_IMODE(status.st_mode), status.st_size))
        return descriptor

    monkeypatch.setattr(os, "open", record)
    return files


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / f".{TOKEN}.part").symlink_to(victim)
    monkeypatch.setattr(formats, "token_hex", lambda _: TOKEN)
    with pytest.raises(ArgumentError, match=r"a\.svg.* cannot be written: File exists"):
        write_whole(tmp_path / "a.svg", "new")
    assert victim.read_text() == "untouched"
    assert (tmp_path / f".{TOKEN}.part").is_symlink()
    assert not (tmp_path / "a.svg").exists()


def test_threads_write_complete_files(tmp_path):
    path = tmp_path / "a.txt"

    def write(letter):
        for _ in range(100):
            write_whole(path, letter * 100_000)
            assert set(path.read_text()) in ({"a"}, {"b"})
            assert path.stat().st_size == 100_000

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, "ab"))


@pytest.mark.parametrize(
    ("umask", "old", "mode"),
    [(0o022, 0o600, 0o600), (0o022, 0o640, 0o640), (0o022, 0o664, 0o664), (0o027, None, 0o640)],
)
def test_a_file_has_its_old_permissions_or_the_umask(tmp_path, opened_files, umask, old, mode):
    """Other users never have access to the file, even before it has content."""
    path = tmp_path / "private.json"
    if old is not None:
        path.write_text("old")
        path.chmod(old)
    before = os.umask(umask)
    try:
        write_whole(path, "new")
    finally:
        os.umask(before)
    ((_, first, size),) = opened_files
    assert (first & ~mode, size) == (0, 0)
    assert S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "new"
