package report

import (
	"precision/compare/result"
	"precision/dump/dtype"
)

// saidOf is what a side says, made where there is nothing yet.
func saidOf(s **result.Said) *result.Said {
	if *s == nil {
		*s = &result.Said{}
	}
	return *s
}

// recordedSet is what is kept of what recordings say.
func recordedSet(at func(int) *result.Recorded) set {
	s := set{columns: []column{
		words("place", func(i int) *string { return &at(i).Place }),
		words("parameter", func(i int) *string { return &at(i).Parameter }),
		words("how", func(i int) *string { return (*string)(&at(i).How) }),
		flags("argument", func(i int) *bool { return &at(i).Argument }),
		integers("both", func(i int) *int32 { return &at(i).Both }),
		integers("same", func(i int) *int32 { return &at(i).Same }),
		flags("hashed", func(i int) *bool { return &at(i).Hashed }),
		flags("hash_same", func(i int) *bool { return &at(i).HashSame }),
		words("golden", func(i int) *string { return &at(i).Golden.Op }),
		integers("golden_output", func(i int) *int { return &at(i).Golden.Index }),
		words("before", func(i int) *string { return &at(i).Before.Op }),
		integers("before_input", func(i int) *int { return &at(i).Before.Index }),
		words("through", func(i int) *string { return &at(i).Through }),
		words("source", func(i int) *string { return &at(i).Source }),
		words("stack", func(i int) *string { return &at(i).Stack }),
	}}
	for _, side := range []struct {
		name string
		of   func(int) *result.Said
	}{
		{"left_", func(i int) *result.Said { return saidOf(&at(i).Left) }},
		{"right_", func(i int) *result.Said { return saidOf(&at(i).Right) }},
	} {
		of := side.of
		s.columns = append(s.columns,
			words(side.name+"class", func(i int) *string { return &of(i).Class }),
			words(side.name+"value", func(i int) *string { return &of(i).Value }),
			words(side.name+"sum", func(i int) *string { return &of(i).Sum }),
			integers(side.name+"known", func(i int) *int32 { return &of(i).Known }),
			numbers(side.name+"max", func(i int) *float64 { return &of(i).Stats.Max }),
			numbers(side.name+"min", func(i int) *float64 { return &of(i).Stats.Min }),
			numbers(side.name+"mean", func(i int) *float64 { return &of(i).Stats.Mean }),
			numbers(side.name+"norm", func(i int) *float64 { return &of(i).Stats.Norm }),
			integers(side.name+"summed", func(i int) *dtype.Type { return &of(i).Summed }),
			integers(side.name+"digits", func(i int) *int32 { return &of(i).Digits }),
			numbers(side.name+"grain", func(i int) *float64 { return &of(i).Grain }))
	}
	return s
}
