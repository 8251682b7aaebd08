"""Small networks with random weights, which torch exports at fixed sizes, and their outputs at others.

    python scripts/export_fixed.py FOLDER

Writes `NAME.a.onnx`, `NAME.b.onnx` and `NAME.c.onnx`, one network at three sizes, the last with the batch of the first;
`NAME.npz`, inputs and outputs at sizes that none has; and `nets.json`, which `bench/dynamic.py` reads. Needs torch with
its exporter of TorchScript.
"""

import json
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(s, c):
        super().__init__()
        s.a = nn.Conv2d(c, c, 3, padding=1)
        s.b = nn.BatchNorm2d(c)

    def forward(s, x):
        return F.relu(s.b(s.a(x)) + x)


class ResNet(nn.Module):
    def __init__(s):
        super().__init__()
        s.stem = nn.Conv2d(3, 8, 7, 2, 3)
        s.b1 = Block(8)
        s.d = nn.Conv2d(8, 16, 3, 2, 1)
        s.b2 = Block(16)
        s.fc = nn.Linear(16, 10)

    def forward(s, x):
        x = F.max_pool2d(F.relu(s.stem(x)), 3, 2, 1)
        x = s.b2(F.relu(s.d(s.b1(x))))
        x = F.adaptive_avg_pool2d(x, 1)
        return s.fc(torch.flatten(x, 1))


class ResNetView(ResNet):
    def forward(s, x):
        x = s.b2(F.relu(s.d(s.b1(F.relu(s.stem(x))))))
        x = x.mean((2, 3))
        return s.fc(x.view(x.size(0), -1))


class VGG(nn.Module):  # fixed head
    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(3, 4, 3, 2, 1)
        s.fc = nn.Linear(4 * 16 * 16, 10)

    def forward(s, x):
        return s.fc(F.relu(s.c(x)).view(x.size(0), -1))


class Attn(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.h = h
        s.q = nn.Linear(d, d)
        s.k = nn.Linear(d, d)
        s.v = nn.Linear(d, d)
        s.o = nn.Linear(d, d)

    def forward(s, x, mask=None):
        B, S, D = x.shape
        sh = lambda t: t.view(B, S, s.h, D // s.h).transpose(1, 2)
        a = sh(s.q(x)) @ sh(s.k(x)).transpose(-1, -2) / math.sqrt(D // s.h)
        if mask is not None:
            a = a + mask
        return s.o((a.softmax(-1) @ sh(s.v(x))).transpose(1, 2).reshape(B, S, D))


class Layer(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.a = Attn(d, h)
        s.n1 = nn.LayerNorm(d)
        s.n2 = nn.LayerNorm(d)
        s.f = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(s, x, mask=None):
        x = s.n1(x + s.a(x, mask))
        return s.n2(x + s.f(x))


class Bert(nn.Module):
    def __init__(s, d=32, h=4, n=2):
        super().__init__()
        s.e = nn.Embedding(50, d)
        s.p = nn.Embedding(128, d)
        s.l = nn.ModuleList(Layer(d, h) for _ in range(n))
        s.register_buffer("ids", torch.arange(128)[None])

    def forward(s, x, m):
        S = x.size(1)
        y = s.e(x) + s.p(s.ids[:, :S])
        mask = (1.0 - m[:, None, None, :].float()) * -10000.0
        for l in s.l:
            y = l(y, mask)
        return y


class BertPool(Bert):
    def forward(s, x, m):
        y = super().forward(x, m)
        w = m[..., None].float()
        return (y * w).sum(1) / w.sum(1).clamp(min=1e-9)


class GPT(nn.Module):
    def __init__(s, d=32, h=4, n=2):
        super().__init__()
        s.e = nn.Embedding(50, d)
        s.p = nn.Embedding(128, d)
        s.l = nn.ModuleList(Layer(d, h) for _ in range(n))
        s.head = nn.Linear(d, 50)

    def forward(s, x):
        B, S = x.shape
        pos = torch.arange(S, device=x.device)[None].expand(B, S)
        y = s.e(x) + s.p(pos)
        mask = torch.full((S, S), -1e9).triu(1)[None, None]
        for l in s.l:
            y = l(y, mask)
        return s.head(y)


class GPTBias(GPT):
    def __init__(s):
        super().__init__()
        s.register_buffer("bias", torch.tril(torch.ones(128, 128)).view(1, 1, 128, 128))

    def forward(s, x):
        _B, S = x.shape
        y = s.e(x) + s.p(torch.arange(0, S)[None])
        mask = torch.where(s.bias[:, :, :S, :S] > 0, torch.tensor(0.0), torch.tensor(-1e4))
        for l in s.l:
            y = l(y, mask)
        return s.head(y)


class ViT(nn.Module):
    def __init__(s, d=32, h=4, n=2, pos=True):
        super().__init__()
        s.c = nn.Conv2d(3, d, 8, 8)
        s.cls = nn.Parameter(torch.randn(1, 1, d))
        s.pos = nn.Parameter(torch.randn(1, 17, d)) if pos else None
        s.l = nn.ModuleList(Layer(d, h) for _ in range(n))
        s.head = nn.Linear(d, 10)

    def forward(s, x):
        B = x.shape[0]
        y = s.c(x).flatten(2).transpose(1, 2)
        y = torch.cat([s.cls.expand(B, -1, -1), y], 1)
        if s.pos is not None:
            y = y + s.pos
        for l in s.l:
            y = l(y)
        return s.head(y[:, 0])


class ViTNoPos(ViT):
    def __init__(s):
        super().__init__(pos=False)


class ViTInterp(ViT):
    def forward(s, x):
        B = x.shape[0]
        f = s.c(x)
        H, W = f.shape[2:]
        y = f.flatten(2).transpose(1, 2)
        p = (
            F.interpolate(
                s.pos[:, 1:].reshape(1, 4, 4, -1).permute(0, 3, 1, 2), size=(H, W), mode="bilinear", align_corners=False
            )
            .permute(0, 2, 3, 1)
            .reshape(1, H * W, -1)
        )
        y = torch.cat([s.cls.expand(B, -1, -1), y + p], 1)
        for l in s.l:
            y = l(y)
        return s.head(y[:, 0])


class TorchEncoder(nn.Module):
    def __init__(s):
        super().__init__()
        s.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=False), 2)

    def forward(s, x):
        return s.t(x)


class MHA(nn.Module):
    def __init__(s):
        super().__init__()
        s.m = nn.MultiheadAttention(32, 4)

    def forward(s, x):
        return s.m(x, x, x)[0]


class LSTM(nn.Module):
    def __init__(s):
        super().__init__()
        s.r = nn.LSTM(16, 24, 2, batch_first=True, bidirectional=True)
        s.fc = nn.Linear(48, 5)

    def forward(s, x):
        return s.fc(s.r(x)[0])


class GRU(nn.Module):
    def __init__(s):
        super().__init__()
        s.r = nn.GRU(16, 24, batch_first=True)
        s.fc = nn.Linear(24, 5)

    def forward(s, x):
        o, _ = s.r(x)
        return s.fc(o[:, -1])


class UNet(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, padding=1)
        s.b = nn.Conv2d(8, 16, 3, padding=1)
        s.c = nn.Conv2d(16, 16, 3, padding=1)
        s.d = nn.Conv2d(32, 8, 3, padding=1)
        s.e = nn.Conv2d(16, 2, 3, padding=1)

    def forward(s, x):
        a = F.relu(s.a(x))
        b = F.relu(s.b(F.max_pool2d(a, 2)))
        c = F.relu(s.c(F.max_pool2d(b, 2)))
        u = F.interpolate(c, size=b.shape[2:], mode="nearest")
        d = F.relu(s.d(torch.cat([u, b], 1)))
        return s.e(torch.cat([F.interpolate(d, size=a.shape[2:], mode="bilinear", align_corners=False), a], 1))


class UNetT(UNet):
    def __init__(s):
        super().__init__()
        s.u = nn.ConvTranspose2d(16, 16, 2, 2)

    def forward(s, x):
        a = F.relu(s.a(x))
        b = F.relu(s.b(F.max_pool2d(a, 2)))
        c = F.relu(s.c(F.max_pool2d(b, 2)))
        d = F.relu(s.d(torch.cat([s.u(c), b], 1)))
        return s.e(torch.cat([F.interpolate(d, scale_factor=2.0), a], 1))


class FCN(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, 2, 1)
        s.b = nn.Conv2d(8, 4, 3, 2, 1)

    def forward(s, x):
        return F.interpolate(s.b(F.relu(s.a(x))), size=x.shape[2:], mode="bilinear", align_corners=False)


class Yolo(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, 2, 1)
        s.b = nn.Conv2d(8, 16, 3, 2, 1)
        s.h1 = nn.Conv2d(8, 3 * 7, 1)
        s.h2 = nn.Conv2d(16, 3 * 7, 1)

    def forward(s, x):
        a = F.relu(s.a(x))
        b = F.relu(s.b(a))
        out = []
        for f, h, st in ((a, s.h1, 2.0), (b, s.h2, 4.0)):
            y = h(f)
            B, _, H, W = y.shape
            y = y.view(B, 3, 7, H, W).permute(0, 1, 3, 4, 2).contiguous()
            gy, gx = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
            g = torch.stack([gx, gy], -1)[None, None].float()
            xy = (y[..., :2].sigmoid() * 2 - 0.5 + g) * st
            out.append(torch.cat([xy, y[..., 2:].sigmoid()], -1).view(B, -1, 7))
        return torch.cat(out, 1)


class Swin(nn.Module):
    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(3, 16, 4, 4)
        s.a = Attn(16, 2)
        s.n = nn.LayerNorm(16)
        s.fc = nn.Linear(16, 5)

    def forward(s, x):
        x = s.c(x).permute(0, 2, 3, 1)
        B, H, W, C = x.shape
        w = 4
        y = s.n(x).view(B, H // w, w, W // w, w, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, C)
        y = s.a(y)
        y = y.view(B, H // w, W // w, w, w, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
        return s.fc((x + y).mean((1, 2)))


class Shuffle(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 16, 3, padding=1)
        s.b = nn.Conv2d(16, 12, 1)

    def forward(s, x):
        x = F.relu(s.a(x))
        B, C, H, W = x.shape
        x = x.view(B, 4, C // 4, H, W).transpose(1, 2).reshape(B, C, H, W)
        return F.pixel_shuffle(s.b(x), 2)


class SE(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 16, 3, 2, 1)
        s.f = nn.Linear(16, 4)
        s.g = nn.Linear(4, 16)
        s.o = nn.Linear(16, 7)

    def forward(s, x):
        x = F.relu(s.a(x))
        b, c, _, _ = x.size()
        y = F.adaptive_avg_pool2d(x, 1).view(b, c)
        y = torch.sigmoid(s.g(F.relu(s.f(y)))).view(b, c, 1, 1)
        x = x * y.expand_as(x)
        return s.o(F.avg_pool2d(x, x.size()[2:]).view(b, -1))


class NonLocal(nn.Module):
    def __init__(s):
        super().__init__()
        s.t = nn.Conv2d(3, 8, 1)
        s.p = nn.Conv2d(3, 8, 1)
        s.g = nn.Conv2d(3, 8, 1)
        s.o = nn.Conv2d(8, 3, 1)

    def forward(s, x):
        B, _C, H, W = x.shape
        t = s.t(x).view(B, 8, -1)
        p = s.p(x).view(B, 8, -1)
        g = s.g(x).view(B, 8, -1)
        a = torch.bmm(t.transpose(1, 2), p).softmax(-1)
        return x + s.o(torch.bmm(g, a.transpose(1, 2)).view(B, 8, H, W))


class Mean(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Linear(16, 8)

    def forward(s, x):
        return s.e(x).sum(1) / x.shape[1]


class Coord(nn.Module):
    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(5, 8, 3, padding=1)

    def forward(s, x):
        B, _, H, W = x.shape
        gy = torch.arange(H).float().view(1, 1, H, 1).expand(B, 1, H, W)
        gx = torch.arange(W).float().view(1, 1, 1, W).expand(B, 1, H, W)
        return s.c(torch.cat([x, gx, gy], 1))


class Conv1d(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv1d(1, 8, 5, 2, 2)
        s.r = nn.GRU(8, 12, batch_first=True)
        s.o = nn.Linear(12, 6)

    def forward(s, x):
        y = F.relu(s.a(x[:, None]))
        return s.o(s.r(y.transpose(1, 2))[0])


class Split(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.Linear(16, 48)

    def forward(s, x):
        q, k, v = s.l(x).chunk(3, -1)
        a, b = (q * k).split([1, x.size(1) - 1], 1)
        return torch.cat([a, b], 1) + v


class Rope(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(16, 16)

    def forward(s, x):
        _B, S, _D = x.shape
        t = torch.arange(S).float()[:, None] * (1.0 / (10000 ** (torch.arange(0, 8).float() / 8)))[None]
        q = s.a(x)
        q1, q2 = q[..., :8], q[..., 8:]
        c, n = t.cos(), t.sin()
        return torch.cat([q1 * c - q2 * n, q1 * n + q2 * c], -1)


img = lambda b, h, w: (torch.randn(b, 3, h, w),)
seq = lambda b, s: (torch.randn(b, s, 16),)
tok = lambda b, s: (torch.randint(0, 50, (b, s)),)
tm = lambda b, s: (torch.randint(0, 50, (b, s)), torch.ones(b, s, dtype=torch.long))
# name: class, maker, fixed sizes, second sizes, spec for batch, spec for all
IMG = {"x": "n,3,{h},{w}"}
NETS = {}
for n, c in {
    "resnet": ResNet,
    "resnet_view": ResNetView,
    "vgg": VGG,
    "vit": ViT,
    "vit_nopos": ViTNoPos,
    "vit_interp": ViTInterp,
    "unet": UNet,
    "unet_t": UNetT,
    "fcn": FCN,
    "yolo": Yolo,
    "swin": Swin,
    "shuffle": Shuffle,
    "se": SE,
    "nonlocal_": NonLocal,
    "coord": Coord,
}.items():
    NETS[n] = (c, img, (1, 32, 32), (2, 64, 96), ["x"], "n,3,h,w")
for n, c in {"lstm": LSTM, "gru": GRU, "mean": Mean, "split": Split, "rope": Rope}.items():
    NETS[n] = (c, seq, (1, 12), (2, 20), ["x"], "n,s,16")
for n, c in {"gpt": GPT, "gpt_bias": GPTBias}.items():
    NETS[n] = (c, tok, (1, 12), (2, 20), ["x"], "n,s")
for n, c in {"bert": Bert, "bert_pool": BertPool}.items():
    NETS[n] = (c, tm, (1, 12), (2, 20), ["x", "m"], "n,s")
NETS["conv1d"] = (Conv1d, lambda b, t: (torch.randn(b, t),), (1, 40), (2, 64), ["x"], "n,t")
sb = lambda b, s: (torch.randn(s, b, 32),)
NETS["encoder"] = (TorchEncoder, sb, (1, 12), (2, 20), ["x"], "s,n,32")
NETS["mha"] = (MHA, sb, (1, 12), (2, 20), ["x"], "s,n,32")
# Networks whose weights have the image's size take the batch alone.
FIXED = ("vgg", "vit")
# Networks that take multiples of 16.
EVEN = ("swin", "yolo", "unet_t", "unet", "vit_nopos", "vit_interp")


def export(module, args, inputs, path):
    """Writes a module at the sizes of its arguments."""
    torch.onnx.export(module, args, path, input_names=inputs, output_names=["y"], opset_version=14)


def unseen(name, a):
    """Sizes at which no export is made."""
    batch = random.randint(1, 6)
    if len(a) == 2:
        return batch, random.randint(2, 60)
    if name in EVEN:
        return batch, 16 * random.randint(1, 6), 16 * random.randint(1, 6)
    return batch, random.randint(16, 90), random.randint(16, 90)


def recorded(name, module, make, a, inputs):
    """Inputs and outputs at 20 unseen sizes, of which the batch alone differs or all do."""
    torch.manual_seed(5)
    random.seed(3)
    store = {}
    for number in range(20):
        sizes = unseen(name, a)
        for kind, own in (("all", sizes), ("batch", (sizes[0], *a[1:]))):
            if kind == "all" and name in FIXED:
                own = (sizes[0], *a[1:])
            args = make(*own)
            try:
                result = module(*args)
            except (IndexError, RuntimeError):
                continue
            store.update({f"{kind}/{number}/in/{i}": of.numpy() for i, of in zip(inputs, args, strict=True)})
            store[f"{kind}/{number}/out"] = result.detach().numpy()
    return store


def main(out):
    """Exports all networks."""
    out.mkdir(parents=True, exist_ok=True)
    listed = {}
    for name, (network, make, a, b, inputs, spec) in NETS.items():
        if name in FIXED:
            b, spec = (2, *a[1:]), "n,3,32,32"
        torch.manual_seed(1)
        module = network().eval()
        for which, sizes in (("a", a), ("b", b), ("c", (a[0], *b[1:]))):
            export(module, make(*sizes), inputs, out / f"{name}.{which}.onnx")
        np.savez(out / f"{name}.npz", **recorded(name, module, make, a, inputs))
        listed[name] = {"inputs": inputs, "spec": spec, "a": a, "b": b}
    (out / "nets.json").write_text(json.dumps(listed))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
