"""The schema grammar: printing undoes parsing, values are typed, mistakes are found where they are."""

from __future__ import annotations

import dataclasses
import importlib
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness.recording import answer
from hypothesis import given
from hypothesis import strategies as st

from codegen.schema import (
    BASE_TYPES,
    Alias,
    Argument,
    BaseType,
    ClassType,
    Constant,
    Default,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    SchemaError,
    SchemaKind,
    Type,
    Value,
    base_name,
    parse,
)

ROUND_TRIPS = [
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    "choose(Tensor(a|b|c) self, Tensor(b) other) -> Tensor(a|b|c)",
    "sum.dim_IntList(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    "std(Tensor self, int[1] dim=[-2,-1]) -> Tensor",
    "spaced(Tensor self, int[2] dim=[0, 1]) -> Tensor",
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "nested(int[][] sizes, int?[] maybe, Tensor(a!)[]? lists) -> ()",
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    "quoted(str a=\"it's, (fine) -> ]=\", str b='\"\\'\\\\') -> ()",
    "svd(Tensor self) -> (Tensor U, Tensor S, Tensor V)",
    "max.dim_max(Tensor self, *, Tensor(a!) max, Tensor(b!) idx) -> (Tensor(a!) values, Tensor(b!) indices)",
    "_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
    "empty(SymInt[] size, *, Layout? layout=strided, MemoryFormat? f=contiguous_format) -> Tensor",
    "cls(__torch__.torch.classes.quantized.Packed x) -> __torch__.torch.classes.quantized.Packed",
    "aten::one() -> float single",
    "bounds(float low=-inf, float high=inf, float fill=nan, float eps=1e-05, Scalar s=.5) -> ()",
    "_foreach_abs.out(Tensor[] self, *, Tensor(a!)[] out) -> ()",
    "rare(Generator? g, Dimname d, Stream s, Storage t, QScheme q, DeviceIndex i, DimVector v=[1,2]) -> ()",
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_printing_undoes_parsing(text: str) -> None:
    assert str(parse(text)) == text


def test_every_base_type_is_a_type() -> None:
    for name in BASE_TYPES:
        text = f"f({name} x, {name}? y, {name}[] z, {name}[3]? w) -> {name}"
        assert [base_name(argument.type) for argument in parse(text).arguments] == [name] * 4
        assert str(parse(text)) == text


def test_parts_of_a_schema() -> None:
    schema = parse("aten::addmv_.x(Tensor(a!) self, Tensor mat, Scalar? k=2, *, Scalar beta=1) -> Tensor(a!)")
    assert schema.name == OperatorName("addmv", "x", inplace=True, namespace="aten")
    assert schema.name.identifier == "addmv_"
    assert [argument.name for argument in schema.positional] == ["self", "mat", "k"]
    assert [argument.name for argument in schema.keyword_only] == ["beta"]
    assert [argument.name for argument in schema.arguments] == ["self", "mat", "k", "beta"]
    assert schema.returns == (Return(BaseType("Tensor"), None, Alias(("a",), True)),)
    assert schema.kind is SchemaKind.INPLACE
    self, mat, k, beta = schema.arguments
    assert self == schema.self_argument
    assert self.is_write
    assert self.is_tensor
    assert not mat.is_write
    assert k.is_scalar
    assert k.is_optional
    assert beta.is_scalar
    assert not beta.is_optional
    assert not beta.is_tensor
    assert schema.argument("beta") is beta
    assert schema.argument("gamma") is None


def test_out_arguments_stand_apart() -> None:
    schema = parse("max.out(Tensor self, *, bool k=True, Tensor(a!) out) -> Tensor(a!)")
    assert schema.kind is SchemaKind.OUT
    assert [argument.name for argument in schema.out] == ["out"]
    assert [argument.name for argument in schema.arguments] == ["self", "k"]
    assert [argument.name for argument in schema.all_arguments] == ["self", "k", "out"]


def test_kinds_and_views() -> None:
    assert parse("f(Tensor self) -> Tensor").kind is SchemaKind.FUNCTIONAL
    assert parse("f(Tensor self, Tensor(a!) buffer) -> Tensor").kind is SchemaKind.MUTABLE
    assert parse("t(Tensor(a) self) -> Tensor(a)").returns_alias
    assert not parse("t_(Tensor(a!) self) -> Tensor(a!)").returns_alias


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("add", OperatorName("add")),
        ("add_", OperatorName("add", inplace=True)),
        ("_cast", OperatorName("_cast")),
        ("__and__", OperatorName("and", dunder=True)),
        ("__ilshift__", OperatorName("lshift", inplace=True, dunder=True)),
        ("__invert__", OperatorName("invert", dunder=True)),
        ("linalg__powsum", OperatorName("linalg__powsum")),
    ],
)
def test_operator_names(identifier: str, name: OperatorName) -> None:
    mark = "(a!)" if name.inplace else ""
    schema = parse(f"{identifier}(Tensor{mark} self) -> Tensor{mark}")
    assert schema.name == name
    assert schema.name.identifier == identifier


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        ("int x=-100", -100),
        ("float x=1", 1.0),
        ("float x=1e-05", 1e-05),
        ("float? x=None", None),
        ("float x=-inf", -math.inf),
        ("Scalar x=1", 1),
        ("Scalar x=0.125", 0.125),
        ("Scalar x=True", True),
        ("bool? x=False", False),
        ("str x='a\\n\"\\''", "a\n\"'"),
        ('str x=""', ""),
        ("int[2] x=1", 1),
        ("int[] x=[]", ()),
        ("int[1] x=[-2,-1]", (-2, -1)),
        ("bool[3] x=[True, False,True]", (True, False, True)),
        ("float[]? x=[1,2.5]", (1.0, 2.5)),
        ("int?[] x=[1,None]", (1, None)),
        ("int[][] x=[[1],[]]", ((1,), ())),
        ("DimVector x=[1]", (1,)),
        ("int x=Mean", Constant("Mean")),
        ("ScalarType? x=long", Constant("long")),
        ("Layout x=strided", Constant("strided")),
        ("MemoryFormat x=contiguous_format", Constant("contiguous_format")),
        ("QScheme x=per_tensor_affine", Constant("per_tensor_affine")),
        ("Device x='cpu'", "cpu"),
    ],
)
def test_defaults_have_python_values(declaration: str, value: Value) -> None:
    default = parse(f"f({declaration}) -> ()").positional[0].default
    assert default is not None
    assert default.value == value
    assert type(default.value) is type(value)
    assert default.text == declaration.split("=", 1)[1]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("f(int n, *placement) -> Tensor", "f(int n, *, {}) -> Tensor"),
        ("f(*placement) -> Tensor", "f(*, {}) -> Tensor"),
        ("f(*, Generator? g=None, *placement, int m=0) -> Tensor", "f(*, Generator? g=None, {}, int m=0) -> Tensor"),
    ],
)
def test_a_word_for_several_arguments(text: str, written: str) -> None:
    four = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    schema = parse(text)
    assert str(schema) == written.format(four)
    assert schema == parse(str(schema))
    offset = text.index("*placement")
    spans = {(each.offset, each.length, each.name_length) for each in schema.keyword_only if each.group}
    assert spans == {(offset, len("*placement"), len("*placement"))}


def test_kinds_of_arguments() -> None:
    schema = parse("f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int[]? e, Scalar s) -> (Tensor, Tensor[])")
    assert [argument.is_tensor for argument in schema.arguments] == [True, True] + [False] * 4
    assert [argument.is_tensor_list for argument in schema.arguments] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]
    assert [argument.is_list for argument in schema.arguments] == [False, False, True, True, True, False]
    assert [argument.is_optional for argument in schema.arguments] == [False, True, False, False, True, False]
    assert [result.is_tensor for result in schema.returns] == [True, False]


def test_no_default_differs_from_none() -> None:
    first, second = parse("f(int? x, int? y=None) -> ()").arguments
    assert first.default is None
    assert second.default == Default("None", None)


def test_offsets_point_into_the_text() -> None:
    text = "ns::add.Tensor(Tensor self, *, Scalar[2] alpha=[1, 2]) -> (Tensor x, Tensor y)"
    schema = parse(text)
    alpha = schema.keyword_only[0]
    assert alpha.default is not None
    assert schema.name.offset == text.index("add")
    assert schema.name.overload_offset == text.index("Tensor")
    assert alpha.offset == text.index("Scalar")
    assert alpha.name_offset == text.index("alpha")
    assert alpha.default.offset == text.index("[1")
    assert schema.returns[1].offset == text.index("Tensor y")


def test_offsets_do_not_count_in_comparisons() -> None:
    assert parse("f(int a) -> ()").arguments == parse("long_name(int a) -> ()").arguments
    assert len({parse("f(int a) -> ()"), parse("f(int a) -> ()")}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse("f() -> ()").name.base = "g"  # type: ignore[misc]


# « and » stand around what the error must mark; the second element is part of its message or help.
MALFORMED = [
    ("«»", "expected the operator's name, found the end of the schema"),
    ("«(»Tensor self) -> Tensor", "expected the operator's name"),
    ("«2add»(Tensor self) -> Tensor", "expected the operator's name"),
    ("add.«(»Tensor self) -> Tensor", "expected the overload's name"),
    ("add« »Tensor self) -> Tensor", "expected '(' behind the operator's name"),
    ("«_»(Tensor self) -> Tensor", "more than '_'"),
    ("add(«Tensr» self) -> Tensor", "did you mean 'Tensor'?"),
    ("add(«tensor» self) -> Tensor", "did you mean 'Tensor'?"),
    ("add(«string» self) -> Tensor", "did you mean 'str'?"),
    ("add(«self») -> Tensor", "argument 'self' has no type"),
    ("add(«Tensor», int a) -> Tensor", "type 'Tensor' without an argument name"),
    ("add(Tensor « »self) -> Tensor", "one blank behind the type"),
    ("add(Tensor self,«Tensor» other) -> Tensor", "expected a blank behind ','"),
    ("add(Tensor self, «  »int a) -> Tensor", "one blank behind ','"),
    ("add(Tensor self, «)» -> Tensor", "expected an argument"),
    ("add(Tensor self« »Tensor other) -> Tensor", "expected ',' or ')'"),
    ("add(Tensor self«»", "expected ',' or ')', found the end of the schema"),
    ("add(Tensor self, Tensor «self») -> Tensor", "duplicate argument 'self'"),
    ("add(Tensor self, *, Tensor «self») -> Tensor", "duplicate argument 'self'"),
    ("add(Tensor self, int dim=0, Tensor «other») -> Tensor", "follows 'dim', which has one"),
    ("add(Tensor self, «*») -> Tensor", "no argument follows '*'"),
    ("add(*, int a, «*», int b) -> Tensor", "second '*'"),
    ("add(*, Tensor(a!) out, «int b=1») -> Tensor(a!)", "'b' follows an out argument"),
    ("add(int[«0»] a) -> Tensor", "expected ']' or the size"),
    ("add(int[2« »] a) -> Tensor", "expected ']'"),
    ("add(int?«?» a) -> Tensor", "optional already"),
    ("add(int«(»a) self) -> Tensor", "alias annotation on type int"),
    ("add(Tensor(«A») self) -> Tensor", "one lower-case letter"),
    ("add(Tensor(«ab») self) -> Tensor", "one lower-case letter"),
    ("add(Tensor(a«?») self) -> Tensor", "in the alias annotation"),
    ("add(Tensor[]«(»a) self) -> Tensor", "as in 'Tensor(a)[]'"),
    ("add(«Tensor(a|b!») self) -> Tensor", "in one alias set"),
    ("add(int dim=«'x'») -> Tensor", "default of type int must be an integer, got a string"),
    ("add(int dim=«1.5») -> Tensor", "got a float"),
    ("add(int dim=«True») -> Tensor", "got a bool"),
    ("add(int dim=«None») -> Tensor", "make it optional: 'int?'"),
    ("add(int dim=«maen») -> Tensor", "did you mean 'Mean'?"),
    ("add(int dim=«99999999999999999999») -> Tensor", "does not fit 64 bits"),
    ("add(int dim=«1x») -> Tensor", "malformed number"),
    ("add(int dim=«)» -> Tensor", "expected a default"),
    ("add(bool k=«1») -> Tensor", "True or False"),
    ("add(bool k=«true») -> Tensor", "did you mean True?"),
    ("add(str s=«none») -> Tensor", "did you mean None?"),
    ("add(str s=«1») -> Tensor", "must be a string in quotes, got an integer"),
    ("add(str s=«mean») -> Tensor", "quote it: 'mean'"),
    ("add(str s=«'mean) -> Tensor»", "without a closing quote"),
    ("add(str s='a«\\q»') -> Tensor", "unknown escape"),
    ("add(int[] d=[0,«'a'»]) -> Tensor", "must be an integer"),
    ("add(int[] d=«0») -> Tensor", "must be a list"),
    ("add(int[3] d=«[1,2]») -> Tensor", "has 2 elements"),
    ("add(int[] d=[0«)» -> Tensor", "expected ',' or ']'"),
    ("add(int d=«[1]») -> Tensor", "got a list"),
    ("add(ScalarType d=«flaot32») -> Tensor", "did you mean 'float32'?"),
    ("add(ScalarType d=«'float32'») -> Tensor", "without quotes"),
    ("add(Tensor t=«0») -> Tensor", "type Tensor has no defaults"),
    ("add(float t=«infinity») -> Tensor", "must be a number"),
    ("add(Tensor self)«->» Tensor", "expected ' -> '"),
    ("add(Tensor self)«»", "expected ' -> ' and the result types"),
    ("add(Tensor self) -> «»", "expected a result type"),
    ("add(Tensor self) -> «Tensro»", "did you mean 'Tensor'?"),
    ("add(Tensor self) -> «(Tensor)»", "stands without parentheses"),
    ("add(Tensor self) -> (Tensor, «)»", "expected a result type"),
    ("add(Tensor self) -> Tensor«, Tensor»", "unexpected text behind the schema"),
    ("add(Tensor self) -> (Tensor a, «Tensor a»)", "duplicate result name"),
    ("t(Tensor(a) self) -> «Tensor(b)»", "'b', which marks no argument"),
    ("«add_»(Tensor self) -> Tensor", "does not write to 'self'"),
    ("add_(Tensor(a!) self) -> «Tensor»", "must return 'self'"),
    ("add_(«Tensor(a!) self») -> ()", "must return 'self'"),
    ("add_(Tensor(a!)[] self) -> «Tensor»", "returns nothing"),
    ("add_(Tensor(a!) self, *, Tensor(b!) «out») -> Tensor(a!)", "has an out argument"),
    ("add(Tensor self, *, Tensor(a!) «out») -> ()", "is not returned"),
    ("add(*, Tensor(a!) out, Tensor(b!) o) -> («Tensor(b!)», Tensor(a!))", "must be the out argument 'out'"),
    ("add(*, Tensor(a!)[] out) -> «Tensor(a!)»", "returns nothing"),
    ("add(*, Tensor(a!) out) -> (Tensor(a!), «Tensor(a!)»)", "result is no out argument"),
    ("add(Tensor(a!) x) -> «Tensor(a!)»", "is neither 'self' nor"),
    ("add(Tensor(a!) self) -> (Tensor(a!), «Tensor»)", "all written to or all new"),
]


@pytest.mark.parametrize(("marked", "message"), MALFORMED)
def test_mistakes_are_located(marked: str, message: str) -> None:
    start = marked.index("«")
    stop = marked.index("»") - 1
    with pytest.raises(SchemaError) as raised:
        parse(marked.replace("«", "").replace("»", ""))
    error = raised.value
    assert (error.offset, error.length) == (start, max(1, stop - start)), error
    assert message in f"{error.message} ({error.help})"


@given(st.sampled_from(ROUND_TRIPS), st.data())
def test_damaged_schemas_raise_schema_errors_inside_the_text(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    removed = data.draw(st.integers(0, 3))
    inserted = data.draw(st.text(alphabet="aT(),*=![]?.'\"- >|1é\n", max_size=3))
    damaged = text[:at] + inserted + text[at + removed :]
    error = None
    try:
        assert str(parse(damaged)) == damaged
    except SchemaError as raised:
        error = raised
    if error is not None:
        assert 0 <= error.offset <= len(damaged)
        assert error.length >= 1
        assert error.offset + error.length <= max(len(damaged), error.offset + 1)


IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
SAFE_TEXT = st.text(alphabet=st.characters(codec="ascii", exclude_characters="\\'\n\r", min_codepoint=32), max_size=6)


def types() -> st.SearchStrategy[Type]:
    base = st.sampled_from(BASE_TYPES).map(BaseType) | IDENTIFIERS.map(lambda name: ClassType(f"ns.{name}"))
    sizes = st.none() | st.integers(1, 9)
    lists = st.builds(ListType, base, sizes) | st.builds(ListType, base.map(OptionalType), sizes)
    plain: st.SearchStrategy[Type] = base | lists | st.builds(ListType, lists, st.none())
    return plain | plain.map(OptionalType)


@st.composite
def defaults(draw: st.DrawFn, type: Type) -> Default | None:
    """A default that suits the type, spelled in Python's way, or none."""
    value: Value
    if isinstance(type, OptionalType):
        return draw(st.none() | st.just(Default("None", None)) | defaults(type.element))
    name = base_name(type)
    if isinstance(type, ListType):
        if type.element != BaseType("int"):
            return None
        size = type.size if type.size is not None and type.size > 1 else draw(st.integers(0, 4))
        value = tuple(draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size)))
        return Default(f"[{','.join(map(str, value))}]", value)
    if name in ("int", "SymInt", "Scalar"):
        value = draw(st.integers(-(2**63), 2**63 - 1))
    elif name == "float":
        value = draw(st.floats(allow_nan=False))
    elif name == "bool":
        value = draw(st.booleans())
    elif name == "str":
        value = draw(SAFE_TEXT)
        return Default(f"'{value}'", value)
    elif name == "ScalarType":
        value = Constant(draw(st.sampled_from(["long", "float32", "bool"])))
    else:
        return None
    return Default(str(value), value)


@st.composite
def schemas(draw: st.DrawFn) -> FunctionSchema:
    names = draw(st.lists(IDENTIFIERS, max_size=6, unique=True))
    arguments: list[Argument] = []
    for name in names:
        type = draw(types())
        alias = Alias(("a",), False, draw(st.sampled_from([(), ("*",), ("b", "c")])))
        annotated = base_name(type) == "Tensor" and draw(st.booleans())
        arguments.append(Argument(name, type, draw(defaults(type)), alias if annotated else None))
    split = draw(st.integers(0, len(arguments)))
    positional = sorted(arguments[:split], key=lambda argument: argument.default is not None)
    tensor = BaseType("Tensor")
    out = tuple(
        Argument(f"out_0{letter}", tensor, None, Alias((letter,), True))
        for letter in draw(st.sampled_from(["", "x", "xy"]))
        if f"out_0{letter}" not in names
    )
    returns = tuple(Return(tensor, None, argument.alias) for argument in out) or tuple(
        Return(type, f"r{index}" if index % 2 else None)
        for index, type in enumerate(draw(st.lists(types(), max_size=3)))
    )
    base = draw(IDENTIFIERS.filter(lambda name: not name.endswith("_")))
    full_name = OperatorName(base, draw(st.just("") | IDENTIFIERS), namespace=draw(st.sampled_from(["", "aten"])))
    return FunctionSchema(full_name, tuple(positional), tuple(arguments[split:]), out, returns)


@given(schemas())
def test_parsing_undoes_printing(schema: FunctionSchema) -> None:
    assert parse(str(schema)) == schema


def ask_torchgen() -> list[list[Any]]:
    """The schema of every operator of torch, and its parts as torchgen reads them."""
    torchgen, model = (importlib.import_module(name) for name in ("torchgen", "torchgen.model"))
    file = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    entries = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    answers = []
    for text in (entry["func"] for entry in entries):
        schema = model.FunctionSchema.parse(text)
        name, arguments = schema.name.name, schema.arguments
        kinds = (arguments.flat_positional, arguments.flat_kwarg_only, arguments.out)
        answers.append([
            text,
            [name.base + ("_functional" if name.functional_overload else ""), schema.name.overload_name],
            [name.inplace, name.dunder_method],
            *([[a.name, str(a.type), a.default, str(a.annotation or ""), a.is_write] for a in kind] for kind in kinds),
            [[each.name, str(each.type), str(each.annotation or "")] for each in schema.returns],
            schema.kind().name,
        ])  # fmt: skip
    return answers


@pytest.mark.oracle
def test_agrees_with_torch_on_all_of_its_operators() -> None:
    answers = answer("native_functions.yaml", ask_torchgen)
    assert len({text for text, *_ in answers}) >= 2584
    for text, name, forms, *arguments, returns, kind in answers:
        ours = parse(text)
        assert str(ours) == text
        assert [ours.name.base, ours.name.overload] == name
        assert [ours.name.inplace, ours.name.dunder] == forms
        assert [list(map(describe, kind)) for kind in (ours.positional, ours.keyword_only, ours.out)] == arguments
        assert [[each.name, str(each.type), str(each.alias or "")] for each in ours.returns] == returns
        if kind == "functional" and ours.self_argument is not None and ours.self_argument.is_write:
            kind = "mutable"  # `set_data` and the like write to self: torchgen alone calls them functional
        assert ours.kind.value == ("out" if kind == "scratch" else kind)


def describe(argument: Argument) -> list[Any]:
    default = None if argument.default is None else argument.default.text
    return [argument.name, str(argument.type), default, str(argument.alias or ""), argument.is_write]
