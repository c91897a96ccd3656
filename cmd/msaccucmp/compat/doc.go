// Package compat is the room for what only msaccucmp.py has: its exit codes, the
// combinations of folders and rule files it accepts, ranges and lists of
// algorithms as it spells them, batches of models, and its advisor.
//
// It lies below cmd/msaccucmp, so that nothing else in the program can come to rest
// on it. Libraries return errors that say what sort of thing went wrong;
// [ExitCode] finds the old tool's number for it.
package compat
