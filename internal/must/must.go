// Package must ends a piece of work at the first thing that fails, as a parser ends at an error of syntax: what the work is
// made of gives values and no errors, and its border, the one function that others call, gives the error.
package must

import "fmt"

// failure is how an error comes to the border. Other panics pass it.
type failure struct{ error }

// Do ends the work if there is an error.
func Do(err error) {
	if err != nil {
		end(err)
	}
}

// Not ends the work with an error of these words where something is not as it has to be.
func Not(bad bool, format string, args ...any) {
	if bad {
		end(fmt.Errorf(format, args...))
	}
}

// end is apart for Do to be small wherever it is inlined.
//
//go:noinline
func end(err error) { panic(failure{err}) }

// Get is a value, unless there is an error, which ends the work.
func Get[T any](v T, err error) T {
	Do(err)
	return v
}

// Catch is deferred at the border: it sets the error that ended the work.
func Catch(to *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*to = p.error
	default:
		panic(p)
	}
}

// Failure is what to panic with instead where nothing stands behind: a statement that ends a function, as [Do] does not for
// the compiler.
func Failure(err error) any { return failure{err} }

// Of gives what a piece of work gives, or the error that ended it.
func Of[T any](work func() T) (v T, err error) {
	defer Catch(&err)
	return work(), nil
}

// Try does a piece of work and gives the error that ended it.
func Try(work func()) (err error) {
	defer Catch(&err)
	work()
	return nil
}
