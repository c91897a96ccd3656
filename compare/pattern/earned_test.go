package pattern_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"precision/compare/pattern"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// told is all that is said of the findings of a case.
func told(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	found, err := pattern.Find(pattern.Made(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	all := ""
	for i := range found {
		f := &found[i]
		line := patterns.Line(lang, result.Pattern{Kind: string(f.Kind), Explained: f.Explained, Elements: f.Elements, Evidence: f.Evidence()}, "Tanh")
		all += fmt.Sprintf("%s\n%s\n%s\n", patterns.Kind(lang, string(f.Kind)), line, patterns.Evidence(lang, f))
	}
	return all
}

// noClaim are names of places and of parts of a number, and words between others.
var noClaim = regexp.MustCompile(`^(evidence\.(also|and|part|mode)|line\.(with|place|axis|axes))\b`)

// elsewhere are messages of findings that need operands, and what an operator's own alternatives bring.
var elsewhere = map[string][3]string{
	"evidence.cause.0/0":             {"sound_test.go", "TestCauses", "ZeroByZero"},
	"evidence.cause.inf-inf":         {"sound_test.go", "TestCauses", "InfMinusInf"},
	"evidence.cause.0*inf":           {"sound_test.go", "TestCauses", "ZeroTimesInf"},
	"evidence.cause.x/0":             {"sound_test.go", "TestCauses", "DividedByZero"},
	"evidence.cause.operand":         {"sound_test.go", "TestCauses", "FromOperand"},
	"evidence.cause.exp-overflow":    {"sound_test.go", "TestCauses", "ExpOverflow"},
	"evidence.cause.square-overflow": {"sound_test.go", "TestCauses", "SquareOverflow"},
	"evidence.operand":               {"sound_test.go", "TestRowOverflow", "Operand"},
	"evidence.cause.overflow":        {"sound_test.go", "TestCauses", "Overflow, Inf"},
	"evidence.attribute":             {"../oracle/otherwise_test.go", "TestOtherwise", "pattern.Attribute{"},
	"line.attribute":                 {"../oracle/otherwise_test.go", "TestOtherwise", "pattern.Attribute{"},
	"evidence.terms":                 {"../oracle/otherwise_test.go", "TestOtherwise", "pattern.Terms{"},
	"line.terms":                     {"../oracle/otherwise_test.go", "TestOtherwise", "pattern.Terms{"},
	"line.choice":                    {"../oracle/otherwise_test.go", "TestOtherwise", "pattern.Masked{Choice: true}"},
	"line.through.untyped":           {"../report/patterns/evidence_test.go", "TestLine", "PassedThrough"},
	"evidence.threshold":             {"sound_test.go", "TestRowOverflow", "Threshold"},
}

// foretold are the kinds that only who knows the operator can tell: they are said of numbers that are what an
// operator's alternative foretells, and not of others.
var foretold = []string{"acc16", "missing-bias", "missing-terms", "missing-operand", "low-accumulation", "wrong-epsilon", "wrong-attribute", "unmasked-padding", "wrong-weight",
	"swapped-operands", "missing-maximum", "other-formula"}

// TestEarned: what is said of a kind of wrong goes or changes where the numbers are not so.
func TestEarned(t *testing.T) {
	cases := map[string][][2]string{}
	for _, c := range []struct {
		keys  string
		is    string
		isNot string
	}{
		{"pattern.scale line.scale evidence.factor", "scale 2", "large doubled"},
		{"line.sign", "sign", "sign; right=0.1"},
		{"line.partly", "scale 2; right=0.1", "scale 2"},
		{"pattern.offset line.offset evidence.offset", "offset", "offset; right=0.3"},
		{"pattern.affine line.affine", "affine", "scale 2"},
		{"pattern.unwritten line.unwritten evidence.filled evidence.last-blocks", "channel tail zero", "one channel wrong"},
		{"evidence.last-blocks", "channel tail zero", "block holds a constant"},
		{"evidence.aligned", "block holds a constant", "middle third zero"},
		{"evidence.tail", "the step before; shape=3,1100", "middle third zero"},
		{"line.unwritten.all", "all zero", "all zero; right=0.02"},
		{"line.held", "all zero; right=0.02", "all zero"},
		{"pattern.region line.region evidence.box", "one channel wrong", "other numbers"},
		{"evidence.share", "one channel wrong; right=0.3", "scale 2"},
		{"evidence.flat", "one in 300 random; shape=2,32,14,14", "one channel wrong"},
		{"pattern.repeated line.repeated.before evidence.moved", "a tile twice", "right"},
		{"line.repeated", "a tile from behind", "a tile twice"},
		{"line.repeated.pieces evidence.pieces", "two tiles", "a tile twice"},
		{"pattern.stale line.stale evidence.copy evidence.equal evidence.whole", "another tensor as a whole", "another tensor as a whole; right=0.3"},
		{"line.stale.part", "stale third", "another tensor as a whole"},
		{"line.stale.earlier", "the step before", "stale third"},
		{"line.stale.own evidence.own", "the input in a part", "stale third"},
		{"pattern.passed-through line.through", "the input as it is", "the input in a part"},
		{"pattern.bit-flip line.flip evidence.bit evidence.flip", "sign bit", "one element"},
		{"line.flip.others", "exponent bits", "sign bit"},
		{"evidence.flip-of", "two bits", "sign bit"},
		{"pattern.bits-misread", "read as the other half precision", "other numbers"},
		{"line.reading evidence.reading", "read as the other half precision", "other numbers"},
		{"line.reading.bytes evidence.reading-swapped", "bytes in the other order", "read as the other half precision"},
		{"pattern.inverted-mask line.mask evidence.mask", "mask inverted", "mask inverted; right=0.1"},
		{"line.mask.added evidence.mask-added", "added mask inverted", "added mask inverted; right=0.1"},
		{"pattern.rounding-mode evidence.rounding", "truncated; noise=oracle", "right; noise=oracle"},
		{"pattern.axes-permuted evidence.order", "last axes swapped", "rolled rows"},
		{"pattern.layout-misread evidence.blocks-as-rows", "NC1HWC0 read as NCHW; shape=2,32,14,14", "last axes swapped"},
		{"evidence.rows-as-blocks", "ND read as FRACTAL_NZ", "last axes swapped"},
		{"pattern.blocks-transposed evidence.transposed", "blocks transposed", "last axes swapped"},
		{"pattern.shifted evidence.shift", "rolled rows", "mirrored columns"},
		{"line.rolled evidence.cyclic", "rolled rows", "index off by one"},
		{"line.shifted", "index off by one", "mirrored columns"},
		{"evidence.shift-flat", "moved in memory; shape=60,5,5", "rolled rows"},
		{"pattern.reversed line.reversed", "mirrored columns", "rolled rows"},
		{"evidence.along", "mirrored columns", "scale 2"},
		{"evidence.reversed", "mirrored in memory", "mirrored columns"},
		{"pattern.stride-ignored line.stride.ignored", "stride ignored", "index off by one"},
		{"evidence.stride", "stride ignored", "scale 2"},
		{"pattern.stride-doubled line.stride.doubled", "a stride twice", "stride ignored"},
		{"pattern.slices-permuted evidence.exchange evidence.pair", "two channels swapped", "one channel wrong"},
		{"evidence.exchange-block", "lanes permuted", "two channels swapped"},
		{"pattern.clipped", "clipped", "scale 2"},
		{"evidence.clip", "clipped", "not above 1"},
		{"evidence.above", "not above 1", "not below -1"},
		{"evidence.below", "not below -1", "not above 1"},
		{"pattern.activation-missing", "relu missing", "relu added"},
		{"pattern.activation-added", "relu added", "relu missing"},
		{"pattern.slope evidence.slopes", "slope 0.2 for 0.1", "relu added"},
		{"pattern.coarse-type evidence.digits evidence.as-type", "through bfloat16; noise=oracle", "noise"},
		{"pattern.slice-offset line.slices.offset evidence.slices evidence.offsets evidence.top evidence.then", "bias dropped; shape=2,32,14,14", "offset; shape=2,32,14,14"},
		{"pattern.slice-scale line.slices.scale evidence.factors", "channel factors; shape=2,32,14,14", "scale 2; shape=2,32,14,14"},
		{"pattern.row-scale line.slices.row evidence.rows", "scale 2; shape=2,32,14,14 from=0.6", "scale 2; shape=2,32,14,14"},
		{"pattern.border evidence.margin", "border; shape=2,32,14,14", "one channel wrong; shape=2,32,14,14"},
		{"pattern.lanes evidence.lanes", "lanes wrong", "one channel wrong"},
		{"pattern.nan evidence.nan", "one NaN", "some Inf"},
		{"evidence.first", "one NaN", "scale 2"},
		{"pattern.inf evidence.inf", "some Inf", "one NaN"},
		{"pattern.finite evidence.hidden", "numbers for NaN", "one NaN"},
		{"pattern.saturated evidence.beyond", "saturated", "some Inf"},
		{"evidence.at-limit", "saturated", "Inf for large"},
		{"evidence.at-inf", "Inf for large", "saturated"},
		{"evidence.zeroed", "zeros for NaN", "numbers for NaN"},
		{"pattern.random-elements line.scatter evidence.scatter", "two elements", "one channel wrong"},
		{"line.one", "one element", "two elements"},
		{"pattern.low-precision", "sums in a narrower type; noise=oracle", "off by more than half precision; noise=oracle"},
		{"pattern.noise", "noise", "other numbers"},
		{"evidence.relative evidence.spread", "noise", "scale 2"},
		{"evidence.bias", "a little too much", "noise"},
		{"evidence.correlation pattern.unexplained line.spread", "other numbers", "noise"},
	} {
		for _, key := range strings.Fields(c.keys) {
			cases[key] = append(cases[key], [2]string{c.is, c.isNot})
		}
	}
	for _, kind := range foretold {
		cases["pattern."+kind] = [][2]string{{"as " + kind, "as " + kind + "; right=0.6"}, {"as " + kind, "bias dropped; shape=2,32,14,14"}}
	}
	msgtest.Earned{Under: []string{"pattern.", "evidence.", "line."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: told}.Check(t)
}
