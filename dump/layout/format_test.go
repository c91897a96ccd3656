package layout

import "testing"

func TestFormatNames(t *testing.T) {
	seen := map[string]Format{}
	for f := range Format(256) {
		s, w := f.String(), f.String()
		if name, ok := names[f]; ok {
			w = wirePrefix + name
		}
		if g, ok := seen[s]; ok {
			t.Errorf("%s names %d and %d", s, f, g)
		}
		seen[s] = f
		for _, name := range []string{s, w, s + ":4", w + ":1"} {
			if g, ok := Parse(name); !ok || g != f {
				t.Errorf("Parse(%q) = %d, %v, want %d", name, g, ok, f)
			}
		}
		if f.Named() != (f < 50 || f == Max) {
			t.Errorf("%d: Named %v", f, f.Named())
		}
	}
	known := 0
	for f := range Format(256) {
		if f.Known() {
			known++
		}
	}
	if known != 46 {
		t.Errorf("%d known formats", known)
	}
}

func TestFormatParse(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Format
		sub  int32
		ok   bool
	}{
		{"NCHW", NCHW, 0, true},
		{"FORMAT_NC1HWC0", NC1HWC0, 0, true},
		{"FRACTAL_Z:32", FractalZ, 32, true},
		{"DECONV_SP_STRIDE8_TRANS", FractalDeconvSPStride8Trans, 0, true},
		{"FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS", FractalDeconvSPStride8Trans, 0, true},
		{"LOOKUP_HITS", HashtableLookupHits, 0, true},
		{"FORMAT_HASHTABLE_LOOKUP_HITS", HashtableLookupHits, 0, true},
		{"DHWCH", DHWCN, 0, true},
		{"FORMAT_NYUV_A", YUVA, 0, true},
		{"C1HWC0", C1HWC0, 0, true},
		{"FORMAT_57", 57, 0, true},
		{"FORMAT_-3", -3, 0, true},
		{"nchw", 0, 0, false},
		{"NCWH", 0, 0, false},
		{"", 0, 0, false},
		{"FORMAT_", 0, 0, false},
		{"FORMAT_007", 0, 0, false},
		{"FORMAT_99999999999", 0, 0, false},
		{"FORMAT_FORMAT_NCHW", 0, 0, false},
		{"NCHW:", 0, 0, false},
		{"NCHW:x", 0, 0, false},
		{"NCHW:-1", 0, 0, false},
		{"NCHW:1:2", 0, 0, false},
	} {
		f, sub, ok := ParseSub(c.name)
		if f != c.f || sub != c.sub || ok != c.ok {
			t.Errorf("ParseSub(%q) = %v, %d, %v", c.name, f, sub, ok)
		}
	}
}

func TestSplitWord(t *testing.T) {
	for _, c := range []struct {
		word int32
		f    Format
		sub  int32
	}{{4, FractalZ, 0}, {4 | 32<<8, FractalZ, 32}, {3 | 0xffff<<8, NC1HWC0, 0xffff}, {-1, -1, 0}} {
		if f, sub := SplitWord(c.word); f != c.f || sub != c.sub {
			t.Errorf("SplitWord(%#x) = %v, %d", c.word, f, sub)
		}
	}
}

func TestAsStored(t *testing.T) {
	for _, c := range []struct {
		f    Format
		rank int
		want Format
	}{{NCHW, 4, NCHW}, {NCHW, 2, ND}, {HWCN, 5, ND}, {NHWC, 0, ND}, {NC1HWC0, 4, NC1HWC0}, {CHWN, 2, CHWN}} {
		if got := AsStored(c.f, c.rank); got != c.want {
			t.Errorf("AsStored(%v, %d) = %v", c.f, c.rank, got)
		}
	}
}
