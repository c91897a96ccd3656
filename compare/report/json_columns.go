package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"precision/compare/metric"
	"precision/compare/result"
)

// column is one fact of every row of a table, for writing and for reading. A
// column in which every row has the zero value is left out of the file.
type column struct {
	name string
	*form
	place
}

// place is where a fact of every row is: so many bytes behind where what holds it begins.
type place struct {
	begin  func(row int) unsafe.Pointer
	behind uintptr
}

func (p *place) at(row int) unsafe.Pointer { return unsafe.Add(p.begin(row), p.behind) }

// within is the place of what begins so many bytes further.
func (p place) within(bytes uintptr) place { return place{p.begin, p.behind + bytes} }

// form is how values of a type are written and read. They are told by where they are, as reflection
// takes three times as long for a table.
type form struct {
	zero  func(at unsafe.Pointer) bool
	write func(w *jsonWriter, at unsafe.Pointer)
	parse func(item []byte, at unsafe.Pointer) error
}

// typed is the form of values of T.
func typed[T any](zero func(*T) bool, write func(*jsonWriter, *T), parse func([]byte, *T) error) *form {
	return &form{
		zero:  func(at unsafe.Pointer) bool { return zero((*T)(at)) },
		write: func(w *jsonWriter, at unsafe.Pointer) { write(w, (*T)(at)) },
		parse: func(item []byte, at unsafe.Pointer) error { return parse(item, (*T)(at)) },
	}
}

// enums are the names of types that are a small set of names.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[result.Role]():     roleNames,
	reflect.TypeFor[metric.Side]():     {"left", "right"},
	reflect.TypeFor[metric.Numerics](): {metric.Exact.String(), metric.Reference.String()},
	reflect.TypeFor[metric.Metric]():   metricNames,
	reflect.TypeFor[metric.NoteKind](): noteNames,
}

var (
	roleNames   = []string{result.Output.String(), result.Input.String(), result.Whole.String()}
	metricNames = allMetrics()
	noteNames   = []string{
		metric.NoteScalar: "scalar", metric.NoteAllZero: "all-zero", metric.NoteInfinite: "infinite", metric.NoteBoolean: "boolean",
		metric.NoteBooleanDifference: "boolean-difference", metric.NoteNoMaximum: "no-maximum", metric.NoteEmpty: "empty",
		metric.NoteNothingFinite: "nothing-finite", metric.NoteDisagree: "disagree", metric.NoteZeroGolden: "zero-golden", metric.NoteRounded: "rounded",
	}
)

func allMetrics() (list []string) {
	for m := range metric.Metric(metric.Count) {
		list = append(list, m.String())
	}
	return list
}

// formOf is the form of a type, nil for one that has none: a struct, or a list or map of its own.
func formOf(t reflect.Type) *form {
	switch t {
	case reflect.TypeFor[metric.Value]():
		return values
	case reflect.TypeFor[time.Time]():
		return instants
	case reflect.TypeFor[*uint64]():
		return addresses
	case reflect.TypeFor[[]string]():
		return textLists
	case reflect.TypeFor[[]int64]():
		return shapes
	case reflect.TypeFor[[]float64]():
		return numberLists
	}
	switch t.Kind() {
	case reflect.Int:
		return ints
	case reflect.Int32:
		return ints32
	case reflect.Int64:
		return ints64
	case reflect.Uint8:
		return names(enums[t])
	case reflect.Float64:
		return numbers
	case reflect.Bool:
		return flags
	case reflect.String:
		return words
	}
	return nil
}

var (
	ints, ints32, ints64 = integers[int](), integers[int32](), integers[int64]()

	numbers = typed(func(v *float64) bool { return math.Float64bits(*v) == 0 },
		func(w *jsonWriter, v *float64) { w.number(*v) },
		func(item []byte, v *float64) (err error) { *v, err = parseNumber(item); return err })

	words = typed(func(v *string) bool { return *v == "" },
		func(w *jsonWriter, v *string) { w.bytes(*v) },
		func(item []byte, v *string) (err error) { *v, err = parseBytes(item); return err })

	textLists   = listOf[string](words, false)
	shapes      = listOf[int64](ints64, true)
	numberLists = listOf[float64](numbers, true)
)

// integers is the form of whole numbers.
func integers[T int | int32 | int64]() *form {
	return typed(func(v *T) bool { return *v == 0 },
		func(w *jsonWriter, v *T) { w.int(int64(*v)) },
		func(item []byte, v *T) error {
			n, err := strconv.ParseInt(string(item), 10, 64)
			if *v = T(n); err != nil || int64(*v) != n {
				return unexpected(item, "a whole number")
			}
			return nil
		})
}

// flags are true and false, as 1 and 0.
var flags = typed(func(v *bool) bool { return !*v },
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

// names is the form of a small set of names.
func names(all []string) *form {
	return typed(func(v *uint8) bool { return *v == 0 },
		func(w *jsonWriter, v *uint8) {
			if int(*v) < len(all) {
				w.text(all[*v])
			} else {
				w.int(int64(*v))
			}
		},
		func(item []byte, v *uint8) error {
			var s string
			if json.Unmarshal(item, &s) == nil {
				if i := slices.Index(all, s); i >= 0 {
					*v = uint8(i)
					return nil
				}
			}
			return unexpected(item, "one of "+strings.Join(all, ", "))
		})
}

// addresses are of devices; null is none.
var addresses = typed(func(v **uint64) bool { return *v == nil },
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
		if *v = &n; err != nil {
			return unexpected(item, "a whole number")
		}
		return nil
	})

var instants = typed((*time.Time).IsZero,
	func(w *jsonWriter, v *time.Time) { w.text(v.Format(time.RFC3339Nano)) },
	func(item []byte, v *time.Time) error {
		s, err := parseBytes(item)
		if err == nil {
			*v, err = time.Parse(time.RFC3339Nano, s)
		}
		if err != nil {
			return unexpected(item, "a time as 2006-01-02T15:04:05Z")
		}
		return nil
	})

// listOf is the form of lists. Where null is no list, [] is kept: the shape of a scalar.
func listOf[T any](item *form, null bool) *form {
	return typed(func(v *[]T) bool { return len(*v) == 0 && (*v == nil || !null) },
		func(w *jsonWriter, v *[]T) {
			if null && *v == nil {
				w.null()
				return
			}
			w.open('[')
			for i := range *v {
				item.write(w, unsafe.Pointer(&(*v)[i]))
			}
			w.close(']')
		},
		func(raw []byte, v *[]T) error {
			if null {
				if string(raw) == "null" {
					return nil
				}
				*v = []T{}
			}
			return eachItem(raw, func(raw []byte) error {
				*v = append(*v, *new(T))
				return item.parse(raw, unsafe.Pointer(&(*v)[len(*v)-1]))
			})
		})
}

// values are those of a metric: null was not computed, "zero" is the
// cosine of two zero tensors in reference numerics, and a list of four the mean
// and deviation of the left and of the right side.
var values = typed(func(v *metric.Value) bool { return !v.OK() }, writeValue,
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
		if err := numberLists.parse(item, unsafe.Pointer(&list)); err != nil {
			return err
		}
		if len(list) != 4 {
			return unexpected(item, "four numbers")
		}
		*v, _ = metric.ValueOf(list...)
		return nil
	})

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

// all writes the column of so many rows as a JSON list. Where texts repeat, {"of": […], "at": […]}
// gives the different ones and the place of every row's among them.
func (c *column) all(w *jsonWriter, rows int) {
	if c.form == words {
		if w.repeated(c, rows) {
			w.open('{')
			w.key("of")
			w.open('[')
			for _, s := range w.different {
				w.bytes(s)
			}
			w.close(']')
			w.key("at")
			w.open('[')
			for _, k := range w.places {
				w.int(int64(k))
			}
			w.close(']')
			w.close('}')
			return
		}
	}
	w.open('[')
	for i := range rows {
		c.write(w, c.at(i))
	}
	w.close(']')
}

// repeated finds the different texts of a column and the place of every row's, in memory that all columns use; not where
// they hardly repeat.
func (w *jsonWriter) repeated(c *column, rows int) bool {
	w.different, w.places = w.different[:0], w.places[:0]
	if clear(w.placeOf); w.placeOf == nil {
		w.placeOf = map[string]int{}
	}
	for i := range rows {
		s := *(*string)(c.at(i))
		if i > 0 && s == w.different[w.places[i-1]] { // as of most rows of one operator
			w.places = append(w.places, w.places[i-1])
			continue
		}
		k, known := w.placeOf[s]
		if !known {
			if k = len(w.different); 2*(k+1) > rows {
				return false
			}
			w.placeOf[s] = k
			w.different = append(w.different, s)
		}
		w.places = append(w.places, k)
	}
	return true
}

// read reads what all wrote, of so many rows. Where these are below 0, it counts them, and grow makes room for them.
func (c *column) read(raw []byte, rows *int, grow func(rows int)) error {
	parse, place := c.parse, ""
	if c.form == words && bytes.HasPrefix(raw, []byte("{")) {
		var both struct{ Of, At json.RawMessage }
		if err := json.Unmarshal(raw, &both); err != nil {
			return err
		}
		var of []string
		if err := textLists.parse(both.Of, unsafe.Pointer(&of)); err != nil {
			return fmt.Errorf("of: %w", err)
		}
		raw, place = both.At, "at: "
		parse = func(item []byte, at unsafe.Pointer) error {
			n, err := strconv.Atoi(string(item))
			if err != nil || n < 0 || n >= len(of) {
				return unexpected(item, fmt.Sprintf("a place among %d texts", len(of)))
			}
			*(*string)(at) = of[n]
			return nil
		}
	}
	n := 0
	count := func([]byte) error { n++; return nil }
	if *rows < 0 {
		if err := eachItem(raw, count); err != nil {
			return err
		}
		*rows = n
		grow(n)
	}
	n = 0
	err := eachItem(raw, func(item []byte) error {
		if n < *rows {
			if err := parse(item, c.at(n)); err != nil {
				return fmt.Errorf("%srow %d: %w", place, n, err)
			}
		}
		return count(item)
	})
	if err == nil && n != *rows {
		err = fmt.Errorf("found %d rows, expected %d as in the columns before", n, *rows)
	}
	return err
}
