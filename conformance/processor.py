"""Features of the processor on which what other programs return depends."""

from numpy._core._multiarray_umath import __cpu_features__

# Features that the widest vectors of oneDNN need. NPY_DISABLE_CPU_FEATURES does not hide these names, but groups of them.
AVX512 = ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL")


def has_avx512() -> bool:
    return all(__cpu_features__[name] for name in AVX512)
