"""Programs that run models, for `gradus.Model.check_in` and `gradus check --with`."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, ClassVar, Protocol, cast

import numpy as np

from .errors import UnsupportedError, UsageError

#: The names of the programs.
RUNTIMES = ("onnxruntime", "openvino", "paddle")


class Runnable(Protocol):
    """A program that runs models. One that reads no file has the attribute `reads_file`, which is false."""

    def run(self, model: str | os.PathLike[str], inputs: dict[str, Any], values: list[str]) -> list[Any]:
        """The values of these names, and `None` for each that the program does not show."""
        ...


class Runtime(Runnable, Protocol):
    """A program that runs models in more than one way."""

    def anew(self, threads: int | None, plain: bool, processor: str | None) -> Runtime:
        """The program with nothing loaded yet: with that number of threads, without optimizations, with those instructions."""
        ...

    def processors(self) -> list[str]:
        """Names of the sets of instructions that `anew` takes."""
        ...


def must_be_known(name: str, names: Sequence[str]) -> None:
    """Refuses a runtime that is none of these names and no command line."""
    if name not in names and not name.startswith("cmd:"):
        raise UsageError.mismatch("the runtime", f'"{name}"', " or ".join((*names, "cmd:COMMAND")))


def find(name: str) -> Runtime:
    """The runtime of a name of `RUNTIMES`; `"plain onnxruntime"` is one that optimises nothing."""
    runtimes: dict[str, Callable[[], Runtime]] = {
        "onnxruntime": OnnxRuntime,
        "plain onnxruntime": lambda: OnnxRuntime(plain=True),
        "openvino": OpenVino,
        "paddle": Paddle,
    }
    return runtimes[name]()


class OnnxRuntime:
    """ONNX Runtime on the processor, as it runs a model for everybody, or node by node as the model says."""

    def __init__(self, threads: int | None = None, plain: bool = False) -> None:
        self._threads, self._plain = threads, plain
        self._library: Any = importlib.import_module("onnxruntime")
        self._sessions: dict[tuple[str, ...], Any] = {}

    def run(self, model: str | os.PathLike[str], inputs: dict[str, Any], values: list[str]) -> list[Any]:
        session = self._session(os.fspath(model), tuple(values))
        return session.run(values, inputs)

    def anew(self, threads: int | None, plain: bool, processor: str | None) -> Runtime:
        _no_processor(processor, self)
        return OnnxRuntime(threads, plain)

    def processors(self) -> list[str]:
        raise UnsupportedError("ONNX Runtime has no switch for the instructions of a processor")

    def _session(self, model: str, values: tuple[str, ...]) -> Any:
        if (model, *values) not in self._sessions:
            options = self._library.SessionOptions()
            options.log_severity_level = 3
            if self._threads is not None:
                options.intra_op_num_threads = options.inter_op_num_threads = self._threads
            if self._plain:
                options.graph_optimization_level = self._library.GraphOptimizationLevel.ORT_DISABLE_ALL
                options.add_session_config_entry("session.disable_prepacking", "1")
            folder = os.path.dirname(os.path.abspath(model))
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
            with open(model, "rb") as file:
                content = file.read() + _outputs(values)
            session = self._library.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            self._sessions[(model, *values)] = session
        return self._sessions[(model, *values)]


def _outputs(names: tuple[str, ...]) -> bytes:
    """Bytes after those of an ONNX model that make these values outputs too: parts of a message that are written twice are
    merged."""
    graph = b"".join(_field(12, _field(1, name.encode())) for name in names)
    return _field(7, graph)


def _field(number: int, content: bytes) -> bytes:
    """A field of Protocol Buffers that has a length."""
    length, rest = bytearray(), len(content)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    return bytes([number << 3 | 2, *length, rest]) + content


class OpenVino:
    """OpenVINO on the processor, in float32 where the model says so."""

    #: Sets of instructions, by the names of oneDNN, whose kernels the program has.
    PROCESSORS = ("SSE41", "AVX2", "AVX512_CORE")

    def __init__(self, threads: int | None = None) -> None:
        self._config = {"INFERENCE_PRECISION_HINT": "f32"}
        if threads is not None:
            self._config["INFERENCE_NUM_THREADS"] = str(threads)
        self._core = importlib.import_module("openvino").Core()
        self._compiled: dict[tuple[str, ...], Any] = {}

    def run(self, model: str | os.PathLike[str], inputs: dict[str, Any], values: list[str]) -> list[Any]:
        key = (os.fspath(model), *values)
        if key not in self._compiled:
            self._compiled[key] = self._compile(key[0], values)
        compiled, parameters, results = self._compiled[key]
        request = compiled.create_infer_request()
        request.infer({parameters[name]: array for name, array in inputs.items() if name in parameters})
        tensors = [None if index is None else request.get_output_tensor(index) for index in results]
        return [None if tensor is None else np.array(tensor.data) for tensor in tensors]

    def anew(self, threads: int | None, plain: bool, processor: str | None) -> Runtime:
        if plain:
            raise UnsupportedError("OpenVINO has no switch that turns its optimizations off")
        if processor is not None:
            return Elsewhere("openvino", {"ONEDNN_MAX_CPU_ISA": processor})
        return OpenVino(threads)

    def processors(self) -> list[str]:
        return list(self.PROCESSORS)

    def _compile(self, path: str, values: list[str]) -> tuple[Any, dict[str, int], list[int | None]]:
        """The compiled model, the number of each input, and the number of the output that has each value."""
        model = self._core.read_model(path)
        ports: dict[str, Any] = {}
        for operation in model.get_ordered_ops():
            if operation.get_type_name() != "Result":
                for index, port in enumerate(operation.outputs()):
                    own = operation.friendly_name
                    alone = own if operation.get_output_size() == 1 else f"{own}.{index}"
                    for name in (*port.names, alone):
                        ports.setdefault(name, port)
        parameters = {}
        for number, port in enumerate(model.inputs):
            for name in (*port.names, port.get_node().friendly_name):
                parameters[name] = number
        shown = {_key(result.get_node().input(0).get_source_output()) for result in model.outputs}
        wanted = {name: ports[name] for name in values if name in ports}
        for port in wanted.values():
            if _key(port) not in shown:
                shown.add(_key(port))
                model.add_outputs([port])
        # A value that the library replaces while it adds outputs is not shown.
        numbers = {_key(result.get_node().input(0).get_source_output()): number for number, result in enumerate(model.outputs)}
        results = [numbers.get(_key(wanted[name])) if name in wanted else None for name in values]
        return self._core.compile_model(model, "CPU", self._config), parameters, results


def _key(port: Any) -> tuple[str, int]:
    """The node and the number of a port."""
    return port.get_node().get_name(), port.get_index()


class Paddle:
    """Paddle on the processor, which runs its own programs: `.json` or `.pdmodel`, with `.pdiparams` beside."""

    def __init__(self) -> None:
        self._library: Any = importlib.import_module("paddle")
        self._loaded: dict[tuple[str, ...], tuple[Any, dict[str, Any], Any]] = {}

    def run(self, model: str | os.PathLike[str], inputs: dict[str, Any], values: list[str]) -> list[Any]:
        path = os.fspath(model)
        key = (path, *values)
        with self._static(path.endswith(".pdmodel")):
            executor = self._library.static.Executor(self._library.CPUPlace())
            # A program keeps the operations that fetch its values, so that it shows no others in another run.
            if key not in self._loaded:
                self._loaded[key] = self._load(path, executor)
            program, named, scope = self._loaded[key]
            shown = [named[name] for name in values if name in named]
            arrays = iter(executor.run(program, inputs, shown, scope=scope))
        return [next(arrays) if name in named else None for name in values]

    def anew(self, threads: int | None, plain: bool, processor: str | None) -> Runtime:
        _no_processor(processor, self)
        if threads is not None or plain:
            raise UnsupportedError("the executor of Paddle has no switches for threads and optimizations")
        return Paddle()

    def processors(self) -> list[str]:
        raise UnsupportedError("the executor of Paddle has no switch for the instructions of a processor")

    @contextlib.contextmanager
    def _static(self, old: bool) -> Iterator[None]:
        """The mode of programs, of the old format or the new one, while it lasts."""
        eager = self._library.in_dynamic_mode()
        self._library.enable_static()
        try:
            with self._library.pir_utils.OldIrGuard() if old else contextlib.nullcontext():
                yield
        finally:
            if eager:
                self._library.disable_static()

    def _load(self, path: str, executor: Any) -> tuple[Any, dict[str, Any], Any]:
        """A program, its values by the names that Gradus gives them, and the scope of its parameters."""
        scope = self._library.static.Scope()
        with self._library.static.scope_guard(scope):
            program, _, fetched = self._library.static.load_inference_model(os.path.splitext(path)[0], executor)
        if path.endswith(".pdmodel"):
            tensor = self._library.base.core.VarDesc.VarType.LOD_TENSOR
            return program, {name: value for name, value in program.global_block().vars.items() if value.type == tensor}, scope
        with open(path, "rb") as file:
            saved = json.load(file)["program"]["regions"][0]["blocks"][0]["ops"]
        # Operations of such names write into what they read; of batch_norm_, these are parameters.
        writers = [fields for fields in saved if fields["#"].endswith("_") and not fields["#"].endswith(".batch_norm_")]
        overwritten = {read["%"] for fields in writers for read in fields["I"]}
        block = program.global_block()
        named: dict[str, Any] = {}
        for operation, fields in zip(list(block.ops), saved, strict=True):
            if fields["#"].endswith(".fetch"):
                [name] = [part["AT"]["D"] for part in fields["A"] if part["N"] == "name"]
                named[name] = operation.operand_source(0)
                block.remove_op(operation)
            else:
                outputs = fields["O"] if isinstance(fields["O"], list) else [fields["O"]]
                for output, value in zip(outputs, operation.results(), strict=True):
                    if output["%"] not in overwritten and value.is_dense_tensor_type():
                        named[f"%{output['%']}"] = value
        return program, named, scope


class Elsewhere:
    """A runtime in a process whose environment has variables that the library reads when it is loaded.

    One process serves all runtimes of a name and an environment, as loading a library takes long.
    """

    _numbers: ClassVar[Iterator[int]] = itertools.count()
    _workers: ClassVar[dict[tuple[str, ...], subprocess.Popen[bytes]]] = {}

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self._name, self._environment = name, environment
        self._number = next(self._numbers)

    def run(self, model: str | os.PathLike[str], inputs: dict[str, Any], values: list[str]) -> list[Any]:
        work = (self._number, self._name, os.path.abspath(model), inputs, values)
        worker = self._worker()
        try:
            pickle.dump(work, cast(IO[bytes], worker.stdin))
            cast(IO[bytes], worker.stdin).flush()
            found, refused = pickle.load(cast(IO[bytes], worker.stdout))
        except (OSError, EOFError) as error:
            raise UnsupportedError(f"the process of {self._name} ended with status {worker.wait()}") from error
        if refused is not None:
            raise UnsupportedError(refused)
        return cast(list[Any], found)

    def _worker(self) -> subprocess.Popen[bytes]:
        key = (self._name, *(f"{name}={value}" for name, value in self._environment.items()))
        known = self._workers.get(key)
        if known is None or known.poll() is not None:
            command = [sys.executable, "-c", "from gradus import _runtimes; _runtimes.serve()"]
            path = os.pathsep.join(path for path in sys.path if path)
            environment = {**os.environ, **self._environment, "PYTHONPATH": path}
            known = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            self._workers[key] = known
        return known

    def anew(self, threads: int | None, plain: bool, processor: str | None) -> Runtime:
        if threads is not None or plain or processor is not None:
            raise UnsupportedError("a process of its own has no other settings")
        return Elsewhere(self._name, self._environment)

    def processors(self) -> list[str]:
        return []


def serve() -> None:
    """Runs models for `Elsewhere` until standard input ends; another number is another runtime."""
    answers = os.fdopen(os.dup(1), "wb")
    # Lines that a library prints are no part of an answer.
    os.dup2(2, 1)
    of, runtime = None, None
    while True:
        answer: tuple[list[Any] | None, str | None]
        try:
            number, name, model, inputs, values = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            if runtime is None or of != number:
                of, runtime = number, find(name)
            answer = runtime.run(model, inputs, values), None
        except Exception as error:
            answer = None, str(error) or type(error).__name__
        pickle.dump(answer, answers)
        answers.flush()


def _no_processor(processor: str | None, runtime: Runtime) -> None:
    if processor is not None:
        runtime.processors()
