"""The numbers that make Sobol sequences: primitive polynomials over two elements, and where their recurrences begin.

Each dimension but the first has a polynomial, all of them in their order, and as many initial numbers as its degree,
which S. Joe and F. Y. Kuo searched for (criterion D(6), *SIAM J. Sci. Comput.* 30, 2008;
https://web.maths.unsw.edu.au/~fkuo/sobol). `initial_numbers.bin` has these alone, one after the other, the i-th of a
dimension (which is odd and less than 2^i) without its last bit in i - 1 bits, the highest one first.

The initial numbers come under this licence:

    Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
    All rights reserved.

    Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
    following conditions are met:

    * Redistributions of source code must retain the above copyright notice, this list of conditions and the following
      disclaimer.
    * Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the
      following disclaimer in the documentation and/or other materials provided with the distribution.
    * Neither the names of the copyright holders nor the names of the University of New South Wales and the University
      of Waikato and its contributors may be used to endorse or promote products derived from this software without
      specific prior written permission.

    THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
    LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO
    EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR
    CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
    DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT,
    STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE,
    EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["LARGEST_DEGREE", "direction_numbers"]

LARGEST_DEGREE = 18


def direction_numbers(dimensions: int, bits: int) -> Any:
    """Return for each dimension its direction numbers of as many bits, which is also how many there are, in an array of
    int64. There are as many dimensions as polynomials up to `LARGEST_DEGREE`, and one more."""
    import numpy as np

    result = np.empty((dimensions, bits), np.int64)
    result[0] = 1
    begin, read = 1, 0
    for degree in range(1, LARGEST_DEGREE + 1):
        if begin >= dimensions:
            break
        polynomials = primitive_polynomials(degree)
        count = len(polynomials)
        end = min(begin + count, dimensions)
        polynomials, rows = polynomials[: end - begin], result[begin:end]
        size = degree * (degree - 1) // 2
        rows[:, :degree] = _initial_numbers(degree, read, end - begin)[:, :bits]
        for place in range(degree, bits):
            value = rows[:, place - degree] ^ (rows[:, place - degree] << degree)
            for back in range(1, degree):
                value ^= np.where(polynomials >> (degree - back) & 1, rows[:, place - back] << back, 0)
            rows[:, place] = value
        begin, read = end, read + count * size
    return result << np.arange(bits - 1, -1, -1)


def _initial_numbers(degree: int, first_bit: int, count: int) -> Any:
    import numpy as np

    size = degree * (degree - 1) // 2
    text = np.frombuffer(_table(), np.uint8)[first_bit // 8 : (first_bit + count * size + 7) // 8]
    bits = np.unpackbits(text)[first_bit % 8 :][: count * size].reshape(count, size).astype(np.int64)
    numbers = np.ones((count, degree), np.int64)
    for place in range(1, degree):
        begin = place * (place - 1) // 2
        numbers[:, place] += bits[:, begin : begin + place] @ (1 << np.arange(place, 0, -1))
    return numbers


@cache
def _table() -> bytes:
    return Path(__file__).with_name("initial_numbers.bin").read_bytes()


@cache
def primitive_polynomials(degree: int) -> Any:
    """Return all primitive polynomials of a degree over two elements in their order, as numbers whose bits are the
    coefficients. Powers of x modulo one of them are all other polynomials than zero: so many make up its order.
    """
    import numpy as np

    order = (1 << degree) - 1
    found = (1 << degree) | np.arange(1, 1 << degree, 2, dtype=np.int64)
    for divisor in (1, *_prime_factors(order)):
        is_one = _power_of_x(order // divisor, found, degree) == 1
        found = found[is_one if divisor == 1 else ~is_one]
    return found


def _prime_factors(number: int) -> list[int]:
    found = [divisor for divisor in range(2, number + 1) if number % divisor == 0]
    return [each for each in found if all(each % other for other in found if other < each)] if number > 1 else []


def _power_of_x(exponent: int, modulus: Any, degree: int) -> Any:
    """The powers of x modulo each of the polynomials."""
    import numpy as np

    result = np.ones_like(modulus)
    for digit in f"{exponent:b}":
        square = np.zeros_like(result)
        for bit in range(degree):
            square |= (result >> bit & 1) << 2 * bit
        if digit == "1":
            square <<= 1
        for bit in range(2 * degree - 1, degree - 1, -1):
            square ^= np.where(square >> bit & 1, modulus << (bit - degree), 0)
        result = square
    return result
