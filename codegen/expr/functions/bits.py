"""Bits of integers and of floating numbers."""

from __future__ import annotations

from . import arrays
from .function import Rule, row

BITS = (
    row(
        "popcount", "x", Rule.SHIFT, c_integer="popcount", numpy=arrays.popcount, rounds=False, differentiable=False,
        cost=6, meaning="Number of bits that are set",
    ),
    row(
        "clz", "x", Rule.SHIFT, c_integer="clz", numpy=arrays.clz, rounds=False, differentiable=False, cost=8,
        meaning="Number of zeros before the highest bit that is set; the width for 0",
    ),
    row(
        "ctz", "x", Rule.SHIFT, c_integer="ctz", numpy=arrays.ctz, rounds=False, differentiable=False, cost=6,
        meaning="Number of zeros after the lowest bit that is set; the width for 0",
    ),
    row(
        "bits", "x", Rule.ARITHMETIC, integral="x", numpy=arrays.bits, rounds=False, differentiable=False,
        gives={"float32": "int32", "float64": "int64"},
        native={"float32": "ow_bits_f32", "float64": "ow_bits_f64"},
        meaning="The bits of a floating number as an integer; an integer itself",
    ),
    row(
        "float_from_bits", "x", Rule.SHIFT, numpy=arrays.from_bits, differentiable=False,
        gives={"int32": "float32", "int64": "float64"},
        native={"int32": "ow_from_bits_i32", "int64": "ow_from_bits_i64"},
        meaning="The floating number that has these bits",
    ),
    row(
        "integer", "x", Rule.ARITHMETIC, integral="x", numpy=arrays.integer, rounds=False,
        gives={"float32": "int64", "float64": "int64"},
        native={"float32": "ow_integer_f32", "float64": "ow_integer_f64"}, foreign=("int",),
        meaning="Integer part as an int64; an integer itself",
    ),
)  # fmt: skip
