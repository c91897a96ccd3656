package report

import (
	"precision/compare/metric"
	"precision/compare/result"
)

// lookSet is what is kept of looks at elements.
func lookSet(at func(int) *result.Look) set {
	s := set{columns: []column{
		words("tensor", func(i int) *string { return &at(i).Tensor }),
		shapes("shape", func(i int) *[]int64 { return &at(i).Shape }),
		integers("equal", func(i int) *int64 { return &at(i).Equal }),
		shapes("histogram", func(i int) *[]int64 { return &at(i).Histogram }),
		numbers("histogram_low", func(i int) *float64 { return &at(i).HistogramLow }),
		numbers("histogram_high", func(i int) *float64 { return &at(i).HistogramHigh }),
		shapes("density", func(i int) *[]int64 { return &at(i).Density }),
		numbers("density_low", func(i int) *float64 { return &at(i).DensityLow }),
		numbers("density_high", func(i int) *float64 { return &at(i).DensityHigh }),
		numberLists("channels", func(i int) *[]float64 { return &at(i).Channels }),
		integers("channel_axis", func(i int) *int { return &at(i).ChannelAxis }),
		integers("channel_count", func(i int) *int64 { return &at(i).ChannelCount }),
		numberLists("map", func(i int) *[]float64 { return &at(i).Map }),
		integers("map_rows", func(i int) *int64 { return &at(i).MapRows }),
		integers("map_columns", func(i int) *int64 { return &at(i).MapColumns }),
		integers("map_kept", func(i int) *int { return &at(i).MapKept }),
	}}
	for _, list := range []struct {
		name string
		of   func(int) *[]metric.Element
	}{
		{"first", func(i int) *[]metric.Element { return &at(i).First }},
		{"largest", func(i int) *[]metric.Element { return &at(i).Largest }},
	} {
		of := list.of
		s.parts = append(s.parts, sparse(list.name,
			func(row int, yield func(*metric.Element)) { eachOf(*of(row), yield) },
			func(row int, e metric.Element) { *of(row) = append(*of(row), e) },
			func(at func(int) *metric.Element) set { return set{columns: element("index", at)} }))
	}
	s.parts = append(s.parts, sparse("patterns",
		func(row int, yield func(*result.Pattern)) { eachOf(at(row).Patterns, yield) },
		func(row int, p result.Pattern) { at(row).Patterns = append(at(row).Patterns, p) },
		func(at func(int) *result.Pattern) set {
			return set{columns: []column{
				words("kind", func(i int) *string { return &at(i).Kind }),
				numbers("explained", func(i int) *float64 { return &at(i).Explained }),
				integers("elements", func(i int) *int64 { return &at(i).Elements }),
				words("evidence", func(i int) *string { return &at(i).Evidence }),
			}}
		}))
	return s
}

// numberLists is a column of lists of numbers; null is none.
func numberLists(name string, at func(int) *[]float64) column {
	return plain(name, at, func(v *[]float64) bool { return *v == nil },
		func(w *jsonWriter, v *[]float64) {
			if *v == nil {
				w.null()
				return
			}
			w.open('[')
			for _, n := range *v {
				w.number(n)
			}
			w.close(']')
		},
		func(item []byte, v *[]float64) error {
			if string(item) == "null" {
				return nil
			}
			*v = []float64{}
			return eachItem(item, func(item []byte) error {
				n, err := parseNumber(item)
				*v = append(*v, n)
				return err
			})
		})
}
