"""Solutions that leave more than a gap: the code that a student starts from stands beside them.

    ### BEGIN SOLUTION
    return loss.mean()
    ### BEGIN STARTER
    # return loss.sum()
    ### END SOLUTION

is released as `return loss.sum()`. Without a starter, nbgrader puts its usual line there.
"""

import re

from nbgrader.preprocessors import ClearSolutions

REGION = re.compile(r'^ *### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION$', re.M | re.S)
STARTER = '### BEGIN STARTER\n'
COMMENT = re.compile(r'^( *)# ?(.*)$', re.M)


class ClearSolutionsToStarters(ClearSolutions):
    """nbgrader's preprocessor, which also knows starters."""

    def _replace_solution_region(self, cell, language):
        source, cell.source = cell.source, with_starters(cell.source)
        return super()._replace_solution_region(cell, language) or cell.source != source


def with_starters(source):
    """`source` with each solution that has a starter replaced by it."""
    return REGION.sub(_starter, source)


def _starter(region):
    _, found, starter = region[1].partition(STARTER)
    return COMMENT.sub(lambda line: (line[1] + line[2]).rstrip(), starter) if found else region[0]
