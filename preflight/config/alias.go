package config

import (
	_ "embed"
	"strings"
	"unicode"
)

//go:embed aliases.txt
var aliases string

// meaning leads from a name of a hyper-parameter to the one it is told by.
var meaning = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(aliases) {
		if names := strings.Fields(line); names[0] != "#" {
			for _, n := range names {
				m[n] = names[0]
			}
		}
	}
	return m
}()

// canonical writes a name in lower case with underscores: trainBatchSize and
// TRAIN-BATCH-SIZE are train_batch_size.
func canonical(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '-' || r == ' ':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			if i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// meant is the name by which a key is told: its last part, by what people call it. It is known if training depends on it.
func meant(key string) (name string, known bool) {
	last := canonical(key[strings.LastIndexByte(key, '.')+1:])
	if m, ok := meaning[last]; ok {
		return m, true
	}
	return last, false
}
