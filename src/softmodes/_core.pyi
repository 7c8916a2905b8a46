from collections.abc import Sequence
from typing import Annotated, Final, overload

import numpy
from numpy.typing import NDArray


class Layout:
    """Where each feature lies in a packed row."""

    @overload
    def __init__(self, n_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ignored: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, n_codes: Sequence[int], ignored: Sequence[int]) -> None: ...

    def __getstate__(self) -> tuple[list[int], list[int]]: ...

    def __setstate__(self, arg: tuple[Sequence[int], Sequence[int]], /) -> None: ...

    MOST_CODES: Final[int] = ...
    """The most codes that a feature may have."""

    @property
    def n_features(self) -> int: ...

    @property
    def stride(self) -> int:
        """Bytes of a row."""

    @property
    def bit_bytes(self) -> int:
        """Bytes of eight binary features each."""

    @property
    def n_nibbles(self) -> int:
        """Nibbles of a row besides."""

    @property
    def n_cells(self) -> int:
        """Cells of a cluster in dense counts."""

    @property
    def n_codes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """Cells of feature j hold codes 0 .. n_codes[j] - 1."""

    @property
    def ignored(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """The code (or -1) that is at distance 0 from every center."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Where the cells of each feature start in dense counts."""

    @property
    def bits(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """Bits of each feature."""

    @property
    def byte(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """The first byte of each feature."""

    @property
    def shift(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)]:
        """Bits below each feature in its byte."""

    @property
    def sparse_features(self) -> tuple[int, ...]:
        """Features of more than 256 codes, which dense counts leave out."""

class Block:
    """Packed rows, numbered from first_row in the whole table."""

    def __init__(self, layout: Layout, packed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], first_row: int = 0, weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, fit_layout: Layout | None = None) -> None: ...

def pack_columns(layout: Layout, columns: Sequence[Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]], packed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]: ...

def pack_transposed(layout: Layout, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], packed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]: ...

def pack_matrix(layout: Layout, matrix: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], remap: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], packed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def unpack(block: Block, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def make_local(codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_codes: int, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]: ...

def presence(matrix: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, seen: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

class WidePrices:
    """What the values of all sparse features cost."""

    def __init__(self, features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], usual: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: ValueCells, bonus: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Centers:
    """What rows are compared with."""

    @overload
    def __init__(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], feature_weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @overload
    def __init__(self, prices: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_values: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sparse: WidePrices, resolution: int) -> None: ...

class SoftSum:
    """What a soft tally adds up; sums in two words of 64 bits."""

    @property
    def least(self) -> tuple[int, int]: ...

    @property
    def log(self) -> tuple[int, int]: ...

    @property
    def sparse(self) -> tuple: ...

class TallyOut:
    """
    Where a tally goes: counts and cluster_sizes are added to, labels and distances overwritten.
    """

    def __init__(self, counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')] | None = None, cluster_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, distances: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None: ...

class TallySum:
    """What a tally adds up."""

    @property
    def cost(self) -> int: ...

    @property
    def fingerprint(self) -> int: ...

def tally(block: Block, centers: Centers, tie_key: int | None, out: TallyOut, n_threads: int) -> TallySum: ...

def update(block: Block, centers: Centers, changed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tie_key: int | None, kept: TallyOut, n_threads: int) -> TallySum: ...

def pass_bytes(layout: Layout, n_centers: int, feature_weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, n_threads: int = 1) -> int: ...

def soft_tally(block: Block, centers: Centers, tie_key: int | None, counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cluster_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> SoftSum: ...

def score_rows(block: Block, centers: Centers, tie_key: int | None, totals: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')] | None, memberships: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')] | None, logs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, n_threads: int) -> None: ...

def score_bytes(layout: Layout, n_centers: int, n_threads: int = 1) -> int: ...

def distances(block: Block, centers: Centers, n_threads: int, out: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def candidate_totals(block: Block, candidates: Centers, current: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

@overload
def candidate_totals(block: Block, candidates: Centers, current: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

@overload
def nearer(block: Block, centers: Centers, current: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C')]]: ...

@overload
def nearer(block: Block, centers: Centers, current: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]]: ...

def sparse_counts(block: Block, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, n_threads: int) -> tuple: ...

def instruction_sets() -> list[str]: ...

def instruction_set() -> str: ...

def use_instruction_set(name: str) -> bool: ...

class DenseCounts:
    """Counts of all but the sparse features."""

    def __init__(self, layout: Layout, counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_values: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def draw_dense(counts: DenseCounts, t: float, key: int, centers: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def expected_cost_dense(counts: DenseCounts, feature_weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> float: ...

def modes_cost_dense(counts: DenseCounts, feature_weight: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> int: ...

def merged_likelihoods(dense: DenseCounts, wide: WideCounts | None, cluster_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, feature_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bits: int, cluster: int | None = None) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

class PriceSource:
    """What prices are made of."""

    def __init__(self, counts: DenseCounts, latent: bool, totals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: float, feature_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, factor: int = 0, less: int = 0) -> None: ...

def fixed_prices_and_spans(source: PriceSource, resolution: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], raised: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')] | None, kept: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def fixed_prices(source: PriceSource, resolution: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], raised: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu')] | None, n_threads: int) -> None: ...

def fixed_numbers(prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], resolution: int, out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], raised: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def sum_of_least(prices: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[int, int]: ...

def sum_of_raised_dense(counts: DenseCounts, less: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], raised: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> int: ...

def sum_by_shares(prices: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], raised: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], more: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> float: ...

def value_shares(totals: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def latent_bases(sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def changed_rows(now: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], before: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

def draw_tickets(key: int, n: int, bound: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]: ...

@overload
def search_tickets(by_row: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_once: int, tickets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

@overload
def search_tickets(by_row: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_once: int, tickets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

@overload
def search_tickets(by_row: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_once: int, tickets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

@overload
def search_tickets(by_row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at_once: int, tickets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

def portable_log2(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

class WideCounts:
    """Counts of all sparse features, by cluster."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_values: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_clusters: int) -> None: ...

class ValueCells:
    """Which clusters have something of each value, ascending."""

    def __init__(self, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_clusters: int) -> None: ...

def draw_wide(counts: WideCounts, t: float, key: int, centers: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def expected_costs_wide(counts: WideCounts, n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def mode_counts_wide(counts: WideCounts, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

def counts_by_value(counts: WideCounts, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]: ...

def wide_prices(counts: WideCounts, cells: ValueCells, by_value: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], latent: bool, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prior: float, feature_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], usual: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], bonus: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], observed: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def fixed_bonuses(counts: WideCounts, cells: ValueCells, bonus: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], usual: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], resolution: int, out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], raised: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None: ...

def sum_of_raised(counts: WideCounts, cells: ValueCells, by_value: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], less: int, usual: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], priced: ValueCells, bonus: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> int: ...

def wide_sums_before_rounding(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], usual: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: ValueCells, bonus: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], usual_raised: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], shared_raised: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], bonus_raised: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

def renumber_clusters(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def exact_sum(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 1) -> float: ...

class StringDictionary:
    def __init__(self) -> None: ...

    @overload
    def encode(self, offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], validity: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_bit: int, limit: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

    @overload
    def encode(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], validity: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_bit: int, limit: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

    def first_cells(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def look_up(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...
