"""Trainers of transformers."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported
LIBRARIES = ("transformers", "accelerate", "sentence-transformers")
_words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz")
_SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "vocab_size": 31, "max_position_embeddings": 64, "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}  # fmt: skip


def trainer() -> Any:
    """transformers: `Trainer` with a schedule, evaluation, a checkpoint and its metrics."""
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    rows = [
        {"input_ids": torch.randint(5, 30, (8,)), "attention_mask": torch.ones(8).long(), "labels": torch.tensor(n % 2)}
        for n in range(16)
    ]
    model = BertForSequenceClassification(BertConfig(**_SIZES))
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            folder, num_train_epochs=2, per_device_train_batch_size=4, learning_rate=1e-3, logging_steps=2,
            eval_strategy="epoch", save_strategy="epoch", report_to=[], use_cpu=True, seed=0, disable_tqdm=True,
            gradient_accumulation_steps=2, warmup_steps=1, lr_scheduler_type="cosine",
        )  # fmt: skip

        def metrics(results: Any) -> Any:
            return {"accuracy": float((results.predictions.argmax(-1) == results.label_ids).mean())}

        run = Trainer(model, options, train_dataset=rows, eval_dataset=rows[:8], compute_metrics=metrics)
        result = run.train()
        history = [
            {
                key: each[key]
                for key in ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy")
                if key in each
            }
            for each in run.state.log_history
        ]
        files = sorted(os.listdir(os.path.join(folder, "checkpoint-4")))
        return result.training_loss, history, run.predict(rows[:4]).predictions, list(model.parameters())[:6], files


def _tokenizer(folder: str) -> Any:
    from transformers import BertTokenizer

    path = os.path.join(folder, "vocab.txt")
    with open(path, "w") as file:
        file.write("\n".join(_words))
    return BertTokenizer(path)


def sentences() -> Any:
    """sentence-transformers: vectors of sentences, their likeness, a search, three steps with pairs, save and load."""
    from sentence_transformers import SentenceTransformer, losses, util
    from sentence_transformers.models import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel

    with tempfile.TemporaryDirectory() as folder:
        BertModel(BertConfig(**_SIZES)).save_pretrained(folder)
        _tokenizer(folder).save_pretrained(folder)
        words = Transformer(folder, max_seq_length=16)
        model = SentenceTransformer(modules=[words, Pooling(32), Normalize()], device="cpu")
        texts = ["a b c", "d e f g", "a b d", "x y z"]
        vectors = model.encode(texts, convert_to_tensor=True, show_progress_bar=False)
        loss = losses.MultipleNegativesRankingLoss(model)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        values = []
        for _ in range(3):
            pairs = [model.tokenize(texts[:2]), model.tokenize(texts[2:])]
            value = loss(pairs, None)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            values.append(value.detach())
        found = util.semantic_search(vectors[:1], vectors, top_k=2)
        model.eval().save(os.path.join(folder, "model"))
        again = SentenceTransformer(os.path.join(folder, "model"), device="cpu")
        same = model.encode(texts), again.encode(texts)
        return (
            vectors,
            util.cos_sim(vectors, vectors),
            [[each["corpus_id"] for each in row] for row in found],
            values,
            same,
        )
