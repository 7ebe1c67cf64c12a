"""Solutions that leave more than a gap: the code that a student starts from stands beside them.

    ### BEGIN SOLUTION
    return loss.mean()
    ### BEGIN STARTER
    # return loss.sum()
    ### END SOLUTION

is released as `return loss.sum()`. Without a starter, nbgrader puts its usual line there.
"""

from nbgrader.preprocessors import ClearSolutions

BEGIN, STARTER, END = '### BEGIN SOLUTION', '### BEGIN STARTER', '### END SOLUTION'


class ClearSolutionsToStarters(ClearSolutions):
    """nbgrader's preprocessor, which also knows starters."""

    def _replace_solution_region(self, cell, language):
        cell.source, found = with_starters(cell.source)
        return super()._replace_solution_region(cell, language) or found


def with_starters(source):
    """`source` with each solution that has a starter replaced by it, and whether there was one."""
    lines, solution, starter = [], None, None
    for line in source.split('\n'):
        mark = line.strip()
        if mark == BEGIN:
            solution, starter = [line], None
        elif mark == STARTER and solution is not None:
            starter = []
        elif mark == END and starter is not None:
            lines += starter
            solution = starter = None
        elif starter is not None:
            starter.append(_uncommented(line))
        elif solution is not None:
            solution.append(line)
            if mark == END:
                lines += solution
                solution = None
        else:
            lines.append(line)
    return '\n'.join(lines + (solution or [])), '\n'.join(lines) != source


def _uncommented(line):
    indent = line[: len(line) - len(line.lstrip())]
    return (indent + line.lstrip().removeprefix('#').removeprefix(' ')).rstrip()
