"""How things move: the stages, their catalogue, the runner, the store, the command line."""
