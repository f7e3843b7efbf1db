"""Formulas of Word documents as text."""

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.docx import DocxReader
from build_dataset.pipeline.ocr.readers.omml import linearise
from build_dataset.schemas.documents import LineKind

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def formula(inside: str):
    return parse_xml(f"<m:oMath {MATH} {nsdecls('w')}>{inside}</m:oMath>")


def r(text: str) -> str:
    return f"<m:r><w:rPr/><m:t>{text}</m:t></m:r>"


def part(name: str, text: str) -> str:
    return f"<m:{name}>{text if text.startswith('<') else r(text)}</m:{name}>"


def f(num: str, den: str) -> str:
    return f"<m:f><m:fPr/>{part('num', num)}{part('den', den)}</m:f>"


def script(name: str, base: str, sub: str = "", sup: str = "") -> str:
    lower = part("sub", sub) if sub else ""
    upper = part("sup", sup) if sup else ""
    return f"<m:{name}>{part('e', base)}{lower}{upper}</m:{name}>"


def accent(base: str, sign: str = "") -> str:
    properties = f'<m:accPr><m:chr m:val="{sign}"/></m:accPr>' if sign else ""
    return f"<m:acc>{properties}<m:e>{r(base) if base else ''}</m:e></m:acc>"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (r("v=") + f("s", "t"), "v=s/t"),
        (f("1", "2") + r("m") + script("sSup", "v", sup="2"), "(1/2)mv²"),
        (r("y=") + f("a+b", "c"), "y=(a+b)/c"),
        (f("a", "bc"), "a/(bc)"),
        (script("sSup", "10", sup="-9") + r("mol"), "10⁻⁹mol"),
        (script("sSup", "e", sup="αx"), "e^(αx)"),
        (script("sSubSup", "SO", "4", "2-"), "SO₄²⁻"),
        (script("sSub", "m", "i,j"), "m_(i,j)"),
        (f"<m:rad><m:deg/>{part('e', 'x+1')}</m:rad>", "√(x+1)"),
        (f"<m:rad>{part('deg', '3')}{part('e', '8')}</m:rad>", "∛8"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=")"/></m:dPr>{part("e", "0,1")}</m:d>', "[0,1)"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{part("sub", "i=1")}{part("sup", "n")}{part("e", "i")}'
            "</m:nary>",
            "∑ᵢ₌₁ⁿ i",
        ),
        (f"<m:func>{part('fName', 'sin')}{part('e', 'θ')}</m:func>", "sin θ"),
        (f"<m:limLow>{part('e', 'lim')}{part('lim', 'x→0')}</m:limLow>", "lim_(x→0)"),
        (
            f"<m:m><m:mr>{part('e', '1')}{part('e', '0')}</m:mr><m:mr>{part('e', '0')}{part('e', '1')}</m:mr></m:m>",
            "1, 0; 0, 1",
        ),
        (r("y=") + f("1", "2") + r("m"), "y=(1/2)m"),
        (f("1", "2") + r("=") + r("y"), "1/2=y"),
        (r("m") + f("1", "2") + r("="), "m(1/2)="),
        (r("+") + f("1", "2") + r("="), "+1/2="),
        (r("+") + f("1", "2") + f("3", "4"), "+(1/2)(3/4)"),
        (f("12", "345"), "12/345"),
        (f("药物", "血浆"), "药物/血浆"),
        (script("sPre", "X", "1", "2"), "₁²X"),
        (script("sSub", "X", "1"), "X₁"),
        (script("sSup", "e", sup="α"), "e^α"),
        (script("sSup", "e", sup="αβ"), "e^(αβ)"),
        (script("sSub", "e", "中"), "e_中"),
        (script("sSup", "e"), "e"),
        (accent("x"), "x\u0302"),
        (accent("x", "⃗"), "x⃗"),
        (accent("x", "\u0305"), "x\u0305"),
        (accent("xy", "\u0305"), "x\u0305y\u0305"),
        (f"<m:bar>{part('e', 'AB')}</m:bar>", "A\u0305B\u0305"),
        (f"<m:bar>{part('e', 'A')}</m:bar>", "A\u0305"),
        (f"<m:rad>{part('deg', '2')}{part('e', '8')}</m:rad>", "√8"),
        (f"<m:rad>{part('deg', '4')}{part('e', '8')}</m:rad>", "∜8"),
        (f"<m:rad>{part('deg', '5')}{part('e', '8')}</m:rad>", "⁵√8"),
        (f"<m:rad>{part('e', 'ab')}</m:rad>", "√(ab)"),
        (f"<m:limUpp>{part('e', '→')}{part('lim', '△')}</m:limUpp>", "→^(△)"),
        (f"<m:nary>{part('e', 'x')}</m:nary>", "∫ x"),
        (f"<m:d>{part('e', 'a')}{part('e', 'b')}</m:d>", "(a|b)"),
        (f'<m:d><m:dPr><m:sepChr m:val=","/></m:dPr>{part("e", "a")}{part("e", "b")}</m:d>', "(a,b)"),
        (f"<m:d><m:dPr><m:begChr/></m:dPr>{part('e', 'a')}</m:d>", "a)"),
        (f"<m:eqArr>{part('e', 'a')}{part('e', 'b')}</m:eqArr>", "a; b"),
        (f"<m:box>{part('e', 'a')}</m:box>", "a"),
        ("<m:ctrlPr/>" + r("a"), "a"),
        ('<w:bookmarkStart w:id="1"/>' + r("a") + '<w:bookmarkEnd w:id="1"/><w:proofErr/>', "a"),
        ("<!-- x -->" + r("a"), "a"),
        (f"<w:ins>{r('a')}</w:ins>", "a"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>", "a b"),
        ("<m:r><m:t>a</m:t><m:t/></m:r>" + r("b"), "a b"),
    ],
)
def test_a_formula_is_written_on_one_line(xml: str, text: str) -> None:
    assert linearise(formula(xml)) == text


@pytest.mark.parametrize("xml", ["", "<m:unheard>" + r("x") + "</m:unheard>", "<m:r><w:drawing/></m:r>"])
def test_what_is_not_understood_is_not_half_read(xml: str) -> None:
    assert linearise(formula(r("x=") + xml if xml else "")) is None


@given(st.recursive(st.sampled_from("abx12").map(r), lambda inner: st.builds(f, inner, inner), max_leaves=8))
def test_no_letter_of_a_formula_is_lost(xml: str) -> None:
    text = linearise(formula(xml))
    assert text is not None
    assert sorted(filter(str.isalnum, text)) == sorted(node.text for node in formula(xml).iter(qn("m:t")))


def test_a_document_reads_formulas_in_their_place_and_marks_the_others(tmp_path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("1. 动能为")
    paragraph._p.append(formula(f("1", "2") + r("mv")))
    paragraph.add_run("的物体")
    document.add_paragraph("A. 甲").add_run()._r.append(parse_xml(f"<w:object {nsdecls('w')}/>"))
    raised = document.add_paragraph("B. 10").add_run("9")
    raised._r.get_or_add_rPr().append(parse_xml(f'<w:position {nsdecls("w")} w:val="10"/>'))
    document.save(tmp_path / "a.docx")
    (page,) = DocxReader().read(tmp_path / "a.docx", [1], OcrParams())
    assert [(line.kind, line.text) for line in page.lines] == [
        (LineKind.TEXT, "1. 动能为(1/2)mv的物体"),
        (LineKind.TEXT, "A. 甲"),
        (LineKind.FORMULA, ""),
        (LineKind.TEXT, "B. 10⁹"),
    ]


@pytest.mark.parametrize(
    "xml",
    [
        accent("xy"),
        accent("xy", "⃗"),
        accent(""),
        accent("x", "~"),
        accent("", "\u0305"),
        "<w:del/>",
        "<w:rPx/>",
        r(" "),
    ],
)
def test_a_form_without_a_text_of_its_own_is_not_read(xml: str) -> None:
    assert linearise(formula(xml)) is None
