"""Transformers."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported
LIBRARIES = ("transformers", "peft", "accelerate")

_SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99,
    "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
_HALF = {"num_key_value_heads": 2}
_PAIR = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "decoder_start_token_id": 2, "forced_eos_token_id": None,
}  # fmt: skip
_CAUSAL: dict[str, dict[str, Any]] = {
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "Llama": _HALF,
    "Mistral": {**_HALF, "sliding_window": 8},
    "Mixtral": {**_HALF, "num_local_experts": 4},
    "Qwen2": _HALF,
    "Qwen3": {**_HALF, "head_dim": 8},
    "Gemma": {**_HALF, "head_dim": 8},
    "Gemma2": {**_HALF, "head_dim": 8, "sliding_window": 8},
    "Phi": {},
    "Phi3": _HALF,
    "Falcon": {},
    "Bloom": {"n_head": 4, "n_layer": 2},
    "OPT": {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "GPTNeoX": {},
    "GPTNeo": {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "window_size": 8},
    "GPTJ": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64},
    "Mamba": {"state_size": 8},
    "Olmo": {},
    "Cohere": {},
    "Rwkv": {"attention_hidden_size": 32},
}
_MASKED: dict[str, dict[str, Any]] = {
    "Bert": {},
    "Roberta": {},
    "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
    "Electra": {"embedding_size": 16},
    "Albert": {"embedding_size": 16},
    "DebertaV2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16},
    "MPNet": {},
    "ModernBert": {"local_attention": 8, "global_attn_every_n_layers": 2},
}
_IMAGES: dict[str, dict[str, Any]] = {
    "ViT": {"image_size": 32, "patch_size": 8},
    "DeiT": {"image_size": 32, "patch_size": 8},
    "Beit": {"image_size": 32, "patch_size": 8},
    "Dinov2": {"image_size": 32, "patch_size": 8},
    "ConvNext": {"image_size": 32, "hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]},
    "ResNet": {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]},
}


def _made(kind: str, task: str, options: dict[str, Any]) -> Any:
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**{**_SIZES, **options})
    for name in ("attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "dropout", "embd_pdrop",
                 "embed_dropout", "hidden_dropout", "hidden_dropout_prob", "resid_pdrop"):  # fmt: skip
        if isinstance(getattr(config, name, None), float):
            setattr(config, name, 0.0)
    return getattr(transformers, f"{kind}{task}")(config).train()


def _trained(model: Any, **inputs: Any) -> Any:
    """The losses of three steps, the outputs and the gradients of the first."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    results: dict[str, Any] = {"losses": []}
    for step in range(3):
        output = model(**inputs)
        optimizer.zero_grad()
        output.loss.backward()
        if not step:
            results["outputs"] = output.logits
            # Those of biases of keys are zero but for rounding: they count by the size of all.
            results["gradients"] = torch.stack(
                [each.grad.norm() for each in model.parameters() if each.grad is not None]
            )
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        results["losses"].append(output.loss)
    return results


def _words() -> Any:
    torch.manual_seed(1)
    ids = torch.randint(3, 99, (2, 12))
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0
    return ids, mask


def causal_models() -> Any:
    """transformers: twenty kinds of causal language models, trained for three steps."""
    ids, mask = _words()
    return {
        kind: _trained(
            _made(kind, "LMHeadModel" if kind == "GPT2" else "ForCausalLM", options),
            input_ids=ids, labels=ids, **({} if kind in ("Mamba", "Rwkv") else {"attention_mask": mask}),
        )
        for kind, options in _CAUSAL.items()
    }  # fmt: skip


def masked_models() -> Any:
    """transformers: eight kinds of masked language models, trained for three steps."""
    ids, mask = _words()
    return {
        kind: _trained(_made(kind, "ForMaskedLM", options), input_ids=ids, labels=ids, attention_mask=mask)
        for kind, options in _MASKED.items()
    }


def image_models() -> Any:
    """transformers: six kinds of models of images, trained for three steps."""
    torch.manual_seed(2)
    inputs = {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.tensor([0, 1])}
    return {kind: _trained(_made(kind, "ForImageClassification", each), **inputs) for kind, each in _IMAGES.items()}


def models_of_pairs() -> Any:
    """transformers: T5, Bart, Pegasus and Whisper, from texts and sounds to texts, trained for three steps."""
    ids, mask = _words()
    labels = ids[:, :6].contiguous()
    t5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
    texts = {"T5": t5, "Bart": _PAIR, "Pegasus": _PAIR}
    results = {
        kind: _trained(
            _made(kind, "ForConditionalGeneration", options), input_ids=ids, attention_mask=mask, labels=labels
        )
        for kind, options in texts.items()
    }
    sounds = {**_PAIR, "num_mel_bins": 8, "max_source_positions": 16, "max_target_positions": 32}
    whisper = _made("Whisper", "ForConditionalGeneration", sounds)
    results["Whisper"] = _trained(whisper, input_features=torch.randn(2, 8, 32), labels=labels)
    return results


def generation() -> Any:
    """transformers: texts by the likeliest word, by beams and by samples, of Llama, GPT2, Mamba and T5."""
    ids, _ = _words()
    results = {}
    for kind, task in (("Llama", "ForCausalLM"), ("GPT2", "LMHeadModel"), ("Mamba", "ForCausalLM")):
        model = _made(kind, task, _CAUSAL[kind]).eval()
        with torch.no_grad():
            for each in model.parameters():
                each.mul_(8)  # so that words differ
        options = [{"do_sample": False}, {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 0.8}]
        if kind != "Mamba":
            options.append({"do_sample": False, "num_beams": 3})
        results[kind] = [model.generate(ids[:1], max_new_tokens=8, **each) for each in options]
    return results


def files() -> Any:
    """transformers: a model in files of safetensors, and from them, in float32 and bfloat16."""
    import transformers

    ids, _ = _words()
    model = _made("Llama", "ForCausalLM", _HALF).eval()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder, max_shard_size="40KB")
        same = transformers.LlamaForCausalLM.from_pretrained(folder)
        half = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
        return model(ids).logits, same(ids).logits, str(half.dtype), half(ids).logits.float().mean((0, 1)).round()


def attention_by_functions() -> Any:
    """transformers: attention by `flex_attention`, as by the other implementations."""
    ids, mask = _words()
    model = _made("Llama", "ForCausalLM", _HALF).eval()
    results = []
    for each in ("eager", "sdpa", "flex_attention"):
        model.set_attn_implementation(each)
        with torch.no_grad():
            results.append(model(ids, attention_mask=mask).logits[mask.bool()])
    return results


def adapters() -> Any:
    """peft: LoRA, DoRA, IA3, prompts and AdaLoRA of a model, trained, merged, saved and loaded."""
    import peft

    ids, mask = _words()
    kinds = {
        "lora": peft.LoraConfig(task_type="CAUSAL_LM", r=2, lora_dropout=0.0, target_modules=["q_proj", "v_proj"]),
        "dora": peft.LoraConfig(task_type="CAUSAL_LM", r=2, use_dora=True, target_modules=["q_proj", "v_proj"]),
        "ia3": peft.IA3Config(task_type="CAUSAL_LM", target_modules=["k_proj"], feedforward_modules=[]),
        "prompt": peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
        "adalora": peft.AdaLoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], total_step=9, init_r=2),
    }
    results: dict[str, Any] = {}
    for name, config in kinds.items():
        base = _made("Llama", "ForCausalLM", _HALF)
        model = peft.get_peft_model(base, config)
        results[name] = (
            [each.shape[0] for each in model.parameters() if each.requires_grad],
            _trained(model, input_ids=ids, attention_mask=mask, labels=ids),
        )
        if name == "lora":
            model.eval()
            with tempfile.TemporaryDirectory() as folder, torch.no_grad():
                model.save_pretrained(folder)
                loaded = peft.PeftModel.from_pretrained(_made("Llama", "ForCausalLM", _HALF), folder).eval()
                # The base is made again: its weights are those before training, which LoRA leaves as they are.
                results["merged"] = model(ids).logits, loaded(ids).logits, model.merge_and_unload()(ids).logits
    return results


def loops() -> Any:
    """accelerate: a loop of training with gradients over several batches, clipped, in float32 and bfloat16."""
    from accelerate import Accelerator, init_empty_weights, load_checkpoint_and_dispatch
    from accelerate.state import AcceleratorState
    from accelerate.utils import find_tied_parameters, set_seed

    results: dict[str, Any] = {}
    for precision in ("no", "bf16"):
        AcceleratorState._reset_state(True)  # which holds for a whole process
        set_seed(3)
        accelerator = Accelerator(cpu=True, mixed_precision=precision, gradient_accumulation_steps=2)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer)
        data = torch.utils.data.TensorDataset(torch.randn(12, 4), torch.randn(12, 1))
        loader = torch.utils.data.DataLoader(data, batch_size=3, shuffle=True)
        model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
        losses = []
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(x).float(), y)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                losses.append(loss)
        results[precision] = losses, [each.float().sum() for each in accelerator.get_state_dict(model).values()]
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_model(model, folder)
        with init_empty_weights():
            empty = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        devices = [str(each.device) for each in empty.parameters()]
        loaded = load_checkpoint_and_dispatch(empty, folder, device_map={"": "cpu"})
        results["loaded"] = devices, loaded(torch.ones(1, 4)), find_tied_parameters(loaded)
    return results
