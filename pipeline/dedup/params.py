"""Options of the dedup stage."""

from build_dataset.schemas.params import Params, option


class DedupParams(Params):
    """The ``[dedup]`` section of ``dataset.toml``."""

    related: float = option(0.8, "Least similarity of two stems for twins that share a cluster.", ge=0.3, le=1)
    option: float = option(0.75, "Least similarity of two options for one option in two readings.", ge=0.5, le=1)
