"""What worker processes import: MLflow itself only where a learner has imported it."""

import sys
from contextlib import AbstractContextManager, nullcontext


def paused_in_worker() -> AbstractContextManager[None]:
    """No fit in a worker process is logged by MLflow's integrations inside this context."""
    if "mlflow" not in sys.modules:
        return nullcontext()
    from ucvtest_mlflow.pause import autologging_paused

    return autologging_paused()
