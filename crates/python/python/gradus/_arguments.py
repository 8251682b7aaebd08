"""Arguments of a module that PyTorch exports: the inputs of its model, and their sizes in `dynamic_shapes`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import UsageError

__all__ = ["Arguments", "dynamic_axes", "named_axes"]


def _is_shape(spec: Any) -> bool:
    if isinstance(spec, Mapping):
        return all(isinstance(axis, int) for axis in spec)
    return not any(isinstance(size, Mapping | list | tuple) for size in spec)


def _leaves(spec: Any) -> Iterator[Any]:
    """The specifications of inputs in a container of them, in their order: `None`, or the sizes of axes."""
    for each in spec.values() if isinstance(spec, Mapping) else spec:
        if each is None or _is_shape(each):
            yield each
        else:
            yield from _leaves(each)


def _sizes(spec: Any) -> Iterable[tuple[int, Any]]:
    return spec.items() if isinstance(spec, Mapping) else enumerate(spec or ())


def _word(size: Any) -> str | None:
    """The name of a size: DYNAMIC, AUTO and STATIC of PyTorch are hints, and have none."""
    return size if isinstance(size, str) else getattr(size, "__name__", None)


def _is_open(size: Any) -> bool:
    hint = getattr(getattr(size, "type", None), "name", None)
    return not (size is None or isinstance(size, int) or hint == "STATIC")


class Arguments:
    """The arguments of an export: example inputs of its program, or those of a call of the module.

    Attributes:
        paths: for each input of the model, its parameter, and keys and
            indices within that; `None` if the parameters are not known.
    """

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any], module: Any, program: Any = None) -> None:
        self._tree: Any = importlib.import_module("torch.utils._pytree")
        kinds = None
        if program is not None and program.example_inputs is not None:
            # Arguments by keyword are in the order of the program, which is that of the inputs.
            args, kwargs = program.example_inputs
            kinds = [of.arg for of in program.graph_signature.input_specs if of.kind.name == "USER_INPUT"]
        self._given, self._form = self._tree.tree_flatten((tuple(args), dict(kwargs)))
        if kinds is not None and len(kinds) == len(self._given):
            self._places = [i for i, kind in enumerate(kinds) if type(kind).__name__ != "ConstantArgument"]
        else:
            self._places = [i for i, leaf in enumerate(self._given) if hasattr(leaf, "__dlpack__")]
        self._parameters: list[str] = []
        self.paths = self._found(module, program)

    def _found(self, module: Any, program: Any) -> list[list[Any]] | None:
        args, kwargs = self._tree.tree_unflatten(range(len(self._given)), self._form)
        names = program.module_call_graph[0].signature.forward_arg_names if program is not None else None
        if module is not None:
            bound = inspect.signature(getattr(module, "forward", module)).bind(*args, **kwargs).arguments
        elif names is not None:
            bound = dict(zip(names, args, strict=False)) | kwargs
        else:
            return None
        self._parameters = list(bound)
        steps = {i: path for path, i in self._tree.tree_flatten_with_path(dict(bound))[0]}
        key = lambda step: next(getattr(step, of) for of in ("key", "idx", "name") if hasattr(step, of))
        return [[key(step) for step in steps[i]] for i in self._places]

    def names(self) -> list[str]:
        """A name for each input of the model, as exporters make them."""
        return ["_".join(map(str, path)) for path in self.paths or ()]

    def keep(self, inputs: Sequence[str]) -> None:
        """Forgets arguments that the exporter of TorchScript dropped, as the module reads them nowhere."""
        names = self.names()
        if len(inputs) < len(names) and set(inputs) <= set(names):
            kept = [i for i, name in enumerate(names) if name in inputs]
            self._places = [self._places[i] for i in kept]
            self.paths = [path for i, path in enumerate(self.paths or ()) if i in kept]

    def specs(self, dynamic_shapes: Any) -> list[Any]:
        """The sizes of each input of the model."""
        if not isinstance(dynamic_shapes, Mapping):
            if len(dynamic_shapes) != len(self._parameters):
                what = "the number of inputs in dynamic_shapes"
                raise UsageError.mismatch(what, len(dynamic_shapes), len(self._parameters))
            dynamic_shapes = dict(zip(self._parameters, dynamic_shapes, strict=True))
        found = []
        for path in self.paths or ():
            spec = dynamic_shapes
            for key in path:
                spec = spec.get(key) if isinstance(spec, Mapping) else spec and spec[key]
            found.append(spec)
        return found

    def values(self, inputs: Sequence[str]) -> dict[str, Any]:
        """The tensors of the export, by the inputs of the model."""
        if len(self._places) != len(inputs):
            raise UsageError.mismatch("the number of tensors among the arguments", len(self._places), len(inputs))
        torch: Any = importlib.import_module("torch")
        each = zip(inputs, self._places, strict=True)
        return {name: torch.as_tensor(self._given[i]).detach().cpu() for name, i in each}

    def call(self, module: Any, tensors: Sequence[Any]) -> list[Any]:
        """The tensors that a module returns for others in the place of those of the export."""
        leaves = list(self._given)
        for i, tensor in zip(self._places, tensors, strict=True):
            # A module may write into its arguments.
            own = leaves[i]
            leaves[i] = tensor.to(own.device, copy=True) if hasattr(own, "device") else tensor.item()
        args, kwargs = self._tree.tree_unflatten(leaves, self._form)
        return [leaf for leaf in self._tree.tree_leaves(module(*args, **kwargs)) if hasattr(leaf, "__dlpack__")]


def named_axes(inputs: Sequence[str], dynamic_shapes: Any, arguments: Arguments | None) -> dict[tuple[str, int], str]:
    """The names that `dynamic_shapes` gives to axes of inputs."""
    if dynamic_shapes is None:
        return {}
    if arguments is not None and arguments.paths is not None:
        specs = arguments.specs(dynamic_shapes)
    elif isinstance(dynamic_shapes, Mapping) and set(dynamic_shapes) <= set(inputs):
        specs = [dynamic_shapes.get(name) for name in inputs]
    else:
        specs = list(_leaves(dynamic_shapes))
    if len(specs) != len(inputs):
        raise UsageError.mismatch("the number of inputs in dynamic_shapes", len(specs), len(inputs))
    each = zip(inputs, specs, strict=True)
    return {(name, axis): word for name, spec in each for axis, size in _sizes(spec) if (word := _word(size))}


def dynamic_axes(inputs: Sequence[str], dynamic_shapes: Any, arguments: Arguments) -> dict[str, dict[int, str]]:
    """The open axes of inputs as the exporter of TorchScript takes them: each has a name."""
    each = zip(inputs, arguments.specs(dynamic_shapes), strict=True)
    axes = {name: {i: _word(of) or f"{name}_{i}" for i, of in _sizes(spec) if _is_open(of)} for name, spec in each}
    return {name: of for name, of in axes.items() if of}
