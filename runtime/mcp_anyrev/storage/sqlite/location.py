"""Which file a URL names.

Rule: one that all workers see alike. On a network file system they do not: locks and the shared memory beside the file work on one
machine only; so what is known to be one is refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from mcp_anyrev.storage.urls import StorageUrl

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"(?:nfs4?|cifs|smb[23]?|smbfs|ncpfs|afs|9p|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|glusterfs|gfs2?|ocfs2"
    r"|fuse\.(?:sshfs|glusterfs|ceph|s3fs|rclone|gcsfuse|davfs.*|curlftpfs|mfs|juicefs))"
)


def path_of(url: StorageUrl) -> Path:
    """The file that a URL names.

    Raises:
        ValueError: it names none, or one on a network file system.
    """
    place = url.text.partition(":")[2]
    if place.startswith("//"):
        place = place[2:]
        if not place.startswith("/"):  # what stands there is the name of a machine
            place = ""
    place = unquote(place)
    if not place.strip("/") or place.endswith("/") or re.search(r"[?#\0]", place) or place == ":memory:":
        raise ValueError(f"{url.shown} names no file: sqlite:///absolute/path, or sqlite:relative/path")
    path = Path(os.path.abspath(re.sub("^/+", "/", place)))
    check_file_system(path)
    return path


def check_file_system(path: Path) -> None:
    """See that a file is, or would be, where all workers of this machine see it alike.

    Raises:
        ValueError: it is on a network file system.
    """
    kind = _file_system_of(Path(os.path.realpath(path)))
    if _NETWORK.fullmatch(kind) is not None:
        raise ValueError(
            f"{path} is on a network file system ({kind}), where SQLite loses what several workers keep; use a local disk, or another store"
        )


def _file_system_of(path: Path) -> str:
    """The kind of file system that a path is on; empty where this system does not tell."""
    kinds = {}
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        before, _, after = line.partition(" - ")
        mounted = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split()[4])
        kinds[mounted] = after.split()[0]  # of several on one another the last is seen
    return next((kinds[str(above)] for above in (path, *path.parents) if str(above) in kinds), "")
