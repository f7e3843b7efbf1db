"""Options of the parse stage."""

from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.params import Params, option


class ParseParams(Params):
    """The ``[parse]`` section of ``dataset.toml``."""

    sources: dict[str, SourceParams] = option({}, "What [sources] says of tabular files; write it there")
