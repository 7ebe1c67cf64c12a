"""What nbval compares when it re-executes notebooks: all but drawings and warnings."""


def pytest_collectstart(collector):
    if hasattr(collector, 'skip_compare'):
        collector.skip_compare += ('image/svg+xml', 'stderr')
