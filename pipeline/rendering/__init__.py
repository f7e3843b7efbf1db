"""Pages, tables and figures: HTML, Markdown, LaTeX, SVG and PNG."""
