"""scikit-learn's callbacks (`sklearn.callback`, from its version 1.9 on) hear of every run."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from softmodes._algorithm.loop import best_run
from softmodes._algorithm.plan import Plan, Run
from softmodes._rows.stores import RowStore


def _has_callbacks(estimator: Any) -> bool:
    return find_spec("sklearn.callback") is not None


class CallbackSupport:
    """What `sklearn.callback.CallbackSupportMixin` gives an estimator, imported when it is used.

    It brings what draws progress bars, for which a fit that nobody watches need not wait.
    """

    @available_if(_has_callbacks)  # type: ignore[untyped-decorator]
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks of scikit-learn 1.9 or later, such as `sklearn.callback.ProgressBar`.

        Parameters
        ----------
        *callbacks : callbacks
            Those that hear of the next fits, instead of those before; none for none.

        Returns
        -------
        self
        """
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    @available_if(_has_callbacks)  # type: ignore[untyped-decorator]
    def _init_callback_context(self, **task: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, **task)


def told_run(estimator: Any, store: RowStore, plan: Plan, **passed: Any) -> Run:
    """Return the best run, and tell the callbacks of the estimator, if it has any, of each.

    The task "fit" has a task "run" for every restart, and with refinement a task "finish". A
    callback that asks to stop, stops the fit, which keeps what it has found.
    """
    if not hasattr(estimator, "_skl_callbacks") and not hasattr(estimator, "_parent_callback_ctx"):
        return best_run(store, plan)
    from sklearn.callback import with_callbacks

    run: Run = with_callbacks(_told_run)(estimator, store, plan, passed)
    return run


def _told_run(estimator: Any, store: RowStore, plan: Plan, passed: dict[str, Any]) -> Run:
    told = _Told(estimator, plan, passed)
    asked = replace(
        plan, on_run=(*plan.on_run, told.run_ended), on_round=(*plan.on_round, told.round_ended)
    )
    best = best_run(store, asked)
    told.fit_ended()
    return best


class _Told:
    """Where a fit stands, as its callbacks have heard."""

    def __init__(self, estimator: Any, plan: Plan, passed: dict[str, Any]) -> None:
        self._told = {"estimator": estimator, **passed}
        self._tasks = ["run"] * plan.n_init + ["finish"] * (plan.refine is not None)
        self._fit = estimator._init_callback_context(max_subtasks=len(self._tasks))
        self._fit.call_on_fit_task_begin(**self._told)
        self._stop = False
        self._begin_next()

    def run_ended(self, run: Run) -> None:
        self._end_task()
        if self._tasks:
            self._begin_next()

    def round_ended(self, state: Any) -> bool:
        return self._stop

    def fit_ended(self) -> None:
        self._end_task()
        self._fit.call_on_fit_task_end(**self._told)

    def _begin_next(self) -> None:
        self._task = self._fit.subcontext(task_name=self._tasks.pop(0))
        self._task.call_on_fit_task_begin(**self._told)

    def _end_task(self) -> None:
        if self._task is not None:
            self._stop |= bool(self._task.call_on_fit_task_end(**self._told))
        self._task = None
