"""Edits of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _models
from .base import Base

if TYPE_CHECKING:
    from . import EditedModel, Model


class Edits(Base):
    """Methods that return edited models."""

    def with_inputs_set(self, values: Mapping[str, Any]) -> Model:
        """Replaces inputs by constants.

        Args:
            values: arrays, or numbers and lists, by name of an input, as for
                `gradus.Model.run`.

        Returns:
            A model without these inputs.

        Raises:
            UsageError: if an input has no such name, or a value is not what the
                model declares.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/range.onnx")
            >>> ends = {"start": 0, "limit": 10, "delta": 2}
            >>> model = model.with_inputs_set(ends)
            >>> print(list(model.inputs), model.infer()["positions"])
            [] float32[5]
        """
        return _models.Model(self._native._with_inputs_set(dict(values)))

    def edit(
        self,
        *,
        extract: tuple[Sequence[str], Sequence[str]] | None = None,
        add_outputs: Sequence[str] = (),
        remove_outputs: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        rename_dims: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        dynamic: Mapping[str, Sequence[Any]] | None = None,
        sizes: Mapping[str, str] | None = None,
        dims: Mapping[str, int] | None = None,
        input_types: Mapping[str, str | tuple[str, Any, Any]] | None = None,
        output_types: Mapping[str, str] | None = None,
        layouts: Mapping[str, str] | None = None,
        floats: str | None = None,
        keep: Sequence[str] = (),
        max_error: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        embed: bool = False,
        strip_weights: bool = False,
        weights: Model | None = None,
        share_weights: bool = False,
        metadata: Mapping[str, str | None] | None = None,
        docs: bool = True,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> EditedModel:
        """Changes parts, names, sizes, types and weights of the model.

        The changes are made in the order of these arguments, and this model
        stays as it is.

        Everything that no argument names stays as it is in the file.

        Args:
            extract: values that become the inputs, with their inferred types,
                and values that become the outputs; an empty list stands for the
                inputs or outputs of the model.
            add_outputs: values that become outputs too.
            remove_outputs: outputs that are none any more; what only they need
                goes.
            rename: new names of inputs, outputs or values, by the old ones.
            rename_dims: new names of symbols of sizes, by the old ones.
            values: constants in the place of inputs, as for `gradus.Model.run`.
            defaults: defaults of inputs; `None` takes the one that an input
                has.
            input_shapes: sizes that the model declares of inputs.
            dynamic: sizes of inputs that are opened, numbers and names:
                constants that were sizes become expressions of them.
            sizes: with `dynamic`, what a number of a node is, where several
                sizes fit, by the name of the node.
            dims: symbols of sizes, and the numbers in their place.
            input_types: element types that runs give, with a Cast after each
                input; or a triple of the type, the factor and the summand
                (`None`, a number, or one for each channel) that make images of
                bytes what the model reads.
            output_types: element types that runs return, with a Cast before
                each output.
            layouts: axes of inputs and outputs in another order, with a
                Transpose next to each: `"NHWC"` where the model has N and C
                first, else `"HW->WH"`.
            floats: `"float16"` or `"bfloat16"`: weights and nodes of that type,
                where runs show what that loses; inputs and outputs keep theirs.
            keep: with `floats`, nodes that stay in float32, by their names or
                those of values that they compute.
            max_error: with `floats`, the largest difference of an output, as a
                part of its largest magnitude; few nodes with which it holds
                stay in float32. Without it, only those that overflow do.
            inputs: with `floats`, inputs of the run, as for
                `gradus.Model.run`; others are random.
            embed: put all weights into the model.
            strip_weights: leave out weights of at least 1,024 bytes, and have
                their types, shapes and digests.
            weights: a model that has weights that were left out, by name.
            share_weights: keep equal weights once.
            metadata: entries of the metadata; `None` removes one.
            docs: keep texts that document parts of the model, and properties of
                nodes and values.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `notes` say what each edit did, and whose
            `conditions` say which inputs it takes.

        Raises:
            UsageError: if a name is not known, or taken.
            GraphError: if the edited model contradicts itself, with the node.
            UnsupportedError: if the model is not one of ONNX.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> edited = model.edit(extract=([], ["phase"]), dims={"batch": 1})
            >>> print(edited.inputs["tokens"], list(edited.outputs))
            int64[1, seq] ['phase']
        """
        edits: list[tuple[str, str, Any]] = []
        if extract is not None:
            edits.append(("extract", "", (list(extract[0]), list(extract[1]))))
        edits += [("add_output", name, None) for name in add_outputs]
        edits += [("remove_output", name, None) for name in remove_outputs]
        named: list[tuple[str, Mapping[str, Any] | None]] = [
            ("rename", rename),
            ("rename_dim", rename_dims),
            ("set", values),
            ("default", defaults),
            ("input_shape", input_shapes),
            ("dim", dims),
            ("input_type", {name: _scaled(of) for name, of in (input_types or {}).items()}),
            ("output_type", output_types),
            ("layout", layouts),
        ]
        edits += [(kind, name, value) for kind, all in named[:5] for name, value in (all or {}).items()]
        if dynamic:
            edits.append(("dynamic", "", (list(dynamic.items()), list((sizes or {}).items()))))
        edits += [(kind, name, value) for kind, all in named[5:] for name, value in (all or {}).items()]
        if floats is not None:
            edits.append(("float16", "", (floats, list(keep), max_error, list((inputs or {}).items()))))
        switches = [("embed", embed), ("strip_weights", strip_weights), ("share_weights", share_weights)]
        edits += [(kind, "", None) for kind, wanted in switches if wanted]
        if weights is not None:
            edits.append(("weights", "", weights._native))
        edits += [("metadata", key, value) for key, value in (metadata or {}).items()]
        if not docs:
            edits.append(("no_docs", "", None))
        return _models.EditedModel(*self._native._edit(edits, (max_bytes, None, timeout)))

    def generalize(
        self,
        *others: Model,
        dynamic: Mapping[str, Sequence[Any]] | None = None,
        sizes: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> EditedModel:
        """Makes one model for the sizes of several exports of one network.

        The models are aligned node by node; constants that differ become
        expressions of the sizes of inputs. The result is proved, or compared by
        runs, to be each model at its sizes.

        Args:
            *others: exports of the network at other sizes.
            dynamic: sizes of inputs, numbers and names; the others are open
                where they differ.
            sizes: what a number of a node is, where several sizes fit, by the
                name of the node.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `notes` say what was changed and compared, and whose
            `conditions` say which sizes it takes.

        Raises:
            UsageError: if a name is not known.
            GraphError: if the models differ in more than sizes, if no
                expression fits, or if several do.
            UnsupportedError: if a model is not one of ONNX.

        Example:
            >>> import gradus
            >>> first = gradus.load("examples/fixed_1x4.onnx")
            >>> second = gradus.load("examples/fixed_2x6.onnx")
            >>> shapes = {"x": ["batch", "seq", 8]}
            >>> print(first.generalize(second, dynamic=shapes).outputs["y"])
            float32[batch, seq, 2, 4]
        """
        shapes, nodes = list((dynamic or {}).items()), list((sizes or {}).items())
        natives = [other._native for other in others]
        return _models.EditedModel(*self._native._generalize(natives, shapes, nodes, (max_bytes, None, timeout)))

    def join(
        self, second: Model, links: Mapping[str, str], *, keep: Sequence[str] = (), prefix: str = "second/"
    ) -> EditedModel:
        """Makes the model that runs this one, and another on what it returns.

        Inputs of one name are one input; other names that both models have get
        a prefix in the second.

        Args:
            second: the model that goes on.
            links: outputs of this model, each with the input of the second that
                it is.
            keep: linked outputs that stay outputs.
            prefix: the beginning of new names in the second model.

        Returns:
            The joined model.

        Raises:
            UsageError: if a link names no output or no input, or their types
                differ.
            UnsupportedError: if the models have other operator sets.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> first, second = model.split(["positions"])
            >>> links = {name: name for name in second.inputs}
            >>> list(first.join(second, links).outputs)
            ['position_ids', 'token_count', 'phase']
        """
        native, notes = self._native._join(second._native, list(links.items()), list(keep), prefix)
        return _models.EditedModel(native, notes, [])

    def split(self, *at: Sequence[str]) -> list[EditedModel]:
        """Parts the model in two or more, which joined again are the whole.

        The first part goes up to some values, the next goes on from there.

        Values of earlier parts that a later one reads pass too: the first part
        has them among its outputs.

        Args:
            *at: the values of a cut; each cut after the first parts the rest.

        Returns:
            The parts, one more than cuts.

        Raises:
            UsageError: if a value is not known, is none that a node computes,
                or nothing follows from the values.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> [list(part.inputs) for part in model.split(["positions"])]
            [['tokens'], ['positions', 'seq_float']]
        """
        parts = self._native._split([list(cut) for cut in at])
        return [_models.EditedModel(native, notes, []) for native, notes, _ in parts]


def _scaled(of: str | tuple[str, Any, Any]) -> tuple[str, list[float], list[float]]:
    """An element type with the factors and summands of an image."""
    name, scale, offset = (of, None, None) if isinstance(of, str) else of
    numbers = [[] if of is None else [float(number) for number in np.ravel(of)] for of in (scale, offset)]
    return str(name), numbers[0], numbers[1]
