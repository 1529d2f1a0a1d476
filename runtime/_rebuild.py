"""Functions that pickles of tensors name, at a path that stays when the code behind it moves."""

from ._representations.sparse.pickling import _rebuild_sparse_tensor as _rebuild_sparse_tensor
from ._tensor.conversion_methods import _rebuild_tensor as _rebuild_tensor
from ._tensor.storage_pickle import _rebuild_storage as _rebuild_storage
from ._tensor.wrappers import _rebuild_wrapper as _rebuild_wrapper
