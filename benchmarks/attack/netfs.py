"""A file system that passes everything through to a folder and fails on purpose, as network file systems do."""

# ruff: noqa: ARG002, D102, PTH101, PTH102, PTH104, PTH106, PTH108, PTH208 - the form of FUSE

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mfusepy import FUSE, FuseOSError, Operations


class Faulty(Operations):  # type: ignore[misc]
    """Passes calls through; those of one kind on some paths fail from a count on, for a number of times."""

    use_ns = True

    def __init__(self, root: Path, call: str, code: int, where: str, after: int, lasts: int) -> None:
        self.root, self.call, self.code, self.where = root, call, code, where
        self.after, self.lasts, self.count = after, lasts, 0
        self.mutex = threading.Lock()

    def access(self, path: str, mode: int) -> int:
        if not os.access(path, mode):
            raise FuseOSError(errno.EACCES)
        return 0

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.lstat(path)
        names = ("st_uid", "st_gid", "st_mode", "st_nlink", "st_size")
        times = {f"st_{name}time": getattr(found, f"st_{name}time_ns") for name in "amc"}
        return {name: getattr(found, name) for name in names} | times

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(path)]

    def open(self, path: str, flags: int) -> int:
        return os.open(path, flags & ~os.O_APPEND)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        os.truncate(path, length)

    def flush(self, path: str, fh: int) -> int:
        return 0

    def fsync(self, path: str, datasync: bool, fh: int) -> int:
        os.fsync(fh)
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(path, mode)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, str(self.root) + new)

    def chmod(self, path: str, mode: int) -> None:
        os.chmod(path, mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        os.chown(path, uid, gid)

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> None:
        os.utime(path, ns=times)

    def statfs(self, path: str) -> dict[str, Any]:
        found = os.statvfs(path)
        names = (
            "f_bavail",
            "f_bfree",
            "f_blocks",
            "f_bsize",
            "f_favail",
            "f_ffree",
            "f_files",
            "f_frsize",
            "f_namemax",
        )
        return {name: getattr(found, name) for name in names}

    def lock(self, path: str, fh: int, cmd: int, lock: Any) -> int:
        return 0


def _wrapped(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Faulty, path: str, *args: Any) -> Any:
        if name == self.call and self.where in path:
            with self.mutex:
                self.count += 1
                if self.after < self.count <= self.after + self.lasts:
                    raise FuseOSError(self.code)
        try:
            return method(self, str(self.root) + path, *args)
        except OSError as error:
            raise FuseOSError(error.errno or errno.EIO) from error

    return call


_CALLS = (
    "access getattr readdir open create read write truncate flush fsync release mkdir rmdir unlink rename chmod chown"
    " utimens statfs lock"
)
for _name in _CALLS.split():
    setattr(Faulty, _name, _wrapped(_name, getattr(Faulty, _name)))

if __name__ == "__main__":
    below, folder, call, code, where, after, lasts = sys.argv[1:]
    fault = Faulty(Path(below), call, int(code), where, int(after), int(lasts))
    if call != "lock":
        del Faulty.lock  # then the kernel locks by itself
    options = {"direct_io": True} if call == "mmap" else {"hard_remove": True} if call != "linger" else {}
    FUSE(fault, folder, foreground=True, **options)
