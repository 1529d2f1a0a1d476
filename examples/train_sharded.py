"""Trains a network whose parameters are divided among processes. Started again, it goes on from its checkpoint.

    python -m opweave.distributed.run --nproc-per-node 2 examples/train_sharded.py [FOLDER [EPOCHS]]

Needs `pip install 'opweave[distributed]'`. Any number of processes trains the same network, from a checkpoint of any
other number.
"""

import sys
import time
from pathlib import Path

import opweave as torch
import opweave.distributed as dist
import opweave.distributed.checkpoint as dcp
from opweave import nn
from opweave.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from opweave.distributed.fsdp import fully_shard
from opweave.utils.data import DataLoader, DistributedSampler, TensorDataset

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "checkpoint")
epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
dist.init_process_group()

torch.manual_seed(0)  # the same numbers in all processes
inputs = torch.rand(4096, 64)
data = TensorDataset(inputs, inputs.roll(1, 1) * inputs)  # the network learns to multiply neighbours
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=256 // dist.get_world_size(), sampler=sampler)

blocks = [nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(3)]
for block in blocks:
    fully_shard(block)
model = fully_shard(nn.Sequential(nn.Linear(64, 512), nn.ReLU(), *blocks, nn.Linear(512, 64)))
optimizer = torch.optim.AdamW(model.parameters())

state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True)) | {"epoch": 0}
if folder.exists():
    dcp.load(state, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])

for epoch in range(state["epoch"], epochs):
    began, total = time.perf_counter(), torch.zeros(())
    sampler.set_epoch(epoch)
    for given, wanted in loader:
        loss = nn.functional.mse_loss(model(given), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.detach() / len(loader)
    dist.all_reduce(total, dist.ReduceOp.AVG)
    if dist.get_rank() == 0:
        print(f"epoch {epoch + 1}: loss {total:.5f}, {time.perf_counter() - began:.2f} s", flush=True)

state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True)) | {"epoch": epochs}
dcp.save(state, checkpoint_id=folder)
