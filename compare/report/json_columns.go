package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
)

// column is one fact of every row of a table, for writing and for reading. A
// column in which every row has the zero value is left out of the file.
type column struct {
	name string
	// zero tells whether the row has the zero value.
	zero func(row int) bool
	// write writes the column of so many rows as a JSON list.
	write func(w *jsonWriter, rows int)
	// parse reads such a list. It returns how many rows it is of, and what
	// sets the values once there are as many.
	parse func(raw []byte) (rows int, set func(), err error)
}

// plain is a column with one JSON value a row.
func plain[T any](name string, at func(row int) *T, zero func(*T) bool, write func(*jsonWriter, *T), parse func([]byte, *T) error) column {
	return column{
		name: name,
		zero: func(row int) bool { return zero(at(row)) },
		write: func(w *jsonWriter, rows int) {
			w.open('[')
			for i := range rows {
				write(w, at(i))
			}
			w.close(']')
		},
		parse: func(raw []byte) (int, func(), error) {
			var values []T
			err := eachItem(raw, func(item []byte) error {
				var v T
				if err := parse(item, &v); err != nil {
					return fmt.Errorf("row %d: %w", len(values), err)
				}
				values = append(values, v)
				return nil
			})
			return len(values), func() {
				for i := range values {
					*at(i) = values[i]
				}
			}, err
		},
	}
}

// integers is a column of whole numbers.
func integers[T ~int | ~int32 | ~int64](name string, at func(int) *T) column {
	return plain(name, at, func(v *T) bool { return *v == 0 },
		func(w *jsonWriter, v *T) { w.int(int64(*v)) },
		func(item []byte, v *T) error {
			n, err := strconv.ParseInt(string(item), 10, 64)
			if *v = T(n); err != nil || int64(*v) != n {
				return unexpected(item, "a whole number")
			}
			return nil
		})
}

// numbers is a column of float64.
func numbers(name string, at func(int) *float64) column {
	return plain(name, at, func(v *float64) bool { return math.Float64bits(*v) == 0 },
		func(w *jsonWriter, v *float64) { w.number(*v) },
		func(item []byte, v *float64) (err error) { *v, err = parseNumber(item); return err })
}

// flags is a column of true and false, as 1 and 0.
func flags(name string, at func(int) *bool) column {
	return plain(name, at, func(v *bool) bool { return !*v },
		func(w *jsonWriter, v *bool) {
			if *v {
				w.int(1)
			} else {
				w.int(0)
			}
		},
		func(item []byte, v *bool) error {
			*v = string(item) == "1"
			if !*v && string(item) != "0" {
				return unexpected(item, "0 or 1")
			}
			return nil
		})
}

// names is a column of a small set of names.
func names[T ~uint8](name string, all []string, at func(int) *T) column {
	return plain(name, at, func(v *T) bool { return *v == 0 },
		func(w *jsonWriter, v *T) {
			if int(*v) < len(all) {
				w.text(all[*v])
			} else {
				w.int(int64(*v))
			}
		},
		func(item []byte, v *T) error {
			var s string
			if json.Unmarshal(item, &s) == nil {
				if i := slices.Index(all, s); i >= 0 {
					*v = T(i)
					return nil
				}
			}
			return unexpected(item, "one of "+strings.Join(all, ", "))
		})
}

// words is a column of texts. Where they repeat, {"of": […], "at": […]} gives the
// different ones and the place of every row's among them.
func words[T ~string](name string, at func(int) *T) column {
	c := plain(name, at, func(v *T) bool { return *v == "" },
		func(w *jsonWriter, v *T) { w.bytes(string(*v)) },
		func(item []byte, v *T) error {
			s, err := parseBytes(item)
			*v = T(s)
			return err
		})
	write, parse := c.write, c.parse
	c.write = func(w *jsonWriter, rows int) {
		place := map[T]int{}
		places := make([]int, rows)
		var of []T
		for i := range rows {
			s := *at(i)
			k, known := place[s]
			if !known {
				if k = len(of); 2*(k+1) > rows { // they hardly repeat
					write(w, rows)
					return
				}
				place[s] = k
				of = append(of, s)
			}
			places[i] = k
		}
		w.open('{')
		w.key("of")
		w.open('[')
		for _, s := range of {
			w.bytes(string(s))
		}
		w.close(']')
		w.key("at")
		w.open('[')
		for _, k := range places {
			w.int(int64(k))
		}
		w.close(']')
		w.close('}')
	}
	c.parse = func(raw []byte) (int, func(), error) {
		if !bytes.HasPrefix(raw, []byte("{")) {
			return parse(raw)
		}
		var both struct{ Of, At json.RawMessage }
		if err := json.Unmarshal(raw, &both); err != nil {
			return 0, nil, err
		}
		var of []string
		if err := eachItem(both.Of, func(item []byte) error {
			s, err := parseBytes(item)
			of = append(of, s)
			return err
		}); err != nil {
			return 0, nil, fmt.Errorf("of: %w", err)
		}
		var places []int
		err := eachItem(both.At, func(item []byte) error {
			n, err := strconv.Atoi(string(item))
			if err != nil || n < 0 || n >= len(of) {
				return fmt.Errorf("at: row %d: %w", len(places), unexpected(item, fmt.Sprintf("a place among %d texts", len(of))))
			}
			places = append(places, n)
			return nil
		})
		return len(places), func() {
			for i, n := range places {
				*at(i) = T(of[n])
			}
		}, err
	}
	return c
}

// lists is a column of lists of texts.
func lists(name string, at func(int) *[]string) column {
	return plain(name, at, func(v *[]string) bool { return len(*v) == 0 },
		func(w *jsonWriter, v *[]string) {
			w.open('[')
			for _, s := range *v {
				w.bytes(s)
			}
			w.close(']')
		},
		func(item []byte, v *[]string) error {
			return eachItem(item, func(item []byte) error {
				s, err := parseBytes(item)
				*v = append(*v, s)
				return err
			})
		})
}

// shapes is a column of shapes; null is no shape, [] that of a scalar.
func shapes(name string, at func(int) *[]int64) column {
	return plain(name, at, func(v *[]int64) bool { return *v == nil },
		func(w *jsonWriter, v *[]int64) {
			if *v == nil {
				w.null()
				return
			}
			w.open('[')
			for _, n := range *v {
				w.int(n)
			}
			w.close(']')
		},
		func(item []byte, v *[]int64) error {
			if string(item) == "null" {
				return nil
			}
			*v = []int64{}
			return eachItem(item, func(item []byte) error {
				n, err := strconv.ParseInt(string(item), 10, 64)
				if err != nil {
					return unexpected(item, "a whole number")
				}
				*v = append(*v, n)
				return nil
			})
		})
}

// addresses is a column of device addresses; null is none.
func addresses(name string, at func(int) **uint64) column {
	return plain(name, at, func(v **uint64) bool { return *v == nil },
		func(w *jsonWriter, v **uint64) {
			if *v == nil {
				w.null()
			} else {
				w.unsigned(**v)
			}
		},
		func(item []byte, v **uint64) error {
			if string(item) == "null" {
				return nil
			}
			n, err := strconv.ParseUint(string(item), 10, 64)
			if err != nil {
				return unexpected(item, "an address")
			}
			*v = &n
			return nil
		})
}

// values is a column of values of a metric: null was not computed, "zero" is the
// cosine of two zero tensors in reference numerics, and a list of four the mean
// and deviation of the left and of the right side.
func values(name string, at func(int) *metric.Value) column {
	return plain(name, at, func(v *metric.Value) bool { return !v.OK() }, writeValue,
		func(item []byte, v *metric.Value) error {
			switch {
			case string(item) == "null":
				return nil
			case string(item) == `"zero"`:
				*v = metric.ZeroCosine()
				return nil
			case item[0] != '[':
				f, err := parseNumber(item)
				*v, _ = metric.ValueOf(f)
				return err
			}
			var list []float64
			if err := eachItem(item, func(item []byte) error {
				f, err := parseNumber(item)
				list = append(list, f)
				return err
			}); err != nil {
				return err
			}
			if len(list) != 4 {
				return unexpected(item, "four numbers")
			}
			*v, _ = metric.ValueOf(list...)
			return nil
		})
}

func writeValue(w *jsonWriter, v *metric.Value) {
	var four [4]float64
	switch list := v.AppendNumbers(four[:0]); {
	case v.BothZero():
		w.text("zero")
	case len(list) == 0:
		w.null()
	case len(list) == 1:
		w.number(list[0])
	default:
		w.open('[')
		for _, f := range list {
			w.number(f)
		}
		w.close(']')
	}
}
