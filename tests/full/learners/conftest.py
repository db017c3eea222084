import jax
import pytest


@pytest.fixture
def compiled():
    """The names of the functions that have been compiled, or found in a cache of the disk."""
    names = []

    def note(event, _, **details):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(details["fun_name"])

    jax.monitoring.register_event_duration_secs_listener(note)
    # So that nothing is there from other tests.
    jax.clear_caches()
    yield names
    jax.monitoring.unregister_event_duration_listener(note)
