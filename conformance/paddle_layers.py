"""Layers that `paddle_programs.py` saves as programs."""

import numpy as np


def array(dtype, dims, start=0):
    count = int(np.prod(dims, dtype=int))
    return (np.arange(start, start + count) % 101).astype(dtype).reshape(dims)


def layer(paddle):
    constant = paddle.nn.initializer.Constant

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(4, 3, weight_attr=constant(0.25), bias_attr=constant(2.0))

        def forward(self, x):
            count = paddle.shape(x)[0]
            y, i = self.linear(x), paddle.zeros([1], "int64")
            while i < 3:
                i = i + 1
                y = y * 2
            return y, paddle.arange(count), paddle.reshape(y, [count * 3]), paddle.stack([count, count - 1])

    return Net()


def recurrent(paddle):
    """Layers of LSTM, GRU and RNN, in both directions, and over sequences of several lengths."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.lstm = paddle.nn.LSTM(2, 3, num_layers=2, direction="bidirect")
            self.gru = paddle.nn.GRU(2, 3, direction="bidirect")
            self.rnn = paddle.nn.SimpleRNN(2, 3, activation="relu")
            for i, weight in enumerate(self.parameters()):
                weight.set_value(array("float32", weight.shape, 17 * i) / 50 - 1)
            self.eval()

        def forward(self, x, lengths):
            a, (h, c) = self.lstm(x)
            b, d = self.gru(x, sequence_length=lengths)
            return a, h, c, b, d, *self.rnn(x)

    return Net()


def quantized(paddle):
    """A convolution and a product of codes, by one scale or those of channels."""
    from paddle.nn.quant.format import LinearDequanter, LinearQuanter

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            one, many = paddle.to_tensor(7.3), paddle.to_tensor(array("float32", [3], 1) * 0.37)
            self.steps = paddle.nn.LayerList(
                step(scale, scale * 0, axis, 8)
                for scale, axis in ((one, -1), (many, 0), (many, 1))
                for step in (LinearQuanter, LinearDequanter)
            )

        def forward(self, x):
            codes = [self.steps[i](x) for i in (0, 2, 4)]
            return *codes, *(self.steps[2 * i + 1](code) for i, code in enumerate(codes))

    return Net()


def arrays(paddle):
    """Lists that a loop fills, and arrays that are written at any place."""

    class Net(paddle.nn.Layer):
        def forward(self, x, count):
            rows, i = [], paddle.zeros([1], "int64")
            while i < count:
                x = x * 2 + 1
                rows.append(x)
                i = i + 1
            array, first = paddle.tensor.create_array("float32"), paddle.zeros([1], "int64")
            for place, value in ((first, x), (first + 1, x * 3), (first, x - 1)):
                paddle.tensor.array_write(value, place, array)
            length = paddle.tensor.array_length(array)
            written = [paddle.tensor.array_read(array, place) for place in (first, first + 1)]
            return paddle.concat(rows, 0), paddle.stack(rows, 1), rows[1], *written, length

    return Net()


def cells(paddle):
    """A layer that runs a cell step by step: it counts, and fills arrays, in place."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.rnn = paddle.nn.RNN(paddle.nn.SimpleRNNCell(2, 3, activation="relu"), is_reverse=True)
            for i, weight in enumerate(self.parameters()):
                weight.set_value(array("float32", weight.shape, 17 * i) / 50 - 1)
            self.eval()

        def forward(self, x):
            return self.rnn(x)

    return Net()


def older(paddle):
    """Operators as PaddlePaddle 2.6 writes them, by which it is recorded, and a loop that ends early."""

    class Net(paddle.nn.Layer):
        def forward(self, x, count):
            i, y = paddle.zeros([1], "int64"), x
            while i < 10:
                y = y * 2
                if i >= count:
                    break
                elif paddle.sum(y) > 500:
                    y = y - 1
                i = i + 1
            return y, x[:, ::-1], x[:, [3, 1]], paddle.allclose(x, x)

    return Net()


# Programs by name, and the error that their outputs may have in units in the last place.
LAYERS = {
    "layer": (({"x": ([-1, 4], "float32")}, {"x": array("float32", [2, 4])}, layer), 0),
    "recurrent": (
        (
            {"x": ([2, 4, 2], "float32"), "lengths": ([2], "int32")},
            {"x": array("float32", [2, 4, 2]) / 9 - 1, "lengths": array("int32", [2], 3)},
            recurrent,
        ),
        64,
    ),
    "arrays": (
        ({"x": ([-1, 3], "float32"), "count": ([1], "int64")}, {"x": array("float32", [2, 3]), "count": array("int64", [1], 3)}, arrays),
        0,
    ),
    "cells": (({"x": ([-1, -1, 2], "float32")}, {"x": array("float32", [2, 4, 2]) / 9 - 1}, cells), 64),
    "older": (
        ({"x": ([3, 4], "float32"), "count": ([1], "int64")}, {"x": array("float32", [3, 4]), "count": array("int64", [1], 4)}, older),
        0,
    ),
    "quantized": (({"x": ([3, 3], "float32")}, {"x": array("float32", [3, 3]) * 1.37 - 4.5}, quantized), 0),
}
