"""One module a section of the page: ``section(build, params)`` gives it, or None when there is nothing to show."""
