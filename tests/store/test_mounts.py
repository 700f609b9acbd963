"""A SQLite file on a network file system is refused before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigError
from store import mounts, open_store
from store.mounts import Mount, network_mount

LINUX = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:40 / /srv/share rw,relatime shared:9 master:2 - nfs4 host:/export rw,vers=4.2
31 30 0:41 / /srv/share/local rw - xfs /dev/vdb rw
32 27 0:42 / /mnt/with\\040space rw - cifs //host/share rw
33 27 0:43 / /home/ann/far rw - fuse.sshfs ann@host: rw
34 27 0:44 / /mnt/c rw - 9p drvfs rw
35 27 0:45 / /tmp rw - tmpfs tmpfs rw
36 27 0:46 / /var/lib/box rw - overlay overlay rw,lowerdir=/a - /b
37 27 0:47 / /twice rw - nfs host:/x rw
38 27 0:48 / /twice rw - btrfs /dev/vdc rw
39 27 0:49 / /media/stick rw - fuseblk /dev/sdb1 rw
"""
MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//ann@server/share on /Volumes/my share (smbfs, nodev, nosuid, mounted by ann)
host:/export on /Volumes/nfs (nfs)
ann@host: on /Users/ann/far (macfuse_sshfs, nodev, nosuid, mounted by ann)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
"""


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        (LINUX, "/data/p.db", None),
        (LINUX, "/srv/share/p.db", Mount("/srv/share", "nfs4")),
        (LINUX, "/srv/share/a/b/p.db", Mount("/srv/share", "nfs4")),
        (LINUX, "/srv/shared/p.db", None),
        (LINUX, "/srv/share/local/p.db", None),
        (LINUX, "/mnt/with space/p.db", Mount("/mnt/with space", "cifs")),
        (LINUX, "/home/ann/far/p.db", Mount("/home/ann/far", "fuse.sshfs")),
        (LINUX, "/home/ann/p.db", None),
        (LINUX, "/mnt/c/p.db", Mount("/mnt/c", "9p")),
        (LINUX, "/tmp/p.db", None),
        (LINUX, "/var/lib/box/p.db", None),
        (LINUX, "/twice/p.db", None),
        (LINUX, "/media/stick/p.db", None),
        (MACOS, "/Users/ann/p.db", None),
        (MACOS, "/Volumes/my share/p.db", Mount("/Volumes/my share", "smbfs")),
        (MACOS, "/Volumes/nfs/a/p.db", Mount("/Volumes/nfs", "nfs")),
        (MACOS, "/Users/ann/far/p.db", Mount("/Users/ann/far", "macfuse_sshfs")),
        (MACOS, "/System/Volumes/Data/home/p.db", None),
        ("", "/data/p.db", None),
        ("no mounts\n1 2 3 - \n - nfs", "/data/p.db", None),
        ("1 0 0:1 / / rw - 9p none rw,trans=fd", "/data/p.db", None),
        ("1 0 0:1 / / rw - nfs host:/root rw", "/data/p.db", Mount("/", "nfs")),
    ],
)
def test_the_mount_that_covers_a_path_decides(text: str, path: str, found: Mount | None) -> None:
    assert network_mount(text, path) == found


async def test_a_file_there_is_refused_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = tmp_path / "share"
    share.mkdir()
    (tmp_path / "link").symlink_to(share)
    text = (
        f"27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:40 / {share.resolve()} rw - nfs4 h:/e rw\n"
    )
    monkeypatch.setattr(mounts, "_mounts", lambda: text)
    for folder in (share, share / "deeper", tmp_path / "link"):
        with pytest.raises(ConfigError, match="nfs4") as refused:
            await open_store(f"sqlite:///{folder / 'p.db'}")
        assert str(share.resolve()) in str(refused.value)
        assert "PILOTHOUSE_DATA" in str(refused.value)
    assert list(share.iterdir()) == []
    store = await open_store(f"sqlite:///{tmp_path / 'p.db'}")
    await store.close()


def test_what_the_system_says_of_this_machine_can_be_read(tmp_path: Path) -> None:
    mounts.must_be_local(tmp_path / "p.db")
