import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from build_dataset.pipeline.runtime.store import ItemStore
from build_dataset.schemas.errors import UserError


def test_a_value_is_there_for_the_next_process(tmp_path):
    ItemStore(tmp_path / "s.sqlite").put("key", {"text": "血压", "numbers": [1, 2.5, None]})
    assert ItemStore(tmp_path / "s.sqlite").get("key") == {"text": "血压", "numbers": [1, 2.5, None]}


def test_what_is_not_there_is_none(tmp_path):
    assert ItemStore(tmp_path / "s.sqlite").get("key") is None


def test_many_keys_are_looked_up_at_once(tmp_path):
    store = ItemStore(tmp_path / "s.sqlite")
    for number in range(0, 2000, 2):
        store.put(str(number), number)
    found = store.get_many(str(number) for number in range(2000))
    assert found == {str(number): number for number in range(0, 2000, 2)}


def test_only_what_an_earlier_process_stored_counts_as_reused(tmp_path):
    ItemStore(tmp_path / "s.sqlite").put("old", 1)
    store = ItemStore(tmp_path / "s.sqlite")
    store.put("new", 2)
    for _ in range(3):
        store.get_many(["old", "new", "absent"])
    assert (store.reused, store.added) == (1, 1)


def test_the_same_key_again_replaces_the_value(tmp_path):
    store = ItemStore(tmp_path / "s.sqlite")
    store.put("key", 1)
    store.put("key", 2)
    assert store.get("key") == 2


def test_what_was_put_survives_kill_9(tmp_path):
    path = tmp_path / "s.sqlite"
    script = (
        "import sys\nfrom pathlib import Path\nfrom pipeline.runtime.store import ItemStore\n"
        "store = ItemStore(Path(sys.argv[1]))\n"
        "for number in range(10**6):\n    store.put(str(number), number)\n    print(number, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    for _ in range(200):
        last = process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    told = [*range(int(last) + 1)]
    assert ItemStore(path).get_many(map(str, told)) == {str(number): number for number in told}


def test_two_processes_may_write_the_same_store(tmp_path):
    path = tmp_path / "s.sqlite"
    script = (
        "import sys\nfrom pathlib import Path\nfrom pipeline.runtime.store import ItemStore\n"
        "store = ItemStore(Path(sys.argv[1]))\n"
        "for number in range(200):\n    store.put(f'{sys.argv[2]}-{number}', number)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(ItemStore(path).get_many(f"{name}-{number}" for name in "ab" for number in range(200))) == 400


def test_a_file_that_is_no_store_is_told_in_one_line(tmp_path):
    (tmp_path / "s.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(UserError, match="move it away and run again"):
        ItemStore(tmp_path / "s.sqlite").get("key")


def test_a_store_that_is_damaged_after_it_was_opened_is_told_in_one_line(tmp_path):
    store = ItemStore(tmp_path / "s.sqlite")
    for number in range(2000):
        store.put(str(number), "x" * 100)
    store.close()
    path = tmp_path / "s.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with pytest.raises(UserError, match="move it away and run again"):
        ItemStore(path).get_many(map(str, range(2000)))


def test_a_full_disk_is_told_in_one_line_and_what_is_stored_stays(tmp_path):
    store = ItemStore(tmp_path / "s.sqlite")
    store.put("old", 1)
    store._connection.execute(f"PRAGMA max_page_count={store._connection.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(UserError, match=r"s\.sqlite: database or disk is full"):
        store.put("new", "x" * 100_000)
    assert ItemStore(tmp_path / "s.sqlite").get_many(["old", "new"]) == {"old": 1}


def change(path, sql):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)


@pytest.mark.parametrize("value", ["'{'", "'[1]'", "x'00'", "'9'"])
def test_a_value_that_was_edited_counts_as_absent_and_can_be_put_again(tmp_path, value):
    path = tmp_path / "ocr.sqlite"
    store = ItemStore(path)
    store.put("a", {"text": "甲"})
    store.close()
    change(path, f"UPDATE items SET value = {value}")
    assert store.get("a") is None
    store.put("a", {"text": "乙"})
    assert store.get("a") == {"text": "乙"}


def test_another_database_is_told_whole(tmp_path):
    path = tmp_path / "s.sqlite"
    change(path, "CREATE TABLE items (value TEXT, key TEXT)")
    with pytest.raises(UserError) as caught:
        ItemStore(path).get("key")
    told = f"{path} is not a readable store (another version wrote it): move it away and run again"
    assert str(caught.value) == told


def test_a_store_in_a_place_that_cannot_be_opened_is_told_whole(tmp_path):
    (tmp_path / "s.sqlite").mkdir()
    with pytest.raises(UserError) as caught:
        ItemStore(tmp_path / "s.sqlite").get("key")
    advice = "check the disk (over a network, that it gives locks) and run again"
    assert str(caught.value) == f"{tmp_path}/s.sqlite: unable to open database file: {advice}"
