"""Blocks that stay in a process, and are found by the ones beside it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softmodes._rows import kept as place
from softmodes._rows.centers import CodeCenters
from softmodes._rows.kept import flat, from_flat, keep, kept
from softmodes._rows.tally import nearest_distances
from support import open_store, table

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs memory known by a name")


def some_block(weight=None):
    (block,) = open_store(table(500, (2, 3, 300), seed=1), weight=weight).blocks
    return block


@pytest.mark.parametrize("weight", [None, np.arange(500)])
def test_a_flat_block_is_the_same_block_aligned_and_not_copied(weight):
    block = some_block(weight)
    data = bytearray(flat(block))
    again = from_flat(data)
    assert_array_equal(again.packed, block.packed)
    assert (again.weight is None) == (weight is None)
    if weight is not None:
        assert_array_equal(again.weight, weight)
    centers = CodeCenters(np.zeros((1, 3), np.int32))
    assert_array_equal(
        nearest_distances(again, centers, None), nearest_distances(block, centers, None)
    )
    start = np.frombuffer(data, np.uint8).ctypes.data
    assert 0 < again.packed.ctypes.data - start < len(data), "a copy"
    assert (again.packed.ctypes.data - start) % 64 == 0


def test_a_block_is_kept_until_one_of_another_store_comes():
    data = flat(some_block())
    block = keep("one", "a", data)
    assert kept("one", "a") is block
    assert kept("one", "b") is None
    other = keep("other", "b", data)
    assert kept("other", "b") is other
    assert kept("other", "a") is None
    assert kept("one", "b") is None


def holding(told, data):
    """Keep a block, say so, and live on until told to end."""
    keep("store", "block", data)
    told.send(os.getpid())
    told.recv()


def looking(told):
    block = kept("store", "block")
    told.send(None if block is None else block.packed.copy())


@linux_only
def test_a_block_is_found_by_a_process_beside_and_gone_with_the_last_that_holds_it():
    context = multiprocessing.get_context("fork")
    block = some_block()

    def found_by_another():
        here, there = context.Pipe()
        other = context.Process(target=looking, args=(there,))
        other.start()
        found = here.recv()
        other.join()
        return found

    here, there = context.Pipe()
    holder = context.Process(target=holding, args=(there, flat(block)))
    holder.start()
    pid = here.recv()
    assert_array_equal(found_by_another(), block.packed)
    os.kill(pid, signal.SIGKILL)
    holder.join()
    assert found_by_another() is None


@linux_only
def test_memory_that_is_not_whole_yet_is_not_taken():
    unfinished = os.memfd_create("softmodes-store-half", os.MFD_ALLOW_SEALING)
    os.write(unfinished, b"x" * 100)
    mine = f"/proc/{os.getpid()}/fd/{unfinished}"
    assert os.readlink(mine) == "/memfd:softmodes-store-half (deleted)"
    assert mine in place._links_beside(), "not looked at: nothing tested"
    assert kept("store", "half") is None
    os.close(unfinished)


def test_without_memory_by_name_a_process_keeps_its_own_copy(monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    block = some_block()
    assert_array_equal(keep("alone", "a", flat(block)).packed, block.packed)
    assert kept("alone", "a") is not None
