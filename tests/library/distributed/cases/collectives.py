"""Cases of collectives on any number of ranks: `case_...(rank, size)`."""

import weakref

import opweave as torch
import opweave.distributed as dist
import pytest
from opweave.distributed import ReduceOp, collectives

REALS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex64, torch.complex128]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
SIZES = [1, 5, 300]  # in a message of their own, and by themselves


def given(rank, count, dtype):
    return (torch.arange(count) % 3 + rank + 1).to(dtype)


def combined(function, count, dtype, size):
    return function(torch.stack([given(rank, count, torch.float64) for rank in range(size)])).to(dtype)


def case_all_reduce_of_all_dtypes(rank, size):
    functions = {
        ReduceOp.SUM: lambda x: x.sum(0),
        ReduceOp.PRODUCT: lambda x: x.prod(0),
        ReduceOp.MIN: lambda x: x.amin(0),
        ReduceOp.MAX: lambda x: x.amax(0),
    }
    for dtype in REALS + INTEGERS:
        for count in SIZES:
            for kind, function in functions.items():
                x = given(rank, count, dtype)
                assert dist.all_reduce(x, kind) is None
                assert torch.equal(x, combined(function, count, dtype, size)), (dtype, count, kind)


def case_all_reduce_of_complex_numbers(rank, size):
    for dtype in COMPLEX:
        for count in SIZES:
            x = given(rank, count, dtype) * (1 + 2j)
            dist.all_reduce(x)
            assert torch.equal(x, combined(lambda x: x.sum(0), count, dtype, size) * (1 + 2j))
    for kind in (ReduceOp.MAX, ReduceOp.PRODUCT, ReduceOp.BAND):
        with pytest.raises(ValueError, match="complex"):
            dist.all_reduce(torch.ones(2, dtype=torch.complex64), kind)


def case_truth_values(rank, size):
    for count in (2, 600):
        for kind, expected in [
            (ReduceOp.SUM, [True, True]), (ReduceOp.MAX, [True, True]), (ReduceOp.BOR, [True, True]),
            (ReduceOp.PRODUCT, [True, False]), (ReduceOp.MIN, [True, False]), (ReduceOp.BAND, [True, False]),
            (ReduceOp.BXOR, [size % 2 == 1, True]),
        ]:  # fmt: skip
            x = torch.tensor([True, rank == 0]).repeat(count // 2)
            dist.all_reduce(x, kind)
            assert x.tolist() == expected * (count // 2), (kind, count)


def case_bits(rank, size):
    for count in (1, 500):
        for kind, expected in [(ReduceOp.BAND, 8), (ReduceOp.BOR, 8 | (1 << size) - 1)]:
            x = torch.full((count,), 8 | 1 << rank)
            dist.all_reduce(x, kind)
            assert torch.equal(x, torch.full((count,), expected if size <= 3 or kind is ReduceOp.BAND else 15))
    with pytest.raises(RuntimeError, match="non-integral"):
        dist.all_reduce(torch.ones(2), ReduceOp.BAND)


def case_averages_and_factors(rank, size):
    for count in SIZES:
        x = torch.full((count,), float(rank))
        dist.all_reduce(x, ReduceOp.AVG)
        assert torch.equal(x, torch.full((count,), (size - 1) / 2))
        x = torch.full((count,), 1.0)
        dist.all_reduce(x, ReduceOp(ReduceOp.PREMUL_SUM, 3.0))
        assert torch.equal(x, torch.full((count,), 3.0 * size))


def case_strided_tensors(rank, size):
    whole = torch.zeros(20, 30)
    part = whole[:, ::3].t()
    part.fill_(rank + 1)
    dist.all_reduce(part)
    total = size * (size + 1) / 2
    assert torch.equal(part, torch.full((10, 20), total))
    assert whole.sum() == total * 200
    dist.broadcast(whole.t()[3:6], 0)
    out = torch.empty(size * 4, 6)[:, ::2]
    dist.all_gather_into_tensor(out, torch.full((3, 4), float(rank)).t())
    assert torch.equal(out, torch.arange(float(size)).repeat_interleave(4)[:, None].expand(-1, 3))


def case_reduce(rank, size):
    for count in SIZES:
        x = torch.full((count,), float(rank + 1))
        dist.reduce(x, size - 1)
        assert x[0] == (size * (size + 1) / 2 if rank == size - 1 else rank + 1)


def case_moves_of_all_dtypes(rank, size):
    for dtype in REALS + INTEGERS + COMPLEX + FLOAT8 + [torch.bool]:
        x = given(rank, 6, torch.float32).to(dtype)
        every = [given(each, 6, torch.float32).to(dtype) for each in range(size)]
        same = lambda a, b: torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))  # noqa: E731
        y = x.clone()
        dist.broadcast(y, 1)
        assert same(y, every[1]), dtype
        parts = [torch.empty_like(x) for _ in range(size)]
        dist.all_gather(parts, x)
        assert all(map(same, parts, every)), dtype
        joined = torch.empty(size * 6, dtype=dtype)
        dist.all_gather_into_tensor(joined, x)
        assert same(joined, torch.cat(every)), dtype
        parts = [torch.empty_like(x) for _ in range(size)] if rank == 0 else None
        dist.gather(x, parts)
        assert parts is None or all(map(same, parts, every)), dtype
        y = torch.empty_like(x)
        dist.scatter(y, every if rank == 1 else None, src=1)
        assert same(y, x), dtype


def case_reduce_scatter(rank, size):
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        parts = [torch.full((3, 2), rank + each, dtype=dtype) for each in range(size)]
        out = torch.empty(3, 2, dtype=dtype)
        dist.reduce_scatter(out, parts)
        expected = torch.full((3, 2), sum(each + rank for each in range(size)), dtype=dtype)
        assert torch.equal(out, expected)
        out.zero_()
        given = torch.stack(parts)
        dist.reduce_scatter_tensor(out, given)
        assert torch.equal(out, expected)
        assert torch.equal(given, torch.stack(parts))
        dist.reduce_scatter_tensor(out, given, ReduceOp(ReduceOp.PREMUL_SUM, 2))
        assert torch.equal(out, 2 * expected)
        assert torch.equal(given, torch.stack(parts))


def case_all_to_all(rank, size):
    given = [torch.full((rank + each + 1,), float(10 * rank + each)) for each in range(size)]
    out = [torch.empty(rank + each + 1) for each in range(size)]
    dist.all_to_all(out, given)
    for each, x in enumerate(out):
        assert torch.equal(x, torch.full((rank + each + 1,), float(10 * each + rank)))
    joined = torch.empty(size, 2)
    dist.all_to_all_single(joined, torch.full((size, 2), float(rank)))
    assert torch.equal(joined, torch.arange(float(size))[:, None].expand(-1, 2))
    sizes = [rank + each + 1 for each in range(size)]
    joined = torch.empty(sum(sizes), 2)
    dist.all_to_all_single(joined, torch.cat(given)[:, None].expand(-1, 2), sizes, sizes)
    assert torch.equal(joined[:, 0], torch.cat(out))


def case_asynchronous_calls(rank, size):
    tensors = [torch.full((count,), float(rank)) for count in (3, 1000, 7, 100000)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    future = works[1].get_future()
    for work in reversed(works):
        assert work.wait()
        assert work.is_completed()
        assert work.is_success()
        assert work.exception() is None
    assert all(torch.equal(x, torch.full_like(x, size * (size - 1) / 2)) for x in tensors)
    assert future.done()
    assert future.wait()[0] is tensors[1]
    assert works[0].result()[0] is tensors[0]
    work = dist.barrier(async_op=True)
    while not work.is_completed():
        pass
    work = dist.broadcast(tensors[3], 0, async_op=True)
    assert work.get_future().then(lambda f: f.value()[0].sum()).wait() >= 0 if work.wait() else False


def case_point_to_point(rank, size):
    after, before = (rank + 1) % size, (rank - 1) % size
    x, y = torch.full((1000,), float(rank)), torch.empty(1000)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, after), dist.P2POp(dist.irecv, y, before)])
    for work in works:
        work.wait()
    assert y[0] == before
    work = dist.isend(x, after, tag=7)
    assert dist.recv(y, before, tag=7) == before
    work.wait()
    if rank == 0:
        assert {dist.recv(y) for _ in range(size - 1)} == {*range(1, size)}
    else:
        dist.send(x, 0)
    with pytest.raises(ValueError, match="should not be the same"):
        dist.send(x, rank)


def case_objects(rank, size):
    every = [None] * size
    dist.all_gather_object(every, {"rank": rank, "text": "x" * 1000 * rank})
    assert [each["rank"] for each in every] == [*range(size)]
    gathered = [None] * size if rank == 1 else None
    dist.gather_object((rank, torch.ones(rank)), gathered, dst=1)
    assert gathered is None or [each[0] for each in gathered] == [*range(size)]
    objects = ["a", {1: 2}, None] if rank == 0 else [None] * 3
    dist.broadcast_object_list(objects)
    assert objects == ["a", {1: 2}, None]
    mine = [None]
    dist.scatter_object_list(mine, [[each] * each for each in range(size)] if rank == 0 else None)
    assert mine == [[rank] * rank]
    if rank == 0:
        dist.send_object_list(["b", 3], 1)
    elif rank == 1:
        objects = [None, None]
        assert dist.recv_object_list(objects, 0) == 0
        assert objects == ["b", 3]


def case_groups(rank, size):
    first = dist.new_group([0, 1])
    pairs = dist.new_subgroups(1)[0]
    assert dist.get_world_size(pairs) == 1
    assert dist.get_process_group_ranks(pairs) == [rank]
    x = torch.ones(3)
    dist.all_reduce(x, group=pairs)
    assert x.sum() == 3
    if rank < 2:
        dist.all_reduce(x, group=first)
        assert x.sum() == 6
        assert dist.get_rank(first) == rank
        assert dist.get_group_rank(first, 1) == 1
    else:
        assert first is dist.GroupMember.NON_GROUP_MEMBER
        assert dist.get_rank(first) == -1
        with pytest.warns(UserWarning, match="does not belong to the given group"):
            dist.all_reduce(x, group=first)
    swapped = dist.new_group([1, 0], sort_ranks=False)
    if rank < 2:
        assert dist.get_rank(swapped) == 1 - rank
        assert dist.get_global_rank(swapped, 0) == 1
        y = torch.full((2,), float(rank))
        dist.broadcast(y, group=swapped, group_src=0)
        assert y[0] == 1
        dist.destroy_process_group(swapped)
    for ranks in ([0, 0], [0, 99]):
        with pytest.raises(ValueError, match="rank"):
            dist.new_group(ranks)


def case_barriers(rank, size):
    dist.barrier()
    dist.monitored_barrier()
    dist.monitored_barrier(wait_all_ranks=True)


def case_versions_count_what_arrives(rank, size):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    dist.broadcast(y.detach() if rank == 0 else y.data, 0)
    z.sum().backward()
    y = x * 2
    z = y * y
    dist.all_reduce(y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def case_arguments(rank, size):
    x = torch.ones(2)
    with pytest.raises(TypeError, match=r"Expected parameter `tensor` of type torch\.Tensor"):
        dist.all_reduce([1.0])
    with pytest.raises(TypeError, match="Expected parameter `tensor_list` of type List"):
        dist.all_gather((x, x), x)
    with pytest.raises(ValueError, match="different dtypes"):
        dist.all_gather([x.double()] * size, x)
    with pytest.raises(ValueError, match="expected length"):
        dist.all_gather([x], x)
    with pytest.raises(ValueError, match="invalid tensor size"):
        dist.all_gather([torch.ones(3)] * size, x)
    with pytest.raises(ValueError, match="world_size times"):
        dist.all_gather_into_tensor(torch.ones(5), x)
    with pytest.raises(ValueError, match="not part of group"):
        dist.broadcast(x, 99)
    with pytest.raises(ValueError, match="Must specify"):
        dist.broadcast(x)
    with pytest.raises(ValueError, match="Can't specify both"):
        dist.broadcast(x, 0, group_src=0)
    with pytest.raises(ValueError, match="dense and on the CPU"):
        dist.all_reduce(torch.ones(2, device="meta"))
    with pytest.raises(ValueError, match=r"(must|NOT) be specified on"):
        dist.gather(x, [x] * size if rank else None)
    with pytest.raises(ValueError, match="split"):
        dist.all_to_all_single(x, x, [1, 2, 3, 4, 5])
    with pytest.raises(TypeError, match="ReduceOp"):
        dist.all_reduce(x, "sum")
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group()


def case_disagreement_is_an_error_on_all_ranks(rank, size):
    x, big = torch.ones(2), torch.ones(1000)
    for call in [
        lambda: dist.all_reduce(torch.ones(2 + rank)),
        lambda: dist.all_reduce(torch.ones(1000 + rank)),
        lambda: dist.all_reduce(x.double() if rank else x),
        lambda: dist.all_reduce(big, ReduceOp.MAX if rank else ReduceOp.SUM),
        lambda: dist.broadcast(x, rank),
        lambda: dist.all_reduce(x) if rank else dist.barrier(),
        lambda: dist.broadcast(big, 0) if rank else dist.all_gather_into_tensor(torch.ones(size * 1000), big),
        lambda: dist.new_group([rank]),
    ]:
        with pytest.raises(dist.DistBackendError, match=r"mismatch.*rank 0: .*; rank.* 1"):
            call()
    dist.all_reduce(x)  # the group goes on
    assert x[0] == size


def case_copies_of_strided_tensors_stay_until_a_work_is_done(rank, size):
    whole = torch.arange(1_000_000.0).view(1000, 1000)
    found = torch.empty(size * 1000, 1000)
    contiguous, copies = collectives._memory, []
    collectives._memory = lambda tensor: copies.append(weakref.ref(copy := contiguous(tensor))) or copy
    work = dist.all_gather_into_tensor(found, whole.t(), async_op=True)
    collectives._memory = contiguous
    while not work._has_begun:
        work.is_completed()
    assert work._is_done or copies[0]() is not None
    work.wait()
    assert torch.equal(found.view(size, 1000, 1000), whole.t().expand(size, 1000, 1000))


def case_several_tensors_at_once(rank, size):
    tensors = [torch.full((3,), rank + 1.0), torch.full((2, 2), 2.0).t(), torch.empty(0)]
    assert dist.all_reduce_coalesced(tensors) is None
    total = size * (size + 1) / 2
    assert tensors[0].tolist() == [total] * 3
    assert tensors[1].tolist() == [[2.0 * size] * 2] * 2
    future = dist.all_reduce_coalesced(tensors[0], dist.ReduceOp.MAX, async_op=True)
    assert future.wait()[0] is tensors[0]
    given = [torch.full((2,), float(rank)), torch.full((1, 3), rank + 0.5)]
    lists = [[torch.empty(2), torch.empty(1, 3)] for _ in range(size)]
    assert dist.all_gather_coalesced(lists, given) is None
    assert [[each.flatten()[0].item() for each in tensors] for tensors in lists] == [[k, k + 0.5] for k in range(size)]
    with pytest.raises(ValueError, match=r"must be .* lists of tensors"):
        dist.all_gather_coalesced(lists[:1], given)
    with pytest.raises(ValueError, match="different dtypes"):
        dist.all_reduce_coalesced([torch.ones(2), torch.ones(2, dtype=torch.int64)])


def case_split_groups(rank, size):
    group = dist.split_group(split_ranks=[[1, 0], [size - 1]] if size > 2 else [[1, 0]])
    if rank < 2:
        assert dist.get_process_group_ranks(group) == [1, 0]
        x = torch.tensor([rank + 1.0])
        dist.broadcast(x, group_src=0, group=group)
        assert x.item() == 2
        dist.destroy_process_group(group)
    else:
        assert (group is None) == (rank < size - 1)
    for ranks in (None, [[0], [0]], [[size]]):
        with pytest.raises(ValueError, match=r"split_ranks|in two of"):
            dist.split_group(split_ranks=ranks)


def case_groups_give_back_what_mpi_has_few_of(rank, size):
    for _ in range(1200 if size == 2 else 20):
        group = dist.new_group()
        x = torch.ones(1)
        dist.all_reduce(x, group=group)
        assert x.item() == size
        dist.destroy_process_group(group)
