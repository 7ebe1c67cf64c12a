"""The workflow for GitHub, as far as it can be tested away from there."""

import re
import subprocess
import sys

import pytest
import yaml

from book.theme.runnable import BRANCH


@pytest.fixture(scope='module')
def workflow(root):
    return (root / '.github' / 'workflows' / 'course.yml').read_text(encoding='utf-8')


def test_it_is_a_valid_workflow(root):
    command = [sys.executable, '-m', 'check_jsonschema', '--builtin-schema', 'vendor.github-workflows']
    files = list((root / '.github' / 'workflows').iterdir())
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_uses_the_commands_of_every_other_machine(root, workflow):
    commands = [
        step['run'] for job in yaml.safe_load(workflow)['jobs'].values() for step in job['steps'] if 'run' in step
    ]
    assert 'bash .ci/run' in commands and 'make pdf' in commands
    targets = re.findall(r'^([\w-]+):', (root / 'Makefile').read_text(encoding='utf-8'), re.M)
    called = re.findall(
        r'^make ([\w-]+)$', '\n'.join([*commands, (root / '.ci' / 'run').read_text(encoding='utf-8')]), re.M
    )
    assert set(called) == {'pdf', 'test'} and set(called) <= set(targets)


def test_it_publishes_to_the_branch_that_colab_and_kaggle_read(workflow):
    publish = yaml.safe_load(workflow)['jobs']['publish']
    assert publish['needs'] == 'test' and publish['permissions'] == {'contents': 'write'}
    pushed = publish['steps'][-1]['run']
    assert f'--initial-branch {BRANCH}' in pushed and re.search(rf'git push .* {BRANCH}$', pushed, re.M)
    build = next(step for step in publish['steps'] if step.get('run') == 'make pdf')
    assert set(build['env']) == {'BOOK_URL', 'BOOK_REPOSITORY_URL'}
