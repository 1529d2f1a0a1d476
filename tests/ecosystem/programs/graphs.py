"""Networks over graphs."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("torch_geometric",)


def _ring(nodes: int, features: int) -> Any:
    from torch_geometric.data import Data

    ahead = torch.arange(nodes)
    edges = torch.stack([torch.cat([ahead, ahead]), torch.cat([ahead.roll(1), ahead.roll(3)])])
    return Data(torch.randn(nodes, features), edges, y=torch.randint(2, (nodes,)))


def convolutions() -> Any:
    """torch_geometric: twelve kinds of convolutions over one graph, with gradients of features and weights."""
    from torch_geometric import nn

    graph = _ring(10, 8)
    layers = {
        "GCN": nn.GCNConv(8, 4),
        "SAGE": nn.SAGEConv(8, 4),
        "GAT": nn.GATConv(8, 4, heads=2),
        "GATv2": nn.GATv2Conv(8, 4),
        "GIN": nn.GINConv(torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())),
        "Cheb": nn.ChebConv(8, 4, K=3),
        "Graph": nn.GraphConv(8, 4, aggr="max"),
        "TAG": nn.TAGConv(8, 4),
        "SG": nn.SGConv(8, 4, K=2),
        "ARMA": nn.ARMAConv(8, 4),
        "Transformer": nn.TransformerConv(8, 4, heads=2),
        "Edge": nn.EdgeConv(torch.nn.Linear(16, 4)),
    }
    answers = {}
    for name, layer in layers.items():
        features = graph.x.clone().requires_grad_()
        result = layer(features, graph.edge_index)
        result.square().sum().backward()
        answers[name] = (
            result,
            features.grad,
            [each.grad for each in layer.parameters() if each.grad is not None and each.dim() > 1],
        )
    return answers


def nodes_of_one_graph() -> Any:
    """torch_geometric: classes of nodes by two layers, five steps of training."""
    from torch_geometric import nn

    graph = _ring(12, 6)
    model = nn.GCN(6, 16, 2, 2, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(graph.x, graph.edge_index), graph.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, list(model.parameters())


def batches_of_graphs() -> Any:
    """torch_geometric: a loader of graphs of several sizes, their pools, and what graphs are made of."""
    from torch_geometric import nn, transforms, utils
    from torch_geometric.loader import DataLoader

    graphs = [_ring(nodes, 4) for nodes in (5, 7, 6, 8)]
    layer, answers = nn.GraphConv(4, 3), []
    for batch in DataLoader(graphs, batch_size=2):
        hidden = layer(batch.x, batch.edge_index).relu()
        pools = (nn.global_mean_pool, nn.global_max_pool, nn.global_add_pool)
        answers.append([pool(hidden, batch.batch) for pool in pools])
        answers.append(
            [batch.batch, batch.ptr, utils.degree(batch.edge_index[0]), utils.to_dense_batch(batch.x, batch.batch)]
        )
    graph = transforms.Compose([transforms.ToUndirected(), transforms.AddSelfLoops()])(graphs[0])
    laplacian = utils.get_laplacian(graph.edge_index, normalization="sym")
    return (
        answers,
        graph.edge_index,
        laplacian,
        utils.to_dense_adj(graph.edge_index),
        utils.softmax(hidden, batch.batch),
    )
