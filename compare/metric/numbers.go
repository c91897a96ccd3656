package metric

// AppendNumbers appends what the value consists of, for a file that keeps it
// without loss: nothing if it was not computed, one number, or the four of
// StandardDeviation (mean and deviation of mine, then of golden). A value that
// is [Value.BothZero] has nothing to append either.
func (v Value) AppendNumbers(list []float64) []float64 {
	switch v.form {
	case number:
		return append(list, v.v[0])
	case pairs:
		return append(list, v.v[:]...)
	}
	return list
}

// BothZero tells of a cosine of two zero tensors in Reference numerics, which is
// 1 but is written differently.
func (v Value) BothZero() bool { return v.form == bothZero }

// ZeroCosine is the value that is [Value.BothZero].
func ZeroCosine() Value { return Value{form: bothZero} }

// ValueOf makes a value of the numbers that [Value.AppendNumbers] gave. ok is
// false unless there are none, one or four.
func ValueOf(numbers ...float64) (v Value, ok bool) {
	switch len(numbers) {
	case 0:
		return Value{}, true
	case 1:
		return numberValue(numbers[0]), true
	case 4:
		v.form = pairs
		copy(v.v[:], numbers)
		return v, true
	}
	return Value{}, false
}
