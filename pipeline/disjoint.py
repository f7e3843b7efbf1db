"""Disjoint sets."""

from collections.abc import Iterable


class DisjointSets:
    """Disjoint sets of rows (union-find with path compression); the smallest row stands for its set."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, row: int) -> int:
        """The row that stands for the set of ``row``."""
        root = row
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while (parent := self._parent.get(row, row)) != root:
            self._parent[row] = root  # a shorter way for the next search
            row = parent
        return root

    def union(self, first: int, second: int) -> None:
        """Join the sets of both rows."""
        one, other = sorted((self.find(first), self.find(second)))
        self._parent.setdefault(one, one)  # `members` lists every row that was joined
        self._parent[other] = one

    def union_equal(self, keyed: Iterable[tuple[int, str | None]]) -> None:
        """Join all rows that have the same key; no key joins nothing."""
        first: dict[str, int] = {}
        for row, key in keyed:
            if key is not None and (seen := first.setdefault(key, row)) != row:
                self.union(seen, row)

    def sets(self, rows: Iterable[int]) -> list[list[int]]:
        """The sets that ``rows`` belong to, by smallest row, each ascending."""
        found: dict[int, list[int]] = {}
        for row in sorted(rows):
            found.setdefault(self.find(row), []).append(row)
        return [found[root] for root in sorted(found)]

    def members(self) -> list[list[int]]:
        """All sets that were made by ``union``."""
        return self.sets(self._parent)
