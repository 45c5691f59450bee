class ArgumentError(TypeError, ValueError):
    """An argument that cannot be taken: of another type, shape, memory or name."""
