"""Linear algebra of sharded matrices, by blocks: handlers of the operators that products and factorizations consist of.

What these operators are used for, `linalg.solve` as well as gradients, follows from them. Factorizations go through the
columns of a matrix in panels: the process that has a panel factorizes it by LAPACK and sends it to the others, which
bring their columns up to date. No process has more of a matrix than its part and a panel.
"""

from __future__ import annotations

from . import _cholesky as _cholesky
from . import _gathering as _gathering
from . import _lu as _lu
from . import _products as _products
from . import _qr as _qr
from . import _svd as _svd
from . import _triangles as _triangles
