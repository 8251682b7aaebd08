"""Plans: lazy, sliced, pickled; with the bits of the whole."""

import pickle

import numpy as np
import pytest
from conftest import bits
from hypothesis import given
from hypothesis import strategies as st

import gradus

PLANS = [
    gradus.plan.arange(0, 1000, 3),
    gradus.plan.arange(0.1, 100, 0.3, dtype="float32"),
    gradus.plan.linspace(-1, 1, 500, dtype="float64"),
    gradus.plan.linspace(0, 9, 500, False, dtype="float8_e4m3fn"),
    gradus.plan.logspace(-3, 3, 500),
    gradus.plan.logspace(0, 2, 300, base=7, dtype="int64"),
    gradus.plan.geomspace(1, 1e6, 400, dtype="bfloat16"),
    gradus.plan.linspace(0.1, 0.7, 400, profile="numpy"),
    gradus.plan.linspace(0, 1 + 2j, 300),
]


def same(a, b):
    return a.dtype == b.dtype and bits(a).tolist() == bits(b).tolist()


@given(st.sampled_from(PLANS), st.slices(500), st.slices(500))
def test_slices_have_the_bits_of_the_whole(plan, first, second):
    whole = plan.to_numpy()
    part = plan[first]
    assert len(part) == len(whole[first]) and same(part.to_numpy(), whole[first])
    assert same(part[second].to_numpy(), whole[first][second])
    assert same(np.asarray(part), whole[first])


@given(st.sampled_from(PLANS), st.integers(0, 300), st.integers(0, 300))
def test_chunks_have_the_bits_of_the_whole(plan, lo, hi):
    lo, hi = sorted((min(lo, len(plan)), min(hi, len(plan))))
    whole = plan.to_numpy()
    assert same(plan.chunk(lo, hi), whole[lo:hi])
    out = np.zeros(hi - lo, whole.dtype)
    assert plan.chunk(lo, hi, out=out) is out and same(out, whole[lo:hi])


@given(st.sampled_from(PLANS), st.slices(400))
def test_pickles_are_small_and_come_back(plan, part):
    plan = plan[part]
    pickled = pickle.dumps(plan)
    back = pickle.loads(pickled)
    assert len(pickled) < 400
    assert back == plan and hash(back) == hash(plan) and same(back.to_numpy(), plan.to_numpy())


def test_a_damaged_pickle_is_refused():
    rebuild, arguments = gradus.plan.arange(10).__reduce__()
    for window in [(0, 1, 11), (5, 1, 6), (-1, 1, 1), (0, 2**62, 5), (9, -1, 11), (0, 1, -1)]:
        with pytest.raises(gradus.errors.ArgumentError, match="cannot unpickle a plan"):
            rebuild(*arguments[:-1], window)


def test_elements_and_length():
    plan = gradus.plan.logspace(0, 9, 10**15)
    assert len(plan) == 10**15 and plan.shape == (10**15,) and plan.nbytes == 8 * 10**15
    assert plan[0] == 1 and plan[-1] == 1e9 and plan[np.int64(10**15 - 1)] == 1e9
    assert isinstance(plan[0], np.float64) and plan.dtype == np.float64
    for index in (10**15, -(10**15) - 1, 10**30):
        with pytest.raises(IndexError):
            plan[index]
    with pytest.raises(TypeError):
        plan["a"]
    with pytest.raises(gradus.errors.ArgumentError, match="the chunk is 5 to 3"):
        plan.chunk(5, 3)
    assert list(gradus.plan.arange(3)) == [0, 1, 2]


def test_text_makes_the_plan_again():
    for plan in PLANS:
        assert eval(repr(plan)) == plan, plan  # noqa: S307
        for part in (slice(3, 17), slice(20, None, -3), slice(None, None, 2)):
            again = eval(repr(plan[part]))  # noqa: S307
            assert same(again.to_numpy(), plan[part].to_numpy())


def test_a_strided_plan_writes_into_out():
    plan = gradus.plan.arange(0, 10**6)[::-7]
    out = np.zeros(len(plan), np.int64)
    assert plan.to_numpy(out) is out and np.array_equal(out, np.arange(10**6)[::-7])
    with pytest.raises(gradus.errors.ShapeError):
        plan.to_numpy(out[1:])
    wide = gradus.plan.arange(0, 2**62)[:: 2**60]
    assert wide.to_numpy().tolist() == list(range(0, 2**62, 2**60))


def test_arrays_of_plans_are_new_and_of_any_type():
    plan = gradus.plan.arange(5)
    assert np.asarray(plan, "float32").dtype == np.float32
    with pytest.raises(ValueError, match="a plan has no array yet"):
        plan.__array__(copy=False)


def test_elements_are_found_by_bisection():
    plan = gradus.plan.arange(10**15)
    assert 10**14 in plan and -1 not in plan and 0.5 not in plan and "x" not in plan
    assert plan.index(10**14) == 10**14 and plan[::-1].index(5) == 10**15 - 6
    assert gradus.plan.linspace(0, 10, 10**12, dtype=int).count(3) == 10**11
    with pytest.raises(ValueError, match="-1 is not in the plan"):
        plan.index(-1)
    wrapping = gradus.plan.arange(0, 600, dtype="uint8")
    assert wrapping.count(3) == 3 and wrapping.index(255) == 255
    assert 1j in gradus.plan.linspace(0, 2j, 3) and gradus.plan.arange(0).count(0) == 0
