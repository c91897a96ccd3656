package layout

import (
	"maps"
	"strconv"
	"strings"
)

// Format is the number a device dump uses for the memory layout of a tensor.
// It is the primary format alone; see [SplitWord] for the packed device word.
type Format int32

// The formats of the device dump header, by their numbers on the wire. Letters
// name axes from slowest to fastest; an axis split in two is spelled with a
// digit, C1 for the block and C0 for the place inside it.
const (
	NCHW                        Format = 0
	NHWC                        Format = 1
	ND                          Format = 2
	NC1HWC0                     Format = 3
	FractalZ                    Format = 4
	NC1C0HWPad                  Format = 5
	NHWC1C0                     Format = 6
	FSRNCHW                     Format = 7
	FractalDeconv               Format = 8
	C1HWNC0                     Format = 9
	FractalDeconvTranspose      Format = 10
	FractalDeconvSPStrideTrans  Format = 11
	NC1HWC0C04                  Format = 12
	FractalZC04                 Format = 13
	CHWN                        Format = 14
	FractalDeconvSPStride8Trans Format = 15
	HWCN                        Format = 16
	NC1KHKWHWC0                 Format = 17
	BNWeight                    Format = 18
	FilterHWCK                  Format = 19
	HashtableLookupLookups      Format = 20
	HashtableLookupKeys         Format = 21
	HashtableLookupValue        Format = 22
	HashtableLookupOutput       Format = 23
	HashtableLookupHits         Format = 24
	C1HWNCoC0                   Format = 25
	MD                          Format = 26
	NDHWC                       Format = 27
	FractalZZ                   Format = 28
	FractalNZ                   Format = 29
	NCDHW                       Format = 30
	DHWCN                       Format = 31
	NDC1HWC0                    Format = 32
	FractalZ3D                  Format = 33
	CN                          Format = 34
	NC                          Format = 35
	DHWNC                       Format = 36
	FractalZ3DTranspose         Format = 37
	FractalZNLSTM               Format = 38
	FractalZG                   Format = 39
	Reserved                    Format = 40
	All                         Format = 41
	Null                        Format = 42
	NDRNNBias                   Format = 43
	FractalZNRNN                Format = 44
	YUV                         Format = 45
	YUVA                        Format = 46
	NCL                         Format = 47
	FractalZWino                Format = 48
	C1HWC0                      Format = 49
	Max                         Format = 255
)

// wirePrefix starts every format name on the wire.
const wirePrefix = "FORMAT_"

// names holds the wire name of each format, without its prefix.
var names = map[Format]string{
	NCHW: "NCHW", NHWC: "NHWC", ND: "ND", NC1HWC0: "NC1HWC0",
	FractalZ: "FRACTAL_Z", NC1C0HWPad: "NC1C0HWPAD", NHWC1C0: "NHWC1C0",
	FSRNCHW: "FSR_NCHW", FractalDeconv: "FRACTAL_DECONV", C1HWNC0: "C1HWNC0",
	FractalDeconvTranspose:      "FRACTAL_DECONV_TRANSPOSE",
	FractalDeconvSPStrideTrans:  "FRACTAL_DECONV_SP_STRIDE_TRANS",
	NC1HWC0C04:                  "NC1HWC0_C04",
	FractalZC04:                 "FRACTAL_Z_C04",
	CHWN:                        "CHWN",
	FractalDeconvSPStride8Trans: "FRACTAL_DECONV_SP_STRIDE8_TRANS",
	HWCN:                        "HWCN",
	NC1KHKWHWC0:                 "NC1KHKWHWC0",
	BNWeight:                    "BN_WEIGHT",
	FilterHWCK:                  "FILTER_HWCK",
	HashtableLookupLookups:      "HASHTABLE_LOOKUP_LOOKUPS",
	HashtableLookupKeys:         "HASHTABLE_LOOKUP_KEYS",
	HashtableLookupValue:        "HASHTABLE_LOOKUP_VALUE",
	HashtableLookupOutput:       "HASHTABLE_LOOKUP_OUTPUT",
	HashtableLookupHits:         "HASHTABLE_LOOKUP_HITS",
	C1HWNCoC0:                   "C1HWNCoC0",
	MD:                          "MD", NDHWC: "NDHWC", FractalZZ: "FRACTAL_ZZ", FractalNZ: "FRACTAL_NZ",
	NCDHW: "NCDHW", DHWCN: "DHWCN", NDC1HWC0: "NDC1HWC0", FractalZ3D: "FRACTAL_Z_3D",
	CN: "CN", NC: "NC", DHWNC: "DHWNC",
	FractalZ3DTranspose: "FRACTAL_Z_3D_TRANSPOSE",
	FractalZNLSTM:       "FRACTAL_ZN_LSTM",
	FractalZG:           "FRACTAL_Z_G",
	Reserved:            "RESERVED", All: "ALL", Null: "NULL",
	NDRNNBias:    "ND_RNN_BIAS",
	FractalZNRNN: "FRACTAL_ZN_RNN",
	YUV:          "YUV", YUVA: "YUV_A",
	NCL: "NCL", FractalZWino: "FRACTAL_Z_WINO", C1HWC0: "C1HWC0",
	Max: "MAX",
}

// shortNames holds the names that users type and read where these differ from
// the wire.
var shortNames = map[Format]string{
	FractalDeconvSPStride8Trans: "DECONV_SP_STRIDE8_TRANS",
	HashtableLookupLookups:      "LOOKUP_LOOKUPS",
	HashtableLookupKeys:         "LOOKUP_KEYS",
	HashtableLookupValue:        "LOOKUP_VALUE",
	HashtableLookupOutput:       "LOOKUP_OUTPUT",
	HashtableLookupHits:         "LOOKUP_HITS",
}

// otherNames holds spellings that some producers use for the same number.
var otherNames = map[string]Format{
	"DHWCH":  DHWCN,
	"NYUV":   YUV,
	"NYUV_A": YUVA,
}

// unnamed lists the formats that msaccucmp.py has no name for.
var unnamed = map[Format]bool{FractalZZ: true, NC: true, NCL: true, FractalZWino: true, C1HWC0: true}

var byName = func() map[string]Format {
	m := make(map[string]Format, len(names)+len(shortNames)+len(otherNames))
	for f, s := range names {
		m[s] = f
	}
	for f, s := range shortNames {
		m[s] = f
	}
	maps.Copy(m, otherNames)
	return m
}()

// String returns the name users know the format by, such as NC1HWC0 or
// FRACTAL_NZ, and FORMAT_<n> for a number without a name.
func (f Format) String() string {
	if s, ok := shortNames[f]; ok {
		return s
	}
	if s, ok := names[f]; ok {
		return s
	}
	return wirePrefix + strconv.FormatInt(int64(f), 10)
}

// Known reports whether msaccucmp.py has a name for the format. Five formats
// that have a name here (FRACTAL_ZZ, NC, NCL, FRACTAL_Z_WINO, C1HWC0) have none
// there.
func (f Format) Known() bool {
	_, ok := names[f]
	return ok && !unnamed[f]
}

// Named reports whether the format has a name of its own.
func (f Format) Named() bool {
	_, ok := names[f]
	return ok
}

// Parse returns the format of a name in the spelling of [Format.String] or
// of the dump header, such as FORMAT_NC1HWC0. A sub format after a colon, as in FRACTAL_Z:4, is allowed and
// dropped. Names are case-sensitive.
func Parse(name string) (Format, bool) {
	f, _, ok := ParseSub(name)
	return f, ok
}

// ParseSub is [Parse] that also returns the sub format after the colon, the
// group count of a convolution weight; 0 when there is none.
func ParseSub(name string) (f Format, sub int32, ok bool) {
	if base, after, found := strings.Cut(name, ":"); found {
		n, err := strconv.ParseUint(after, 10, 31)
		if err != nil {
			return 0, 0, false
		}
		name, sub = base, int32(n)
	}
	if f, ok := byName[name]; ok {
		return f, sub, true
	}
	rest, found := strings.CutPrefix(name, wirePrefix)
	if !found {
		return 0, 0, false
	}
	if f, ok := byName[rest]; ok {
		return f, sub, true
	}
	n, err := strconv.ParseInt(rest, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != rest {
		return 0, 0, false
	}
	return Format(n), sub, true
}

// SplitWord splits the format word of a device, primary format in bits 0–7 and
// sub format (groups) in bits 8–23. A negative word is returned as it is.
func SplitWord(word int32) (f Format, sub int32) {
	if word < 0 {
		return Format(word), 0
	}
	return Format(word & 0xff), word >> 8 & 0xffff
}
