import hashlib
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binomtest, chi2

from softmodes import datasets
from softmodes.datasets import (
    ccm_best_accuracy,
    load_anes96,
    load_connect4,
    load_mushroom,
    load_nursery,
    load_tic_tac_toe,
    load_zoo,
    make_bbm,
    make_ccm,
)
from softmodes.datasets._tables import ANES96_WORDS
from softmodes.metrics import matching_accuracy

REJECTED = 1e-6
SEEDS = range(20)


def flips_of(seed, eps):
    X, y, centers = make_ccm(300, 2000, 3, eps, random_state=seed, return_centers=True)
    return centers[y] != X


# --- generators: the law ---


@pytest.mark.parametrize(
    ("eps", "slightly_wrong"),
    [(0.1, 26 / 256), (0.1, 25 / 256), (0.2, 0.202), (0.3, 0.302), (0.001, 0.0012)],
)
def test_bits_flip_with_probability_eps_and_not_its_nearest_256th(eps, slightly_wrong):
    flips = sum(int(flips_of(seed, eps).sum()) for seed in SEEDS)
    n = len(SEEDS) * 300 * 2000
    assert binomtest(flips, n, eps).pvalue > REJECTED
    assert binomtest(flips, n, slightly_wrong).pvalue < REJECTED


def too_spread(tables, eps):
    """Return the probability that sums over independent cells vary at least as much as these."""
    sums = np.array([table.sum(axis=1) for table in tables])
    n = tables[0].shape[1]
    return chi2.sf(((sums - n * eps) ** 2).sum() / (n * eps * (1 - eps)), sums.size)


@pytest.mark.parametrize("along", ["rows", "columns"])
def test_flips_are_independent(along):
    tables = [flips_of(seed, 0.1) for seed in SEEDS]
    tables = tables if along == "rows" else [table.T for table in tables]
    assert REJECTED < too_spread(tables, 0.1) < 1 - REJECTED
    for table in tables:
        table[:, 1::10] = table[:, ::10]
    assert too_spread(tables, 0.1) < REJECTED


def test_neighbouring_flips_are_uncorrelated():
    both = sum(int((f[:, 1:] & f[:, :-1]).sum()) for f in (flips_of(s, 0.3) for s in SEEDS))
    n = len(SEEDS) * 300 * 1999
    assert abs(both / n - 0.09) < 6 * np.sqrt(0.09 / n)


@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_certain_flips_are_certain(eps):
    assert (flips_of(0, eps) == eps).all()


def test_centers_are_uniform_bits():
    ones = sum(
        int(make_ccm(40, 500, 40, random_state=s, return_centers=True)[2].sum()) for s in SEEDS
    )
    assert binomtest(ones, len(SEEDS) * 40 * 500, 0.5).pvalue > REJECTED


def test_block_model_has_the_probability_of_every_block():
    P = np.array([[0.1, 0.9, 0.5], [0.0, 1.0, 1 / 3], [0.25, 0.001, 0.6], [0.7, 0.45, 0.3]])
    rows, groups = [50, 300, 120, 31], [200, 70, 33]
    edges = np.cumsum([0, *groups])
    ones, cells = np.zeros(P.shape), np.zeros(P.shape)
    for seed in SEEDS:
        X, y = make_bbm(rows, groups, P, random_state=seed)
        for i, j in np.ndindex(P.shape):
            block = X[y == i, edges[j] : edges[j + 1]]
            ones[i, j] += block.sum()
            cells[i, j] += block.size
    for i, j in np.ndindex(P.shape):
        one, n = int(ones[i, j]), int(cells[i, j])
        assert n == len(SEEDS) * rows[i] * groups[j]
        assert binomtest(one, n, P[i, j]).pvalue > REJECTED
        slightly_wrong = P[i, j] + (0.03 if P[i, j] < 0.5 else -0.03)
        assert binomtest(one, n, slightly_wrong).pvalue < REJECTED


def test_block_model_centers_are_the_mean_of_the_rows():
    X, y, centers = make_bbm(
        [4000, 6000], [3, 2], [[0.1, 0.8], [0.5, 0.2]], random_state=0, return_centers=True
    )
    assert_array_equal(centers, [[0.1, 0.1, 0.1, 0.8, 0.8], [0.5, 0.5, 0.5, 0.2, 0.2]])
    for i in range(2):
        assert np.abs(X[y == i].mean(axis=0) - centers[i]).max() < 6 * np.sqrt(0.25 / 4000)


def test_noise_rows_are_uniform_and_counted_exactly():
    n, k, noise = 2000, 4, 0.3
    X, y, centers = make_ccm(
        n, 400, k, 0.0, noise, shuffle=False, random_state=0, return_centers=True
    )
    n_noise = 600
    assert_array_equal(X[:-n_noise], centers[y[:-n_noise]])
    assert binomtest(int(X[-n_noise:].sum()), n_noise * 400, 0.5).pvalue > REJECTED
    assert_array_equal(np.bincount(y[:-n_noise]), [350] * 4)
    counts = np.bincount(y[-n_noise:], minlength=k)
    assert chi2.sf(((counts - 150) ** 2 / 150).sum(), k - 1) > REJECTED
    assert len(set(counts)) > 1, "noise labels are drawn, not dealt out"


def test_best_accuracy_is_what_the_planted_centers_reach():
    n, k, noise = 4000, 5, 0.5
    found = []
    for seed in SEEDS:
        X, y, centers = make_ccm(n, 200, k, 0.05, noise, random_state=seed, return_centers=True)
        distance = (X[:, None, :] != centers).sum(axis=2)
        found.append((distance.argmin(axis=1) == y).mean())
    best = ccm_best_accuracy(k, noise)
    assert best == pytest.approx(0.6)
    assert abs(np.mean(found) - best) < 6 * np.sqrt(0.25 * noise / n / len(SEEDS))
    assert matching_accuracy(y, distance.argmin(axis=1)) == pytest.approx(found[-1])


def test_best_accuracy_without_noise_is_one_and_of_noise_alone_a_guess():
    assert ccm_best_accuracy(7, 0.0) == 1
    assert ccm_best_accuracy(8, 1.0) == 1 / 8


# --- generators: shape, order, seeds ---


def test_sizes_that_do_not_divide_make_the_first_parts_one_larger():
    assert_array_equal(np.bincount(make_ccm(11, 5, 4, random_state=0)[1]), [3, 3, 3, 2])
    X, y, centers = make_bbm(
        5, 7, [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], random_state=0, return_centers=True
    )
    assert_array_equal(np.bincount(y), [3, 2])
    assert_array_equal(centers[0], [0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    assert X.shape == (5, 7)


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: make_bbm(301, 40, [[0.2, 0.7], [0.6, 0.1]], **options),
        lambda **options: make_ccm(301, 40, 3, 0.2, 0.1, **options),
    ],
    ids=["bbm", "ccm"],
)
class TestBoth:
    def test_tables_are_contiguous_bool_matrices_with_int64_labels(self, make):
        X, y = make(random_state=0)
        assert X.dtype == np.bool_
        assert X.flags.c_contiguous
        assert set(np.unique(X.view(np.uint8))) == {0, 1}
        assert y.dtype == np.int64

    def test_the_same_seed_gives_the_same_table(self, make):
        for one, two in zip(make(random_state=3), make(random_state=np.int8(3)), strict=True):
            assert_array_equal(one, two)
        assert (make(random_state=3)[0] != make(random_state=4)[0]).any()
        assert (make()[0] != make()[0]).any()

    @pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
    def test_a_generator_is_used_up_and_repeatable(self, make, source):
        first, second = source(5), source(5)
        one, another = make(random_state=first)[0], make(random_state=first)[0]
        assert (one != another).any()
        assert_array_equal(one, make(random_state=second)[0])
        assert_array_equal(another, make(random_state=second)[0])

    def test_rows_come_in_random_order_unless_told(self, make):
        shuffled, ordered = make(random_state=0)[1], make(random_state=0, shuffle=False)[1]
        planted = 271  # without the noise of the codewords
        assert_array_equal(ordered[:planted], np.sort(ordered[:planted]))
        changes = np.count_nonzero(np.diff(shuffled))
        assert changes > 100


def test_extreme_shapes_work():
    assert make_ccm(1, 1, 1, random_state=0)[0].shape == (1, 1)
    assert make_ccm(3, 300_000, 3, random_state=0)[0].shape == (3, 300_000)
    assert make_bbm([0, 2], [0, 3], np.ones((2, 2)), random_state=0)[0].all()


@pytest.mark.parametrize("model", ["bbm", "ccm"])
def test_a_large_table_needs_hardly_more_than_its_own_memory(model):
    tracemalloc.start()
    try:
        if model == "bbm":
            X, _ = make_bbm(100_000, 1000, np.full((5, 5), 0.3), random_state=0)
        else:
            X, _ = make_ccm(100_000, 1000, 100, 0.2, 0.5, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.3 * X.nbytes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_ccm(4, 3, 5), r"n_clusters=5 is more than n_samples=4\. Pass .* at most 4"),
        (lambda: make_ccm(0, 3, 1), r"n_samples=0 is not an int >= 1\. Pass one"),
        (lambda: make_ccm(4, 2.5, 1), r"n_features=2\.5 is not an int"),
        (lambda: make_ccm(4, 3, True), r"n_clusters=True is not an int"),
        (lambda: make_ccm(4, 3, 2, 1.5), r"eps=1\.5 is not a number from 0 to 1\. Pass one"),
        (lambda: make_ccm(4, 3, 2, 0.1, "a"), r"noise='a' is not a number from 0 to 1"),
        (lambda: ccm_best_accuracy(2, float("nan")), r"noise=nan is not a number from 0 to 1"),
        (lambda: make_ccm(4, 3, 2, random_state=-1), r"random_state=-1 is not a seed\. Pass"),
        (lambda: make_ccm(4, 3, 2, random_state="x"), r"random_state='x' is not a seed"),
        (lambda: make_bbm(4, 3, [0.1]), r"P has shape \(1,\)\. Pass a matrix"),
        (lambda: make_bbm(4, 3, [[0.1, 2]]), r"P\[0, 1\]=2\.0 is not a probability"),
        (lambda: make_bbm(4, 3, [[np.nan]]), r"P\[0, 0\]=nan is not a probability"),
        (lambda: make_bbm([4, 4], 3, [[0.1]]), r"n_samples has 2 sizes, but P asks for 1"),
        (lambda: make_bbm(4, [-1], [[0.1]]), r"n_features=\[-1\] must be integers of at least 0"),
        (lambda: make_bbm([0], 1, [[0.1]]), r"n_samples=\[0\] must .* sum of at least 1"),
        (lambda: make_bbm(4.0, 1, [[0.1]]), r"n_samples=4\.0 is not an int >= 1"),
    ],
)
def test_wrong_parameters_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- tables: contents ---

TABLES = {
    "zoo": (
        load_zoo,
        (101, 16),
        "7e932976dd84842eb28072d52dd0928c0609ef78ac10f831440b57acffbd4912",
        {1: 41, 2: 20, 3: 5, 4: 13, 5: 4, 6: 8, 7: 10},
    ),
    "mushroom": (
        load_mushroom,
        (8124, 22),
        "3730c299b51ce21faf014b4302b195463b88c2465ac7a34f903915e42a24873f",
        {"e": 4208, "p": 3916},
    ),
    "nursery": (
        load_nursery,
        (12960, 8),
        "cfd50f92b8b65b8d398670ce13f1e78fbc0d452ff26906de8b4497f909716951",
        {
            "not_recom": 4320,
            "recommend": 2,
            "very_recom": 328,
            "priority": 4266,
            "spec_prior": 4044,
        },
    ),
    "tic-tac-toe": (
        load_tic_tac_toe,
        (958, 9),
        "494b1a1725ed738f0e58bba56377a445e791e22db6696263093d42796bbbd6db",
        {"positive": 626, "negative": 332},
    ),
    "connect-4": (
        load_connect4,
        (67557, 42),
        "56a4a9aba8c73e8b4eb1f4a912504e43e159bf881604c856ef67137684bae0a7",
        {"win": 44473, "loss": 16635, "draw": 6449},
    ),
}


def csv_text(feature_names, X, y):
    rows = [[*feature_names, "class"], *([*x, c] for x, c in zip(X, y, strict=True))]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("as_frame", [True, False])
def test_contents_are_those_of_the_published_file(table, as_frame):
    load, shape, digest, class_counts = TABLES[table]
    bunch = load(as_frame=as_frame)
    assert bunch.data.shape == shape
    assert Counter(bunch.target) == class_counts
    text = csv_text(bunch.feature_names, np.asarray(bunch.data), np.asarray(bunch.target))
    assert hashlib.sha256(text.encode()).hexdigest() == digest


def test_first_and_last_rows_are_those_of_the_published_files():
    zoo = load_zoo(as_frame=False)
    assert list(zoo.data[0]) == [1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 4, 0, 0, 1]
    assert (zoo.names[0], zoo.names[-1], len(zoo.names)) == ("aardvark", "wren", 101)
    assert Counter(zoo.names)["frog"] == 2
    mushroom = load_mushroom(as_frame=False)
    assert "".join(mushroom.data[0]) + mushroom.target[0] == "xsntpfcnkeesswwpwopksup"
    nursery = load_nursery(as_frame=False)
    assert list(nursery.data[-1]) == [
        "great_pret", "very_crit", "foster", "more", "critical", "inconv", "problematic",
        "not_recom",
    ]  # fmt: skip
    squares = load_tic_tac_toe(as_frame=False)
    assert ("".join(squares.data[-1]), squares.target[-1]) == ("ooxxxooxx", "negative")
    connect4 = load_connect4(as_frame=False)
    assert "".join(connect4.data[0]).replace("b", "") == "xoxoxoxo"


def test_the_election_study_is_that_of_the_published_file_in_words():
    survey = load_anes96(as_frame=False)
    columns = dict(zip(survey.feature_names, survey.data.T, strict=True)) | {"vote": survey.target}
    published = {"popul": columns["population"], "TVnews": columns["tv_news"]}
    for old in ("selfLR", "ClinLR", "DoleLR", "PID"):
        published[old] = in_numbers(old, columns)
    published["age"] = columns["age"]
    for old in ("educ", "income", "vote"):
        published[old] = in_numbers(old, columns)
    lines = [list(published), *zip(*published.values(), strict=True)]
    text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    digest = "6715b2c869a4cdf6cdf5e0f481431f5f910230168a89598136f83b1245fc27c2"
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert Counter(survey.target) == {"Clinton": 551, "Dole": 393}
    assert "Public domain" in survey.DESCR
    assert "551 Clinton, 393 Dole" in survey.DESCR


def in_numbers(old, columns):
    """Return a column's words as the numbers of the published file."""
    new, words = ANES96_WORDS[old]
    number = {
        word: ord(sign) - ord("A" if old == "income" else "0") for sign, word in words.items()
    }
    return [number[word] for word in columns[new]]


def test_tic_tac_toe_is_every_end_of_a_game():
    lines = ["012", "345", "678", "036", "147", "258", "048", "246"]

    def winner(board):
        rows = ({board[int(square)] for square in line} for line in lines)
        return next((row.pop() for row in rows if row in ({"x"}, {"o"})), None)

    ends, boards = {}, {"b" * 9}
    for turn in range(10):
        over = {board for board in boards if winner(board) or turn == 9}
        ends |= {b: "positive" if winner(b) == "x" else "negative" for b in over}
        blanks = ((b, i) for b in boards - over for i in range(9) if b[i] == "b")
        boards = {board[:i] + "xo"[turn % 2] + board[i + 1 :] for board, i in blanks}
    X, y = load_tic_tac_toe(return_X_y=True, as_frame=False)
    assert dict(zip(map("".join, X), y, strict=True)) == ends


# A Connect-4 player's stones as bits: seven for a column, of which the top one stays empty, so
# that a shift never leads from one column into the next.
def has_four(stones):
    pairs = [(shift, stones & (stones >> shift)) for shift in (1, 6, 7, 8)]
    return np.logical_or.reduce([(pair & (pair >> 2 * shift)) != 0 for shift, pair in pairs])


def drops(taken):
    for col in range(7):
        stone = (taken + (1 << 7 * col)) & ~taken & (0b0111111 << 7 * col)
        yield stone, stone != 0


def mirror(stones):
    return sum(((stones >> 7 * col) & 0b1111111) << 7 * (6 - col) for col in range(7))


def smaller_of_mirror_images(x, o):
    one, other = np.stack([x, o], axis=1), np.stack([mirror(x), mirror(o)], axis=1)
    first = (one[:, 0] < other[:, 0]) | ((one[:, 0] == other[:, 0]) & (one[:, 1] < other[:, 1]))
    return np.where(first[:, None], one, other)


def test_connect4_is_every_quiet_position_after_eight_moves_up_to_mirroring():
    mover, other = np.zeros((2, 1), np.int64)
    for _ in range(8):
        after = [(other[fits], (mover | stone)[fits]) for stone, fits in drops(mover | other)]
        boards = np.unique(np.concatenate([np.stack(pair, axis=1) for pair in after]), axis=0)
        mover, other = boards[~has_four(boards[:, 1])].T
    quiet = np.ones(len(mover), np.bool_)
    for stone, fits in drops(mover | other):
        quiet &= ~(fits & (has_four(mover | stone) | has_four(other | stone)))
    expected = np.unique(smaller_of_mirror_images(mover[quiet], other[quiet]), axis=0)

    cells = load_connect4(as_frame=False).data.reshape(-1, 7, 6)
    bit = 1 << (7 * np.arange(7)[:, None] + np.arange(6))
    x, o = (((cells == mark) * bit).sum(axis=(1, 2)) for mark in "xo")
    found = smaller_of_mirror_images(x, o)
    assert len(found) == 67557
    assert_array_equal(np.unique(found, axis=0), expected)


def test_mushroom_has_its_unknown_cells_as_value_or_as_nothing():
    as_value, as_null = load_mushroom(as_frame=False), load_mushroom(missing="null", as_frame=False)
    root = as_value.feature_names.index("stalk-root")
    unknown = as_value.data == "?"
    assert unknown[:, root].sum() == unknown.sum() == 2480
    assert_array_equal(as_null.data == None, unknown)  # noqa: E711
    assert_array_equal(as_null.data[~unknown], as_value.data[~unknown])
    frame = load_mushroom(missing="null", as_frame=True).frame
    assert_array_equal(frame.isna().to_numpy()[:, :-1], unknown)


# --- tables: delivery ---


@pytest.mark.parametrize("table", TABLES)
def test_bunch_and_pair_and_frame_hold_the_same(table):
    load, shape, _, class_counts = TABLES[table]
    framed, plain = load(as_frame=True), load(as_frame=False)
    assert isinstance(framed.data, pd.DataFrame)
    assert isinstance(framed.target, pd.Series)
    assert isinstance(plain.data, np.ndarray)
    assert plain.frame is None
    assert list(framed.data) == framed.feature_names == plain.feature_names
    assert list(framed.frame) == [*framed.feature_names, framed.target.name]
    assert framed.frame.shape == (shape[0], shape[1] + 1)
    assert_array_equal(framed.data.to_numpy(), plain.data)
    assert_array_equal(framed.target.to_numpy(), plain.target)
    assert set(plain.target_values) == set(class_counts)
    assert len(plain.target_names) == len(class_counts)
    for as_frame, bunch in ((True, framed), (False, plain)):
        X, y = load(return_X_y=True, as_frame=as_frame)
        assert type(X) is type(bunch.data)
        assert_array_equal(np.asarray(X), np.asarray(bunch.data))
        assert_array_equal(np.asarray(y), np.asarray(bunch.target))


def test_frames_have_the_types_that_reading_a_csv_file_would_give(tmp_path):
    for load in (load_zoo, load_nursery):
        frame = load(as_frame=True).frame
        frame.to_csv(tmp_path / "table.csv", index=False)
        again = pd.read_csv(tmp_path / "table.csv")
        pd.testing.assert_frame_equal(frame, again)


@pytest.mark.parametrize("table", TABLES)
def test_description_states_origin_licence_and_class_counts(table):
    load, _, _, class_counts = TABLES[table]
    text = load(as_frame=False).DESCR
    assert "UCI Machine Learning Repository" in text
    assert "https://doi.org/10.24432/" in text
    assert "CC BY 4.0" in text
    assert all(f"{count:,}" in text for count in class_counts.values())


def test_zoo_classes_have_readable_names():
    zoo = load_zoo(as_frame=False)
    kind = dict(zip(zoo.names, zoo.target, strict=True))
    readable = dict(zip(zoo.target_values, zoo.target_names, strict=True))
    for animal, name in [("wren", "bird"), ("bass", "fish"), ("newt", "amphibian"),
                         ("tuatara", "reptile"), ("flea", "insect"), ("crab", "invertebrate"),
                         ("lion", "mammal")]:  # fmt: skip
        assert readable[kind[animal]] == name


def test_without_pandas_arrays_come_by_default_and_frames_name_the_remedy(monkeypatch):
    assert isinstance(load_zoo().data, pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(load_zoo().data, np.ndarray)
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas\. Install it with: pip "):
        load_zoo(as_frame=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"as_frame": "yes"}, r"as_frame='yes' is not known\. Pass one of True, False, 'auto'\."),
        ({"as_frame": 0}, r"as_frame=0 is not known"),
        ({"as_frame": None}, r"as_frame=None is not known"),
        ({"missing": "nan"}, r"missing='nan' is not known\. Pass one of 'value', 'null'\."),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        load_mushroom(**options)


def test_importing_loads_no_pandas_and_reads_no_table():
    # In a bare parent package, since the estimators need scikit-learn, which may load pandas.
    code = """if True:
        import sys, types
        from importlib.util import find_spec
        parent = types.ModuleType("softmodes")
        parent.__path__ = list(find_spec("softmodes").submodule_search_locations)
        sys.modules["softmodes"] = parent
        opened = []
        sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
        import softmodes.datasets
        assert "pandas" not in sys.modules, "pandas"
        wrong = [name for name in opened if name.endswith((".gz", ".md"))]
        assert opened and not wrong, wrong
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_connect4_loads_in_half_a_second():
    times = []
    for _ in range(3):
        start = time.perf_counter()
        load_connect4()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5


def test_the_bundled_files_stay_under_a_megabyte():
    sizes = [file.stat().st_size for file in files(datasets).joinpath("data").iterdir()]
    assert len(sizes) == 4
    assert sum(sizes) < 1_000_000
