"""Pages, tables and figures: HTML, Markdown, LaTeX and SVG."""
