import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from softmodes import _files
from softmodes._files import checked_source, checked_target, write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    return path


@pytest.mark.parametrize("content", [b"new", lambda file: file.write(b"new")])
def test_bytes_and_functions_take_the_place_of_what_was_there(old, content):
    write_whole(old, content)
    assert old.read_text() == "new"
    assert names(old.parent) == ["old.txt"]


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o666, 0o755])
def test_a_file_keeps_its_mode(old, permissions):
    old.chmod(permissions)
    write_whole(old, b"new")
    assert mode(old) == permissions


def test_nobody_else_can_read_a_private_file_while_it_is_written(old):
    old.chmod(0o600)
    seen = []
    write_whole(old, lambda file: seen.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode)))
    assert seen == [0o600]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "whole", b"new")
    assert mode(tmp_path / "whole") == mode(tmp_path / "plain")


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(old, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(old.name)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert old.read_text() == "new"


def test_a_link_to_nothing_makes_the_file_that_it_leads_to(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to("folder/new.txt")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (folder / "new.txt").read_text() == "new"


def test_a_pipe_stays_a_pipe_and_passes_the_content_on(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"new")
    reader.join(10)
    assert got == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device_and_gets_the_content():
    ours, theirs = os.openpty()
    device = Path(os.ttyname(theirs))
    write_whole(device, b"new")
    assert os.read(ours, 100) == b"new"
    assert stat.S_ISCHR(device.stat().st_mode)
    os.close(ours)
    os.close(theirs)


@pytest.fixture
def null_device(tmp_path):
    """A device like /dev/null; one of our own, since root could replace the system's."""
    if os.geteuid() != 0:
        return Path(os.devnull)
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
        device.read_bytes()
    except PermissionError:
        pytest.skip("This system makes no devices here.")
    return device


def test_a_device_without_places_gets_what_needs_them_to_be_written(null_device):
    def told(file):
        file.write(b"new")
        file.flush()
        places.append(file.tell())

    places = []
    write_whole(null_device, told)
    assert places == [3]
    assert stat.S_ISCHR(null_device.stat().st_mode)


@pytest.fixture
def own_folder():
    """A folder of a user whom permissions bind, who we are for the time of a test."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        yield Path(folder)
        if root:
            os.seteuid(0)


def test_a_file_that_may_not_be_written_is_not_replaced(own_folder):
    path = own_folder / "old.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"old.txt' cannot be written: Permission denied"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert names(own_folder) == ["old.txt"]


@pytest.mark.parametrize("mode", ["w", "a"])
def test_standard_output_in_a_file_keeps_what_was_printed_before(tmp_path, mode):
    printed = tmp_path / "printed.txt"
    program = (
        "from softmodes._files import write_whole; print('before'); "
        "write_whole('/dev/stdout', b'content\\n'); print('after')"
    )
    with open(printed, mode) as file:
        subprocess.run(
            [sys.executable, "-c", program],
            stdout=file,
            check=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    assert printed.read_text() == "before\ncontent\nafter\n"


def interrupted(file):
    file.write(b"half of it")
    raise KeyboardInterrupt


def test_what_is_interrupted_leaves_the_old_file_and_nothing_else(old):
    with pytest.raises(KeyboardInterrupt):
        write_whole(old, interrupted)
    assert old.read_text() == "old"
    assert names(old.parent) == ["old.txt"]


def no_room(file):
    raise OSError(28, "No space left on device")


def test_a_failure_names_the_parameter_and_leaves_the_old_file(old):
    with pytest.raises(OSError, match=r"out='.*old.txt' cannot be written: No space left") as full:
        write_whole(old, no_room, name="out")
    assert full.value.errno == 28
    assert old.read_text() == "old"
    assert names(old.parent) == ["old.txt"]


def test_the_longest_name_that_the_system_takes_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_whole(path, b"new")
    assert path.read_text() == "new"


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("", ValueError, "out='' is empty. Pass the path of a file to write."),
        ("a\0b", ValueError, r"out='a\x00b' holds a NUL byte. Pass the path of a file to write."),
        ("\ud800", ValueError, r"out='\ud800' holds half a character. Pass the path of a file"),
        (".", IsADirectoryError, "out='.' is a folder. Pass the path of a file to write"),
        ("new/", IsADirectoryError, "out='new/' is a folder. Pass the path of a file to write"),
        ("no/new.txt", FileNotFoundError, "out='no/new.txt' is in a folder that does not exist."),
        ("lost/new.txt", FileNotFoundError, "out='lost/new.txt' is in a folder that does not"),
        (7, TypeError, "out=7 is not a path. Pass a str or a pathlib.Path."),
    ],
)
@pytest.mark.parametrize("refuse", [checked_target, lambda p, name: write_whole(p, b"", name)])
def test_where_no_file_can_be_is_refused_by_name(
    tmp_path, monkeypatch, refuse, path, kind, message
):
    monkeypatch.chdir(tmp_path)
    Path("lost").symlink_to("nowhere")
    with pytest.raises(kind) as refused:
        refuse(path, name="out")
    assert str(refused.value).startswith(message)
    assert names(tmp_path) == ["lost"]


def test_links_in_a_circle_are_refused_by_name(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match=r"path='.*link' cannot be written: Too many levels"):
        write_whole(link, b"new")
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("", ValueError, "path='' is empty. Pass the path of a file to read."),
        ("a\0b", ValueError, "holds a NUL byte"),
        (None, TypeError, "path=None is not a path."),
        (".", IsADirectoryError, "path='.' is a folder."),
        ("no-such-file", FileNotFoundError, "path='no-such-file' does not exist."),
        ("x" * 5000, FileNotFoundError, "path='xxx"),
    ],
)
def test_what_cannot_be_read_is_named_with_a_remedy(path, error, message):
    with pytest.raises(error) as refusal:
        checked_source(path)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 600


KILLED = """
import os, signal, sys
from softmodes._files import write_whole

def killed(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

write_whole(sys.argv[1], killed)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files without a name")
def test_a_run_killed_while_it_writes_leaves_nothing(old):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(old)], env=environment)
    assert done.returncode < 0
    assert names(old.parent) == ["old.txt"]
    assert old.read_text() == "old"


@pytest.mark.parametrize("content", [b"new", lambda file: file.write(b"new")])
def test_files_are_written_as_well_where_none_is_without_a_name(
    old, tmp_path, monkeypatch, content
):
    monkeypatch.setattr(_files, "_OPEN_FILES", str(tmp_path / "nowhere"))
    old.chmod(0o640)
    write_whole(old, content)
    assert (old.read_text(), mode(old)) == ("new", 0o640)
    assert names(old.parent) == ["old.txt"]
