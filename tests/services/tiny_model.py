"""A causal model of a few thousand random weights that reads bytes, made in a moment."""

from pathlib import Path

TEMPLATE = (
    "{% for turn in messages %}{{ turn['role'][0] }}:{{ turn['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}a:{% endif %}"
)


def make_tiny_model(folder: Path, *, seed: int = 5, template: bool = True, pad: bool = True, width: int = 32) -> Path:
    """Write a Qwen2 model of two layers that reads bytes."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

    tokens = ["<unk>", "<end>", "<pad>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Qwen2Tokenizer(
        vocab=vocabulary, merges=[], unk_token="<unk>", eos_token="<end>", pad_token="<pad>" if pad else None
    )
    if template:
        tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(vocabulary),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=1,
        pad_token_id=2,
        tie_word_embeddings=False,
    )
    model = Qwen2ForCausalLM(config)
    for name, parameter in model.named_parameters():
        # Attention that looks at few places, and outputs far from uniform: a wrong mask shows in what is written.
        sharp = "q_proj" in name or "k_proj" in name
        torch.nn.init.normal_(parameter, std=1.5 if sharp else 0.5)
    printable = torch.tensor([len(token) == 1 and "!" < token < "~" for token in tokens])
    model.lm_head.weight.data[~printable] = 0.0  # half a character cannot be compared
    model.save_pretrained(folder)
    return folder


def make_tiny_adapter(model: Path, folder: Path) -> Path:
    """Write a LoRA adapter with random weights over a tiny model."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(7)
    config = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(model), config)
    for name, parameter in adapted.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    adapted.save_pretrained(folder)
    return folder
