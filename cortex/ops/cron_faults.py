"""What is wrong with the jobs in the scheduler, a sentence each, with the command that mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .cron import Standing


def faults(jobs: Sequence[Standing]) -> Iterator[str]:
    """In the order of the jobs; those that only have to be installed are one sentence."""
    lacking = [
        job for job in jobs if job.state == "not installed" and not job.refused and not job.foreign
    ]
    if len(lacking) > 1:
        names = ", ".join(job.name for job in lacking)
        yield (
            f"{len(lacking)} jobs are enabled in the config and not in the scheduler "
            f"({names}); run: cortex cron install"
        )
    for job in jobs:
        if len(lacking) < 2 or job not in lacking:
            yield from _faults(job)


def _faults(job: Standing) -> Iterator[str]:
    mend = f"; run: {job.mend}" if job.mend else ""
    if job.refused:
        yield job.refused
    if job.state == "unwanted":
        yield f"the job {job.name} is disabled in the config and still in the scheduler{mend}"
    elif job.differs:
        differs = ", ".join(job.differs)
        yield f"the job {job.name} stands in the scheduler with another {differs}{mend}"
    elif job.state == "not installed" and not job.refused:
        yield f"the job {job.name} is enabled in the config and not in the scheduler{mend}"
    if job.foreign:
        yield (
            f"a job named {job.name} that Cortex did not make is in the scheduler "
            f"({', '.join(job.foreign)})"
        )
    if job.duplicates:
        yield f"the job {job.name} is there {len(job.duplicates) + 1} times{mend}"
    if job.found and job.found.last_error:
        # The host's guard against a model that costs more than the one the job was made with.
        is_model = "drifted" in job.found.last_error
        again = f"; to take today's model, run: cortex cron install --job {job.kind}"
        flat = " ".join(job.found.last_error.split())
        told = f"the last run of {job.name} failed: {flat}"
        yield told + (again if is_model else "")
    elif job.found and job.found.last_status not in (None, "ok", "success"):
        yield f"the last run of {job.name} ended with {job.found.last_status}"
