"""The item store: results of slow or paid work, kept one by one in SQLite from the moment they arrive."""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from build_dataset.schemas.errors import UserError

_LOOKUP = 500  # keys a query; SQLite allows 999 variables in its oldest builds


class ItemStore:
    """A durable map from hash keys to JSON values, safe against ``kill -9`` and for threads.

    Write-ahead logging makes each ``put`` atomic and keeps it through the death of the process; what is in
    flight when the process dies is all that can be lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: set[str] = set()
        self._added: set[str] = set()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def reused(self) -> int:
        """Items found that an earlier process had stored, each counted once."""
        return len(self._found - self._added)

    @property
    def added(self) -> int:
        """Items stored by this process, each counted once."""
        return len(self._added)

    def get(self, key: str) -> Any | None:
        """The JSON value stored under ``key``, or None."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of those ``keys`` that are there; a damaged one counts as absent and is made again."""
        values: dict[str, Any] = {}
        with self._lock, self._errors():
            connection = self._open()
            wanted = list(dict.fromkeys(keys))  # SQLite takes lists, keys may repeat
            for start in range(0, len(wanted), _LOOKUP):
                some = wanted[start : start + _LOOKUP]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value, digest FROM items WHERE key IN ({marks})"  # noqa: S608 - marks only
                rows = connection.execute(query, some)
                values.update((key, json.loads(value)) for key, value, digest in rows if digest == _digest(value))
            self._found.update(values)  # counted as reused
        return values

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value durably before returning. The same key again replaces it."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        with self._lock, self._errors():
            connection = self._open()
            with connection:  # commits
                connection.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", (key, text, _digest(text)))
            self._added.add(key)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
            with FileLock(f"{self.path}.lock"):  # SQLite does not wait its timeout for the change to WAL
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")  # with WAL: a power cut may cost the last items
            fields = "key TEXT PRIMARY KEY, value TEXT NOT NULL, digest BLOB"
            connection.execute(f"CREATE TABLE IF NOT EXISTS items ({fields}) WITHOUT ROWID")
            columns = [row[1] for row in connection.execute("PRAGMA table_info(items)")]
            if columns != ["key", "value", "digest"]:  # some other database
                raise sqlite3.DatabaseError("another version wrote it")
            connection.commit()
            self._connection = connection
        return self._connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite into one line, with different advice for a full disk and for a damaged file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            remedy = "check the disk (over a network, that it gives locks) and run again"
            raise UserError(f"{self.path}: {error}: {remedy}") from None
        except sqlite3.DatabaseError as error:
            raise UserError(f"{self.path} is not a readable store ({error}): move it away and run again") from None


def _digest(value: object) -> bytes:
    """Return a digest of 8 bytes, which reveals a value that was changed outside this store; none of a BLOB."""
    return hashlib.blake2b(value.encode(), digest_size=8).digest() if isinstance(value, str) else b""  # no signature
