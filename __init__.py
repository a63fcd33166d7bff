"""Hermes Cortex as a plugin of Hermes Agent: the host imports this folder and calls register."""


def register(ctx):
    # Imported here: pytest imports this file too, as the package of the tests, and a relative
    # import at the top would then fail for every test.
    from . import plugin_runtime

    plugin_runtime.register(ctx)
