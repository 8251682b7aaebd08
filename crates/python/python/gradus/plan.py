"""Sequences that are planned and not written, of any length.

A plan of 10**15 elements takes a few hundred bytes, is checked when it
is made, and writes any of its elements anywhere, with the bits of the
whole.

Example:
    >>> import gradus
    >>> plan = gradus.plan.logspace(0, 9, 10**12)
    >>> len(plan), plan[-1]
    (1000000000000, np.float64(1000000000.0))
    >>> plan.chunk(0, 3)
    array([1., 1., 1.])
    >>> len(plan[::1000])
    1000000000
"""

from ._native import Plan
from ._native import plan_arange as arange
from ._native import plan_arange as range
from ._native import plan_geomspace as geomspace
from ._native import plan_linspace as linspace
from ._native import plan_logspace as logspace

__all__ = ["Plan", "arange", "geomspace", "linspace", "logspace", "range"]
