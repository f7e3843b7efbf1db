"""Charts are the same for the same data, and hold every label, series and interval."""

from __future__ import annotations

from xml.etree import ElementTree

from build_dataset.pipeline.rendering.figures import COLOURS, Chart, svg

CHART = Chart(
    "内科 <b>", ["骨骼", "$x_ & y"], {"one": [(50.0, 40.0, 60.0), None], "two": [(25.0, None, None), (0.0, 0.0, 5.0)]}
)


def drawn(chart: Chart) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg(chart)))


def of(kind: str, chart: Chart = CHART) -> list[ElementTree.Element]:
    return [each for each in drawn(chart) if each.tag.endswith(kind)]


def test_the_same_data_gives_the_same_bytes():
    assert svg(CHART) == svg(CHART)


def test_every_text_stands_there_as_it_is():
    assert {"内科 <b>", "骨骼", "$x_ & y", "one", "two"} <= {each.text for each in of("text")}


def test_bars_are_as_long_as_their_shares_in_the_colour_of_their_series():
    bars = [(float(each.attrib["width"]), each.attrib["fill"]) for each in of("rect") if each.attrib["height"] == "8"]
    legend, bars = bars[-2:], bars[:-2]
    assert legend == [(8.0, COLOURS[0]), (8.0, COLOURS[1])]
    assert len(bars) == 3, "what is not known has no bar"
    assert [length for length, _ in bars] == [333.3, 166.7, 0.0], "of 400 for 60 %"
    assert [colour for _, colour in bars] == [COLOURS[0], COLOURS[1], COLOURS[1]]


def test_intervals_are_lines_and_the_axis_ends_with_the_next_ten():
    spans = [float(each.attrib["x2"]) - float(each.attrib["x1"]) for each in of("line")]
    assert [span > 0 for span in spans].count(True) == 2
    assert "60 %" in {each.text for each in of("text")}


def test_a_chart_without_labels_is_a_chart():
    assert drawn(Chart("none", [], {}))
