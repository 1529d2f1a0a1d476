"""YAML with positions: every value knows its place, and what YAML would silently change is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from codegen import source
from codegen.errors import CodegenError, Diagnostics, Span
from codegen.source import Mapping, Node, Scalar, Sequence, load, parse_text
from codegen.source.text import to_yaml


def only_value(text: str) -> Scalar:
    """The value of `text`, a list of one mapping of one pair."""
    (entry,) = parse_text(text, "ops.yaml").root
    assert isinstance(entry, Mapping)
    ((_, value),) = entry.items
    assert isinstance(value, Scalar)
    return value


def characters_at(text: str, scalar: Scalar) -> str:
    """What stands in the text where each character of the value is said to be."""
    lines = text.split("\n")
    places = [scalar.locate(offset) for offset in range(len(scalar.value))]
    return "".join((lines[line - 1] + "\n")[column - 1] for line, column in places)


@pytest.fixture(params=["fast", "pure"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with libyaml's parser and with PyYAML's own."""
    if request.param == "pure":
        monkeypatch.setattr(source, "_FAST_LOADER", yaml.SafeLoader)


def mistakes(text: str) -> list[tuple[int, int, int, str]]:
    diagnostics = Diagnostics()
    parse_text(text, "ops.yaml", diagnostics)
    return [(d.line, d.column, d.length, d.message) for d in diagnostics]


def test_nodes_and_spans() -> None:
    document = parse_text("# heading\n- func: f() -> ()\n  tags: [a, 'b']\n  more: {floating: x}\n", "ops.yaml")
    assert document.lines[1] == "- func: f() -> ()"
    (entry,) = document.root
    assert isinstance(entry, Mapping)
    assert entry.span == Span("ops.yaml", 2, 3, 15)
    assert list(entry) == ["func", "tags", "more"]
    assert len(entry) == 3
    assert "tags" in entry
    key, func, tags, more = entry.key("tags"), entry.get("func"), entry.get("tags"), entry.get("more")
    assert key is not None
    assert key.span == Span("ops.yaml", 3, 3, 4)
    assert isinstance(func, Scalar)
    assert (func.value, func.style) == ("f() -> ()", "plain")
    assert func.span == Span("ops.yaml", 2, 9, 9)
    assert isinstance(tags, Sequence)
    assert tags.span == Span("ops.yaml", 3, 9, 8)
    assert [(tag.value, tag.span.column, tag.span.length) for tag in tags if isinstance(tag, Scalar)] == [
        ("a", 10, 1),
        ("b", 13, 3),
    ]
    assert isinstance(more, Mapping)
    assert more.span.column == 9
    assert [key.value for key in entry.keys] == list(entry)
    assert tags[1] == tags.items[1]
    assert entry.get("nothing") is None
    assert entry.key("nothing") is None


def test_values_stay_text() -> None:
    (entry,) = parse_text("- {a: 1e3, b: true, c: ~, d: 2020-01-01, e: 'true', f: 0x10, g: 12:30:00}", "x").root
    assert isinstance(entry, Mapping)
    values = [value for _, value in entry.items]
    assert all(isinstance(value, Scalar) for value in values)
    scalars = [value for value in values if isinstance(value, Scalar)]
    assert [scalar.value for scalar in scalars] == [
        "1e3",
        "true",
        "~",
        "2020-01-01",
        "true",
        "0x10",
        "12:30:00",
    ]
    assert [scalar.boolean for scalar in scalars] == [None, True, None, None, None, None, None]
    assert [scalar.is_null for scalar in scalars] == [False, False, True, False, False, False, False]


def test_an_absent_value_has_a_place() -> None:
    scalar = only_value("- doc:\n")
    assert scalar.value == ""
    assert scalar.is_null
    assert (scalar.span.line, scalar.span.length) == (1, 1)
    assert scalar.locate(0) == (1, 7)


LOCATIONS = [
    # text, offset in the value, character there, its line and column
    ("- e: self + alhpa\n", 7, "a", (1, 13)),
    ("- e: 'self + alhpa'\n", 7, "a", (1, 14)),
    ('- e: "self + alhpa"\n', 7, "a", (1, 14)),
    ("- e: |\n    self +\n    alhpa\n", 7, "a", (3, 5)),
    ("- e: |-  # why\n\n\n    self +\n\n      x\n", 2, "s", (4, 5)),
    ("- e: |2\n     x\n    y\n", 1, "x", (2, 6)),
    ("- e: >\n    self\n    + alhpa\n", 7, "a", (3, 7)),
    ("- e: self +\n    alhpa\n", 7, "a", (2, 5)),
    ("- e: self   +\n\n\n    alhpa\n", 10, "a", (4, 5)),
    ("- e: 'it''s x'\n", 5, "x", (1, 13)),
    ("- e: 'it''s\n     x'\n", 5, "x", (2, 6)),
    ('- e: "a\\tb\\x41\\u0042c"\n', 5, "c", (1, 21)),
    ('- e: "ab\\\n      c"\n', 2, "c", (2, 7)),
    ('- e: "ab\n\n   c"\n', 3, "c", (3, 4)),
    ("- e: 加法 + x\n", 5, "x", (1, 11)),
    ("- e: \U0001f600 + x\n", 4, "x", (1, 10)),
    ("- {e: 'x y'}\n", 2, "y", (1, 10)),
    ("- e: |\n    a\n    last", 2, "l", (3, 5)),
]


@pytest.mark.parametrize(("text", "offset", "character", "position"), LOCATIONS)
def test_offsets_are_located(text: str, offset: int, character: str, position: tuple[int, int]) -> None:
    scalar = only_value(text)
    assert scalar.value[offset] == character
    assert scalar.locate(offset) == position
    assert text.split("\n")[position[0] - 1][position[1] - 1] == character
    assert scalar.span_at(offset) == Span("ops.yaml", *position, 1)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_breaks_of_every_kind(newline: str) -> None:
    text = "- e: |\n    a\n    b + c\n".replace("\n", newline)
    scalar = only_value(text)
    assert scalar.value == "a\nb + c\n"
    assert scalar.locate(scalar.value.index("c")) == (3, 9)


def test_spans_inside_a_value() -> None:
    scalar = only_value("- e: 'a ''bc'' d'\n")
    assert scalar.value == "a 'bc' d"
    assert scalar.span_at(2, 4) == Span("ops.yaml", 1, 9, 6)
    assert scalar.span_at(len(scalar.value)) == Span("ops.yaml", 1, 17, 1)
    assert scalar.span_at(99) == scalar.span_at(8)


def test_a_span_ends_with_its_line() -> None:
    scalar = only_value("- e: |\n    first line\n    second\n")
    assert scalar.span_at(6, 12) == Span("ops.yaml", 2, 11, 4)
    folded = only_value("- e: ab cd   \n    ef\n")
    assert folded.span_at(3, 2) == Span("ops.yaml", 1, 9, 2)
    assert folded.span_at(3, 4) == Span("ops.yaml", 1, 9, 5)


def test_the_span_of_a_block_is_its_first_line() -> None:
    assert only_value("- e: |\n\n      first\n      second\n").span == Span("ops.yaml", 3, 7, 5)


WORDS = st.lists(st.text(alphabet="ab+'\"\\é加😀", min_size=1, max_size=4), min_size=1, max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 2), st.sampled_from(["|", "|-", "|+", ">", ">-"]))
def test_block_scalars_of_any_text_are_located(paragraphs: list[list[str]], blank: int, header: str) -> None:
    lines = [" ".join(words) for words in paragraphs]
    text = f"- e: {header}\n" + "\n" * blank + "".join(f"    {line}\n" for line in lines)
    scalar = only_value(text)
    characters = characters_at(text, scalar)
    if header.startswith("|"):
        assert characters == scalar.value
    else:
        assert characters.split() == scalar.value.split()


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 3), st.sampled_from(["'", '"']))
def test_quoted_scalars_of_any_text_are_located(paragraphs: list[list[str]], breaks: int, quote: str) -> None:
    lines = [" ".join(words) for words in paragraphs]
    body = ("  " + "\n" * breaks + "    ").join(lines)
    escaped = body.replace("'", "''") if quote == "'" else body.replace("\\", "\\\\").replace('"', '\\"')
    text = f"- e: {quote}{escaped}{quote}\n"
    scalar = only_value(text)
    assert scalar.value.split() == body.split()
    if quote == "'":
        assert characters_at(text, scalar).split() == scalar.value.split()
    else:
        for character, written in zip(scalar.value, characters_at(text, scalar), strict=True):
            assert written == ("\\" if character in '\\"' else character) or character in " \n"


MISTAKES = [
    ("- func: a\n  doc: b\n  func: c\n", [(3, 3, 4, "duplicate key 'func'")]),
    ("- {a: 1, a: 2, b: 1, b: 1}\n", [(1, 10, 1, "duplicate key 'a'"), (1, 22, 1, "duplicate key 'b'")]),
    ("- a: {x: 1, 'x': 2}\n", [(1, 13, 3, "duplicate key 'x'")]),
    ("- derivatives: no\n", [(1, 16, 2, "plain 'no' is a boolean in YAML")]),
    ("- on: x\n", [(1, 3, 2, "plain 'on' is a boolean in YAML")]),
    ("- a: [Yes, OFF]\n", [
        (1, 7, 3, "plain 'Yes' is a boolean in YAML"),
        (1, 12, 3, "plain 'OFF' is a boolean in YAML"),
    ]),
    ("- a: &x b\n- c: *x\n", [(1, 6, 4, "anchor '&x'"), (2, 6, 2, "alias '*x'")]),
    ("- a: !!str b\n", [(1, 6, 7, "tag 'tag:yaml.org,2002:str'")]),
    ("- a: ! b\n", [(1, 6, 3, "tag '!'")]),
    ("- <<: {a: b}\n", [(1, 3, 2, "merge key '<<'")]),
    ("- ? [a, b]\n  : c\n", [(1, 5, 1, "a key must be a text")]),
    ("- ?\n  : c\n", [(1, 4, 1, "empty key")]),
    ("- a\n---\n- b\n", [(2, 1, 3, "a second document starts here")]),
    ("", [(1, 1, 1, "the file is empty")]),
    ("# only a comment\n", [(1, 1, 1, "the file is empty")]),
    ("---\n", [(2, 1, 1, "expected a list of entries, got nothing")]),
    ("func: a\n", [(1, 1, 1, "expected a list of entries, got a mapping")]),
    ("just text\n", [(1, 1, 9, "expected a list of entries, got a text")]),
    ("- a: b: c\n", [(1, 7, 1, "malformed YAML: mapping values are not allowed here")]),
    ("- a: 'b\n", [(2, 1, 1, "malformed YAML: found unexpected end of stream")]),
    ("- a: b\n\tc: d\n", [(2, 1, 1, "malformed YAML: found character '\\t' that cannot start any token")]),
    ("- a: @b\n", [(1, 6, 1, "malformed YAML: found character '@' that cannot start any token")]),
    ('- a: "\\q"\n', [(1, 8, 1, "malformed YAML: found unknown escape character 'q'")]),
    ("- a: x\x00y\n", [(1, 7, 1, "character U+0000 cannot stand in YAML")]),
    ("- é: x\x01y\n", [(1, 7, 1, "character U+0001 cannot stand in YAML")]),
    ("- a: x\u2028y\n", [(1, 7, 1, "character U+2028 cannot stand in YAML")]),
    ("- a: \ufeffx\n- \ud800\n", [
        (1, 6, 1, "character U+FEFF cannot stand in YAML"),
        (2, 3, 1, "character U+D800 cannot stand in YAML"),
    ]),
    ("- [" + "[" * 80 + "]" * 80 + "]\n", [(1, 66, 1, "nested more than 64 levels deep")]),
    ("- a: no\n  a: b\n  b: &y 1\n", [
        (1, 6, 2, "plain 'no' is a boolean in YAML"),
        (2, 3, 1, "duplicate key 'a'"),
        (3, 6, 4, "anchor '&y'"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MISTAKES)
def test_mistakes_are_located(text: str, expected: list[tuple[int, int, int, str]]) -> None:
    assert mistakes(text) == expected


def test_what_is_wrong_is_left_out_of_the_result() -> None:
    diagnostics = Diagnostics()
    document = parse_text("- a: &x 1\n  b: 2\n  b: 3\n- c: 4\n", "f", diagnostics)
    assert len(diagnostics) == 2
    assert [list(entry) for entry in document.root if isinstance(entry, Mapping)] == [["b"], ["c"]]


def test_helps_name_the_way_out() -> None:
    diagnostics = Diagnostics()
    parse_text("- a: 1\n  a: no\n  b: no\n", "f", diagnostics)
    assert [diagnostic.help for diagnostic in diagnostics] == [
        "it is already given on line 1",
        "quote it ('no'), or write true or false",
        "quote it ('no'), or write true or false",
    ]


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("- a: b: c\n", "a text with ': ' in it needs quotes, or a block scalar ('key: |')"),
        ("- a: 'b\n", "close the quotes"),
        ("- a: @b\n", "quote the text"),
        ("- a: b\n\tc: d\n", "indent with blanks"),
        ("- a: 1\n  b\n", "every line of a mapping has the form 'key: value'"),
        ('- a: "\\q"\n', "use single quotes, in which a backslash is a plain character"),
        ("- a: [b\n", "close the bracket, or quote a text that holds brackets or commas"),
        ("- a: 'b' c\n", "compare the indentation with the lines above; quoted text ends at its quote"),
    ],
)
def test_helps_for_malformed_yaml(text: str, help: str) -> None:
    diagnostics = Diagnostics()
    parse_text(text, "f", diagnostics)
    assert [diagnostic.help for diagnostic in diagnostics] == [help]


def test_without_a_collector_mistakes_are_raised() -> None:
    with pytest.raises(CodegenError) as raised:
        parse_text("- a: no\n- b: off\n", "f")
    assert [diagnostic.line for diagnostic in raised.value.diagnostics] == [1, 2]


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "ops.yaml"
    file.write_bytes("\ufeff- func: é\r\n  doc: |\r\n    text\r\n".encode())
    document = load(file)
    assert document.file == str(file)
    (entry,) = document.root
    assert isinstance(entry, Mapping)
    doc = entry.get("doc")
    assert isinstance(doc, Scalar)
    assert doc.value == "text\n"
    assert doc.locate(0) == (3, 5)
    assert load(file, name="shown.yaml").root.span.file == "shown.yaml"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(b"- a: b\r\n- \xc3\xa9 c\xff\n")
    missing = tmp_path / "missing.yaml"
    for path in (broken, missing, tmp_path):
        assert len(load(path, diagnostics).root) == 0
    shown = {str(diagnostic).replace(str(tmp_path), "TMP") for diagnostic in diagnostics}
    assert shown == {
        "TMP: error: cannot read the file: Is a directory",
        "TMP/broken.yaml:2:6: error: not UTF-8: byte 0xff",
        "TMP/missing.yaml: error: cannot read the file: No such file or directory",
    }


@given(st.text(alphabet="ab:-'\"|>#&*!?[]{},\\ \t\n\r\x00é", max_size=24))
def test_any_text_is_read_or_refused(text: str) -> None:
    diagnostics = Diagnostics()
    document = parse_text(text, "f", diagnostics)
    for diagnostic in diagnostics:
        assert 1 <= diagnostic.line <= max(1, len(document.lines) + 1)
        assert diagnostic.column >= 1
        assert diagnostic.length >= 1
    for entry in document.root:
        if isinstance(entry, Scalar):
            entry.locate(len(entry.value))
            for offset in range(len(entry.value)):
                entry.span_at(offset, 2)


def test_both_parsers_see_the_same_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text, *_ in LOCATIONS] + ["- a: {b: [c, 'd', \"e\"], f: h}\n"]
    fast = [parse_text(text, "f").root for text in texts]
    monkeypatch.setattr(source, "_FAST_LOADER", yaml.SafeLoader)
    assert [parse_text(text, "f").root for text in texts] == fast


def content(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.value, node.is_null
    return (
        [content(item) for item in node]
        if isinstance(node, Sequence)
        else [(key.value, content(value)) for key, value in node.items]
    )


def test_printed_nodes_are_read_as_the_same() -> None:
    """The entries of ops.yaml have every style: plain, quoted, folded, literal, within brackets and braces."""
    for entry in load(Path(__file__).resolve().parents[2] / "ops.yaml").root:
        (printed,) = parse_text(f"- {to_yaml(entry, '  ')}\n", "f").root
        assert content(printed) == content(entry)


def test_printed_sequences_and_empty_collections() -> None:
    (entry,) = parse_text("- {a: [b, 'c: d'], e: [{f: g, h: }, [i, {}]], j: []}\n", "f").root
    assert to_yaml(entry, "  ") == "a: [b, 'c: d']\n  e:\n    - f: g\n      h:\n    - - i\n      - {}\n  j: []"
