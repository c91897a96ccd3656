"""Reads a table of options and command lines as JSON from standard input and
says what argparse makes of each: one JSON object a line."""
import argparse
import contextlib
import io
import json
import re
import sys


def safe_path_string(text):
    if not re.fullmatch('[a-zA-Z0-9_/.,-]*', text):
        raise ValueError(text)
    return text


TYPES = {'': None, 'int': int, 'safe_path_string': safe_path_string}


def build(table):
    main = argparse.ArgumentParser(prog=table['prog'])
    commands = main.add_subparsers()
    parsers = {}
    for command in table['commands']:
        p = parsers[command['name']] = commands.add_parser(command['name'])
        p.set_defaults(command=command['name'])
        groups = {}
        for o in command['options']:
            where = p
            if o['group']:
                if o['group'] not in groups:
                    groups[o['group']] = p.add_mutually_exclusive_group()
                where = groups[o['group']]
            kw = {'dest': o['key'], 'required': o['required'], 'help': 'x'}
            if o['takes'] == 2:
                kw['action'] = 'store_true'
            else:
                kw.update(type=TYPES[o['type']], default=o['default'])
                if o['metavar']:
                    kw['metavar'] = o['metavar']
                if o['choices']:
                    kw['choices'] = o['choices']
                if o['takes'] == 1:
                    kw['nargs'] = '+'
            where.add_argument(*o['names'], **kw)
    return main, parsers


def run(main, args):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            return {'values': vars(main.parse_args(args)), 'code': 0}
        except SystemExit as stop:
            text = err.getvalue()
            return {'code': stop.code, 'help': out.getvalue().split('\n\n')[0], 'error': text}


tables = json.load(sys.stdin)
for table in tables:
    main, parsers = build(table)
    for args in table['lines']:
        print(json.dumps(run(main, args), sort_keys=True))
