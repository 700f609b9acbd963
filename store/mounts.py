"""Where a file lies. A file system that several hosts share is no place for a SQLite file: its locks and
its shared memory are one host's, and a file that two hosts write is lost.

``network_mount`` is pure, over what the operating system says of its mounts; what can't be found out is
allowed.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agent.errors import ConfigError

#: As the kernel names them, and of those in user space (``fuse.NAME``) the NAME.
NETWORK_FILE_SYSTEMS = frozenset(
    [
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "afpfs",
        "ceph",
        "coda",
        "davfs",
        "davfs2",
        "webdav",
        "glusterfs",
        "gpfs",
        "lustre",
        "beegfs",
        "beegfs_nodev",
        "orangefs",
        "pvfs2",
        "ncpfs",
        "vboxsf",
        "vmhgfs",
        "prl_fs",
        "sshfs",
        "s3fs",
        "gcsfuse",
        "goofys",
        "rclone",
        "curlftpfs",
        "vmhgfs-fuse",
        "ceph-fuse",
        "mfs",
        "moosefs",
        "juicefs",
        "blobfuse",
        "blobfuse2",
    ]
)
_PREFIXES = ("fuse.", "fuseblk.", "macfuse_", "osxfuse_")
#: ``/dev/disk1s1 on / (apfs, local, journaled)``.
_MOUNT_LINE = re.compile(r"^.*? on (?P<point>/.*) \((?P<kind>[^,)]+)[^()]*\)$")
_OCTAL = re.compile(r"\\([0-7]{3})")
_ANSWERS_WITHIN_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system, and where it begins."""

    point: str
    kind: str


def must_be_local(path: Path) -> None:
    """Raises ``ConfigError`` for a file that would lie on a network file system."""
    mount = network_mount(_mounts(), str(path.resolve()))
    if mount is not None:
        raise ConfigError(
            f"The store can't be at {path}: {mount.point} is a network file system ({mount.kind}), "
            "on which a SQLite file is damaged sooner or later. Set PILOTHOUSE_DATA to a folder on a "
            "local disk, or PILOTHOUSE_DATABASE_URL to a PostgreSQL server."
        )


def network_mount(mounts: str, path: str) -> Mount | None:
    """The network file system on which this absolute path lies, if it does. ``mounts`` is the text of
    ``/proc/self/mountinfo``, or what ``mount`` prints on macOS."""
    wanted = PurePosixPath(path)
    covering: Mount | None = None
    for mount in _read(mounts):
        # Of two at one place the later one covers the earlier.
        is_above = wanted.is_relative_to(mount.point)
        if is_above and (covering is None or len(mount.point) >= len(covering.point)):
            covering = mount
    if covering is None or not _is_network(covering.kind):
        return None
    return None if _is_sandbox(covering) else covering


def _is_sandbox(mount: Mount) -> bool:
    """A sandbox may hand its one host's disk in as 9p, from the root down; as a network it is mounted
    somewhere."""
    return mount.kind == "9p" and mount.point == "/"


def _is_network(kind: str) -> bool:
    name = kind.lower()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name in NETWORK_FILE_SYSTEMS


def _read(mounts: str) -> Iterator[Mount]:
    for line in mounts.splitlines():
        if printed := _MOUNT_LINE.match(line):
            yield Mount(printed["point"], printed["kind"])
            continue
        # ``36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw``
        about, dash, source = line.partition(" - ")
        fields, kinds = about.split(), source.split()
        if dash and len(fields) >= 5 and kinds:
            yield Mount(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4]), kinds[0])


def _mounts() -> str:
    """What the operating system says; nothing where it does not."""
    if platform.system() != "Darwin":
        try:
            return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    try:
        ended = subprocess.run(
            ["/sbin/mount"],
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout
