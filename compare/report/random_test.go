package report

import (
	"math"
	"math/rand/v2"
	"reflect"
	"time"

	"precision/compare/metric"
	"precision/compare/result"
)

// fill sets every exported field of a value to something random, so that a field
// that a file does not keep is missed, whenever it was added.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[metric.Value]():
		v.Set(reflect.ValueOf(randomValue(r)))
		return
	case reflect.TypeFor[result.Role]():
		v.SetUint(r.Uint64N(uint64(len(roleNames))))
		return
	case reflect.TypeFor[metric.NoteKind]():
		v.SetUint(r.Uint64N(uint64(len(noteNames))))
		return
	case reflect.TypeFor[metric.Numerics](), reflect.TypeFor[metric.Side]():
		v.SetUint(r.Uint64N(2))
		return
	case reflect.TypeFor[metric.Metric]():
		v.SetUint(r.Uint64N(uint64(metric.Count)))
		return
	case reflect.TypeFor[*result.Summary](): // never nil
		v.Set(reflect.ValueOf(&result.Summary{}))
		fill(r, v.Elem())
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Slice:
		if r.IntN(2) == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key)
			fill(r, item)
			v.SetMapIndex(key, item)
		}
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits() + r.IntN(v.Type().Bits())))
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Float64:
		v.SetFloat(randomNumber(r))
	default:
		panic("a field of the type " + v.Type().String() + ", expected one that fill knows")
	}
}

func randomValue(r *rand.Rand) metric.Value {
	var v metric.Value
	switch r.IntN(6) {
	case 0:
	case 1:
		v = metric.ZeroCosine()
	case 2:
		v, _ = metric.ValueOf(randomNumber(r), randomNumber(r), randomNumber(r), randomNumber(r))
	default:
		v, _ = metric.ValueOf(randomNumber(r))
	}
	return v
}

func randomNumber(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64}[r.IntN(6)]
	case 2:
		return float64(r.IntN(10))
	}
	return math.Float64frombits(r.Uint64() &^ (1 << 62))
}

// hostile are names that break careless writers.
var hostile = []string{
	"", "conv1", `a"b\c`, "</script><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "\x00\x01\x1b[31m\r\n\t", "\xff\xfe path", "名字/卷积", "\u2028\u202e\ufeff",
	"]]>", "&amp;<!--", "a,b;c", "\ufffe\uffff", "😀",
}

func randomText(r *rand.Rand) string {
	return hostile[r.IntN(len(hostile))] + []string{"", "", "x", "/dump/y.12"}[r.IntN(4)]
}

// same tells whether two values are equal: NaN is, and a list or map of nothing
// is equal to none, but for shapes.
func same(a, b reflect.Value) bool {
	switch {
	case a.Type() == reflect.TypeFor[metric.Value]():
		x, y := a.Interface().(metric.Value), b.Interface().(metric.Value)
		return x.BothZero() == y.BothZero() && x.OK() == y.OK() && same(reflect.ValueOf(x.AppendNumbers(nil)), reflect.ValueOf(y.AppendNumbers(nil)))
	case a.Type() == reflect.TypeFor[time.Time]():
		return a.Interface().(time.Time).Equal(b.Interface().(time.Time))
	case a.Type() == reflect.TypeFor[[]int64]() && a.IsNil() != b.IsNil():
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || same(a.Elem(), b.Elem()))
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if other := b.MapIndex(key); !other.IsValid() || !same(a.MapIndex(key), other) {
				return false
			}
		}
		return true
	case reflect.Float64:
		x, y := a.Float(), b.Float()
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	}
	return a.Interface() == b.Interface()
}
