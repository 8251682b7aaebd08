"""Networks of torchvision, timm and transformers with random weights, which torch exports at fixed sizes.

    python scripts/export_families.py FOLDER [NAME,…]

Writes by both exporters what `scripts/export_fixed.py` writes for its own networks, and `bench/dynamic.py` reads: `NAME.ts`
is of the exporter of TorchScript, `NAME.dy` of that of `torch.export`. Needs torch, torchvision, timm, transformers and
onnxscript; no weights are downloaded. Names are prefixes of those in the table.
"""

import importlib
import json
import random
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn

warnings.filterwarnings("ignore")

IDS = ("input_ids", "attention_mask")
DECODED = ("input_ids", "decoder_input_ids")
#: Runs at sizes that no export has.
RUNS = 6


class Pick(nn.Module):
    """A network that returns its first output, or the one of a name, and takes arguments by keyword."""

    def __init__(self, net, name=None, keywords=(), **given):
        super().__init__()
        self.net, self.name, self.keywords, self.given = net, name, keywords, given

    def forward(self, *args):
        named = dict(zip(self.keywords, args, strict=False))
        out = self.net(*(() if named else args), **named, **self.given)
        if self.name is not None:
            return out[self.name]
        return out if isinstance(out, torch.Tensor) else out[0]


class Recurrent(nn.Module):
    """A recurrent layer and a linear one, of all steps or of the last."""

    def __init__(self, kind, last=False, **options):
        super().__init__()
        self.r = getattr(nn, kind)(16, 24, batch_first=True, **options)
        self.f, self.last = nn.Linear(48 if options.get("bidirectional") else 24, 5), last

    def forward(self, x):
        y = self.r(x)[0]
        return self.f(y[:, -1] if self.last else y)


@dataclass
class Net:
    """A network: how it is made, its arguments at sizes, the sizes of two exports, and which are open."""

    make: object
    args: object
    a: tuple
    b: tuple
    spec: list
    inputs: list = field(default_factory=lambda: ["x"])
    step: int = 1
    least: int = 2
    most: int = 60


NETS = {}


def images(name, make, step=32, a=64, b=(128, 160), fixed=False):
    """Adds a network of images; one whose weights have the image's size takes the batch alone."""
    spec = f"n,3,{a},{a}" if fixed else "n,3,h,w"
    args = lambda n, h, w: (torch.randn(n, 3, h, w),)
    NETS[name] = Net(make, args, (1, a, a), (2, a, a) if fixed else (2, *b), [spec], step=step, most=6)


def tokens(name, make, keywords=IDS):
    """Adds a network of tokens, with a mask, or with those of a decoder."""

    def args(n, s):
        x = torch.randint(0, 50, (n, s))
        more = {"attention_mask": torch.ones(n, s, dtype=torch.long), "decoder_input_ids": x[:, : s // 2 + 1]}
        return (x, *(more[name] for name in keywords[1:]))

    letters = {"input_ids": ("x", "n,s"), "attention_mask": ("m", "n,s"), "decoder_input_ids": ("d", "n,t")}
    inputs, spec = zip(*(letters.get(name, ("x", "n,s")) for name in keywords), strict=True)
    NETS[name] = Net(make, args, (1, 12), (2, 20), list(spec), list(inputs))


def vision(name, pick=None, **options):
    made = lambda: importlib.import_module("torchvision.models").get_model(name, weights=None, **options)
    return made if pick is None else lambda: Pick(made(), pick)


def timm(name, **options):
    return lambda: importlib.import_module("timm").create_model(name, pretrained=False, num_classes=7, **options)


def hf(network, keywords=(), given=None, **options):
    """A network of transformers by the beginning and the end of its name: `Bert:Model`."""

    def make():
        t = importlib.import_module("transformers")
        family = network.split(":")[0]
        config = getattr(t, f"{family}Config")(**options)
        return Pick(getattr(t, network.replace(":", ""))(config), keywords=keywords, **given or {})

    return make


for each in ("resnet18", "mobilenet_v3_small"):
    images(f"tv_{each}", vision(each))
for each in ("deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
    images(f"tv_{each}", vision(each, "out", weights_backbone=None, num_classes=4))
for each in ("convnext_atto", "edgenext_xx_small", "mobilevit_xxs", "pvt_v2_b0"):
    images(f"tm_{each}", timm(each))
tiny = {"img_size": 64, "depth": 2}
images("tm_vit_tiny_patch16_224", timm("vit_tiny_patch16_224", **tiny), fixed=True)
images("tm_vit_dynamic", timm("vit_tiny_patch16_224", **tiny, dynamic_img_size=True), 16, b=(96, 128))

heads = {"num_hidden_layers": 2, "num_attention_heads": 4}
small = {"hidden_size": 32, "intermediate_size": 64, **heads}
text = {"vocab_size": 50, "max_position_embeddings": 64, **small}
uncached = {"use_cache": False}
for each in ("Bert:Model", "Bert:ForMaskedLM", "Bert:ForSequenceClassification"):
    tokens(f"hf_{each.replace(':', '_').lower()}", hf(each, IDS, **text))
distil = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "vocab_size": 50, "max_position_embeddings": 64}
tokens("hf_distilbert", hf("DistilBert:Model", IDS, **distil))
relative = {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]}
tokens("hf_deberta_v2", hf("DebertaV2:Model", IDS, **text, **relative))
tokens("hf_xlnet", hf("XLNet:Model", IDS, d_model=32, n_layer=2, n_head=4, d_inner=64, vocab_size=50))
tokens("hf_clip_text", hf("CLIPText:Model", IDS, **text, eos_token_id=2))
gpt = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 50}
tokens("hf_gpt2", hf("GPT2:Model", IDS, uncached, **gpt))
tokens("hf_bloom", hf("Bloom:Model", IDS, uncached, hidden_size=32, n_layer=2, n_head=4, vocab_size=50))
tokens("hf_neox", hf("GPTNeoX:Model", IDS, uncached, **text))
tokens("hf_llama", hf("Llama:Model", IDS, uncached, num_key_value_heads=2, **text))
t5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 50}
tokens("hf_t5enc", hf("T5:EncoderModel", IDS, **t5))
tokens("hf_t5_model", hf("T5:Model", DECODED, uncached, **t5))
sides = {f"{side}_{part}": n for side in ("encoder", "decoder") for part, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))}
tokens("hf_bart", hf("Bart:Model", DECODED, uncached, d_model=32, vocab_size=50, max_position_embeddings=64, **sides))

view = {"image_size": 64, "patch_size": 16, **small}
for each in ("ViT:Model", "DeiT:Model", "Beit:Model", "CLIPVision:Model"):
    images(f"hf_{each.split(':')[0].lower()}", hf(each, **view), fixed=True)
images("hf_dinov2", hf("Dinov2:Model", **view), 16, b=(96, 128))
images("hf_vit_interp", hf("ViT:Model", given={"interpolate_pos_encoding": True}, **view), 16, b=(96, 128))
pyramid = {"depths": [1] * 4, "hidden_sizes": [8, 16, 24, 32], "num_attention_heads": [1, 1, 2, 2]}
images("hf_segformer", hf("Segformer:ForSemanticSegmentation", **pyramid, decoder_hidden_size=16, num_labels=4))
images("hf_swin", hf("Swin:Model", image_size=64, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4))
convolved = {"conv_dim": (16,) * 3, "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3}
heard = hf("Wav2Vec2:Model", **small, **convolved, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
NETS["hf_wav2vec2"] = Net(heard, lambda n, t: (torch.randn(n, t),), (1, 800), (2, 1300), ["n,s"], least=200, most=2000)
for each, options in (("LSTM", {"bidirectional": True, "num_layers": 2}), ("GRU", {"last": True}), ("RNN", {})):
    make = lambda each=each, options=options: Recurrent(each, **options)
    NETS[f"nn_{each.lower()}"] = Net(make, lambda n, s: (torch.randn(n, s, 16),), (1, 12), (2, 20), ["n,s,16"])


def recorded(net, module):
    """Inputs and outputs at sizes that no export has, of which the batch alone differs or all do."""
    torch.manual_seed(5)
    random.seed(3)
    store = {}
    for number in range(RUNS):
        more = [net.step * random.randint(net.least, net.most) for _ in net.a[1:]]
        batch = random.randint(1, 5)
        is_fixed = net.a[1:] == net.b[1:]
        for kind, sizes in (("all", net.a[1:] if is_fixed else more), ("batch", net.a[1:])):
            args = net.args(batch, *sizes)
            try:
                with torch.no_grad():
                    result = module(*args)
            except (IndexError, RuntimeError):
                continue
            store.update({f"{kind}/{number}/in/{i}": of.numpy() for i, of in zip(net.inputs, args, strict=True)})
            store[f"{kind}/{number}/out"] = result.numpy()
    return store


def export(net, module, sizes, path, dynamo):
    """Writes a module at sizes."""
    options = {"external_data": False} if dynamo else {"opset_version": 17}
    names = {"input_names": net.inputs, "output_names": ["y"]}
    torch.onnx.export(module, net.args(*sizes), str(path), dynamo=dynamo, verbose=False, **names, **options)


def main(out, prefixes):
    """Exports the networks whose names begin with a prefix."""
    out.mkdir(parents=True, exist_ok=True)
    listed = {}
    for name, net in NETS.items():
        if not any(name.startswith(prefix) for prefix in prefixes):
            continue
        torch.manual_seed(1)
        module = net.make().eval()
        np.savez(out / f"{name}.npz", **recorded(net, module))
        for kind in ("ts", "dy"):
            try:
                for which, sizes in (("a", net.a), ("b", net.b), ("c", (net.a[0], *net.b[1:]))):
                    export(net, module, sizes, out / f"{name}.{kind}.{which}.onnx", kind == "dy")
            except Exception as error:  # The exporters raise errors of many classes.
                print(f"{name}.{kind}: {type(error).__name__}: {str(error).splitlines()[0]}")
                continue
            listed[f"{name}.{kind}"] = {"inputs": net.inputs, "spec": net.spec, "values": f"{name}.npz"}
            (out / "nets.json").write_text(json.dumps(listed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(",") if len(sys.argv) > 2 else [""])
