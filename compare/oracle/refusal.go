package oracle

import "runtime"

// A refusal ends the making of readings wherever it is met, as an error of syntax ends the work of a parser: forms
// are written as formulas, and [attempt] is the one place where a refusal becomes an error again. Only what makes
// readings refuses so; Values, which compute later, return errors.

// attempt calls what may refuse.
func attempt[T any](f func() T) (v T, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error:
			panic(p)
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	return f(), nil
}

// must refuses where a computation failed.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
