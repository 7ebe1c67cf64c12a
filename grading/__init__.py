"""How instructors release and grade the assignments: nbgrader, with limits on time and memory.

`python -m grading.release` makes what students get, `python -m grading.grade` grades what they hand in.
"""
