"""Plans of memory beside the memory that ONNX Runtime plans and allocates for the same sizes.

    python bench/plan.py GRADUS batch=1,seq=128 MODEL…

Sizes that a model does not have are left out. ONNX Runtime optimizes nothing, so that both plan for the same values. In its second run
it allocates what it planned in the first as one block: the column `planned`. `allocated` is what its first run took from the arena.
Weights without a file are not read: the file is made of zeros in a copy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def child(path, sizes):
    """Runs a model twice with an arena that grows by what is asked for, and logs each growth."""
    import numpy as np
    import onnxruntime as ort

    ort.set_default_logger_severity(0)
    memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    growth = {"max_mem": 0, "arena_extend_strategy": 1, "max_dead_bytes_per_chunk": -1}
    start = {"initial_chunk_size_bytes": 256, "initial_growth_chunk_size_bytes": 256}
    ort.create_and_register_allocator(memory, ort.OrtArenaCfg({**growth, **start}))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 0
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.use_env_allocators", "1")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    types = {
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
        "tensor(float)": np.float32,
        "tensor(bool)": np.bool_,
    }
    given = {
        it.name: np.zeros([int(sizes[x]) if isinstance(x, str) else x for x in it.shape], types[it.type])
        for it in session.get_inputs()
    }
    for _ in range(2):
        os.write(2, b"RUN\n")
        session.run(None, given)


def onnxruntime(path, sizes):
    """Bytes that the first run allocated, and those of the block that the second run did."""
    words = [sys.executable, __file__, "--child", path, json.dumps(sizes)]
    log = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    first, second = log.split("RUN\n")[1:]
    grown = [[int(x) for x in re.findall(r"Extended allocation by (\d+)", part)] for part in (first, second)]
    return sum(grown[0]), sum(grown[1])


def main(gradus, sizes, models):
    sizes = dict(pair.split("=") for pair in sizes.split(","))
    print(f"{'model':20} {'values':>14} {'live':>12} {'plan':>12} {'in place':>12} {'planned':>12} {'allocated':>12}")
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder) / "weights.bin", "wb") as weights:
            weights.truncate(1 << 30)
        for path in models:
            copy = shutil.copy(path, folder)
            inputs = json.loads(
                subprocess.run([gradus, "show", copy, "--json"], capture_output=True, text=True, check=True).stdout
            )["inputs"]
            names = {str(x) for it in inputs for x in it["shape"]} & sizes.keys()
            dims = [word for name in sorted(names) for word in ("--dim", f"{name}={sizes[name]}")]
            words = [gradus, "cost", copy, *dims, "--plan", "--json"]
            plan, in_place = (
                json.loads(subprocess.run([*words, *more], capture_output=True, text=True, check=True).stdout)
                for more in ([], ["--in-place"])
            )
            allocated, planned = onnxruntime(copy, sizes)
            columns = [plan["apart"], plan["live"], plan["bytes"], in_place["bytes"], planned, allocated]
            print(f"{Path(path).name:20} {columns[0]:14,}" + "".join(f" {x:12,}" for x in columns[1:]))


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2], json.loads(sys.argv[3]))
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
