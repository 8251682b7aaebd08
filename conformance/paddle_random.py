"""Random programs of a few operators, for `paddle_programs.py`."""

import random

from paddle_layers import array


def random_programs(seed, count):
    return {f"random-{seed}-{i}": random_program(random.Random(f"{seed} {i}")) for i in range(count)}


def random_program(rng):
    """A few operators on the values so far, of integers and floats with small sizes."""
    dtype = rng.choice(["int64", "int32", "float32", "float64"])
    dims = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    declared = [dim if rng.random() < 0.6 else -1 for dim in dims]
    given = array(dtype, dims, rng.randint(0, 50)) - 20
    plan = [(rng.choice(STEPS), rng.random(), rng.randint(0, 1 << 30)) for _ in range(rng.randint(2, 7))]

    def build(paddle, x):
        values, outputs = [x], []
        for step, which, number in plan:
            value = values[int(which * len(values))]
            made = step(paddle, value, random.Random(number))
            ulps = 0
            if isinstance(made, tuple):
                made, ulps = made
            for each in made if isinstance(made, list) else [made]:
                outputs.append((each, ulps))
                if ulps == 0 and each.dtype == x.dtype:
                    values.append(each)
        return outputs

    return {"x": (declared, dtype)}, {"x": given}, build


def steps():
    def number(paddle, rng):
        return rng.choice([-3, -2, -1, 1, 2, 3, 5])

    def axis(x, rng, more=0):
        return rng.randrange(-(len(x.shape) + more), len(x.shape) + more)

    def full(x):
        """Whether there are elements for certain: Paddle gathers from, and reshapes, none in ways of its own."""
        return all(size > 0 for size in x.shape)

    yield lambda p, x, r: x + number(p, r)
    yield lambda p, x, r: x * number(p, r)
    yield lambda p, x, r: p.floor_divide(x, p.full([1], number(p, r), x.dtype))
    yield lambda p, x, r: p.remainder(x, p.full([1], number(p, r), x.dtype))
    yield lambda p, x, r: p.minimum(x, p.full([1], number(p, r), x.dtype))
    yield lambda p, x, r: p.maximum(x, x - number(p, r))
    yield lambda p, x, r: p.where(x > number(p, r), x, x - 1)
    yield lambda p, x, r: r.choice([p.less_than, p.less_equal, p.greater_than, p.greater_equal, p.equal, p.not_equal])(x, x - x + 2)
    yield lambda p, x, r: p.shape(x)
    yield lambda p, x, r: p.cast(x, r.choice(["int32", "int64", "float32", "float64", "bool"]))
    yield lambda p, x, r: p.scale(x, float(number(p, r)), float(number(p, r)), r.random() < 0.5)
    yield lambda p, x, r: p.concat([x, x * 2], axis(x, r)) if x.shape else x
    yield lambda p, x, r: p.stack([x, x + 1], axis(x, r, 1))
    yield lambda p, x, r: p.unsqueeze(x, [axis(x, r, 1)])
    yield lambda p, x, r: p.unsqueeze(x, r.choice([[0, 1], [1, 0], [-1, 0]]))
    yield lambda p, x, r: p.squeeze(x, [axis(x, r)]) if x.shape and -1 not in x.shape else x
    yield lambda p, x, r: p.tile(x, [r.randint(1, 3) for _ in range(r.randint(1, 3))])
    yield lambda p, x, r: p.expand(x, [r.randint(1, 3)] + [-1] * len(x.shape))
    yield lambda p, x, r: p.reshape(x, [-1])
    yield lambda p, x, r: p.reshape(x, [0, -1]) if len(x.shape) > 1 and full(x) else x
    yield lambda p, x, r: p.transpose(x, r.sample(range(len(x.shape)), len(x.shape)))
    yield lambda p, x, r: p.flatten(x)
    yield lambda p, x, r: p.slice(x, [a := axis(x, r) % len(x.shape)], [r.randint(-4, 2)], [r.randint(1, 5)]) if x.shape else x
    yield lambda p, x, r: p.strided_slice(x, [0], [r.randint(-5, 5)], [r.randint(-5, 5)], [r.choice([-2, -1, 1, 2])]) if x.shape else x
    yield lambda p, x, r: x[0] if x.shape else x
    yield lambda p, x, r: x[..., -1] if x.shape else x
    yield lambda p, x, r: p.gather(x, p.full([r.randint(1, 3)], 0, r.choice(["int32", "int64"])), axis(x, r) % len(x.shape)) if x.shape and full(x) else x
    yield lambda p, x, r: list(p.split(x, 1, axis(x, r))) if x.shape else x
    yield lambda p, x, r: list(p.split(p.concat([x, x, x[:1]], 0), [-1, 1], 0)) if x.shape and full(x) else x
    yield lambda p, x, r: p.full_like(x, number(p, r))
    yield lambda p, x, r: p.full([r.randint(0, 3), 2], number(p, r), r.choice(["int32", "int64", "float32", "bool"]))
    yield lambda p, x, r: p.arange(number(p, r), number(p, r) * 3, number(p, r), r.choice(["int32", "int64"]))
    yield lambda p, x, r: p.arange(0, p.shape(x)[0], 1, "int64") if x.shape else x
    yield lambda p, x, r: (p.linspace(r.uniform(-9, 9), r.uniform(-9, 9), r.randint(1, 9), "float32"), 3)
    yield lambda p, x, r: (p.linspace(r.uniform(-9, 9), r.uniform(-9, 9), r.randint(1, 9), "float64"), 3)
    yield lambda p, x, r: (p.logspace(r.uniform(-3, 3), r.uniform(-3, 3), r.randint(1, 9), r.choice([2.0, 10.0, 0.5]), "float32"), 1)
    yield lambda p, x, r: (p.logspace(r.uniform(-3, 3), r.uniform(-3, 3), r.randint(1, 9), r.choice([2.0, 10.0, 3.0]), "float64"), 16)
    yield lambda p, x, r: p.logspace(0, n := r.randint(1, 9), n + 1, 2.0, r.choice(["int32", "int64"]))
    yield lambda p, x, r: p.sum(x, axis(x, r), keepdim=r.random() < 0.5) if x.shape and "int" in str(x.dtype) else x
    yield lambda p, x, r: p.max(x, axis(x, r), keepdim=r.random() < 0.5) if x.shape else x


STEPS = list(steps())
