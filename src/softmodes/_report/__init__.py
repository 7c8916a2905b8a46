"""The report: all about a model on one page, and as frames."""

from softmodes._report.reporting import Report, report

__all__ = ["Report", "report"]
