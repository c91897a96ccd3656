package report

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"precision/internal/msg"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/trainlog"
	"precision/testdata/workshop/msgtest"
)

// training is the log of forty steps of a training, and what is otherwise in it: from step 25 on, or where and as
// much as a number behind it says.
func training(t *testing.T, words string) string {
	t.Helper()
	has := map[string]float64{}
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		has[name], _ = strconv.ParseFloat(value, 64)
	}
	n := 40
	if _, ok := has["steps"]; ok {
		n = int(has["steps"])
	}
	var b strings.Builder
	if lr, ok := has["set"]; ok {
		fmt.Fprintf(&b, "------------------------ arguments ------------------------\n  adam_beta1 ........ 0.9\n  eps ........ 0.1\n  lr ........ %g\n  seed ....... 1\n-------------------- end of arguments ---------------------\n", lr)
	}
	if _, ok := has["asked"]; ok {
		return strings.ReplaceAll(training(t, "norms"), "loss", "other")
	}
	line := func(i int) {
		v := 1 + 4*math.Exp(-float64(i)/10) + 0.02*math.Sin(float64(i*i))
		late := i >= 25
		if x, ok := has["noise"]; ok {
			v *= 1 + x*math.Cos(float64(i*i*7))
		}
		if x, ok := has["times"]; ok && late {
			v *= x
		}
		if x, ok := has["after"]; ok && i > 1 {
			v *= x
		}
		if x, ok := has["scaled"]; ok {
			v *= x
		}
		if x, ok := has["jitter"]; ok && late {
			v *= 1 + x*math.Cos(float64(i*i*3))
		}
		if x, ok := has["drift"]; ok && late {
			v *= 1 + x*float64(i-24)
		}
		if x, ok := has["spike"]; ok && i == 25 {
			v *= x
		}
		loss := fmt.Sprintf("%.5f", v)
		if _, ok := has["nan"]; ok && late {
			loss = "nan"
		}
		_, epoch := has["epoch"]
		_, bare := has["bare"]
		_, zero := has["zero"]
		switch {
		case epoch: // a table of Keras
			if i == 1 {
				b.WriteString("epoch,loss,learning_rate\n")
			}
			fmt.Fprintf(&b, "%d,%s,%g", i-1, loss, has["lr"])
		case zero:
			fmt.Fprintf(&b, "step %d, loss 0", i)
		case bare:
			fmt.Fprintf(&b, "loss %s", loss)
		default:
			fmt.Fprintf(&b, "step %d, loss %s", i, loss)
		}
		if x, ok := has["lr"]; ok && !epoch {
			fmt.Fprintf(&b, ", lr %g", x)
		}
		if x, ok := has["falls"]; ok {
			scale := 1024.0
			if late && x > 0 {
				scale /= 2
			}
			fmt.Fprintf(&b, ", loss scale %g", scale)
		}
		if _, ok := has["norms"]; ok {
			fmt.Fprintf(&b, ", grad norm %.5f", v)
		}
		b.WriteByte('\n')
	}
	for i := 1; i <= n; i++ {
		line(i)
	}
	if _, ok := has["again"]; ok {
		for i := 1; i <= n; i++ {
			line(i)
		}
	}
	if _, ok := has["back"]; ok {
		for i := n / 2; i <= n; i++ {
			line(i)
		}
	}
	text := b.String()
	if _, ok := has["torn"]; ok {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

// said is all that is told of the two sides of a text: "log A | B" of trainings, "config A | B" of YAML, "files A | B" of
// manifests, whose files are name:hash.
func said(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	kind, rest, _ := strings.Cut(text, " ")
	a, b, _ := strings.Cut(rest, "|")
	s := Text{Lang: lang, Width: 200, Most: 20}
	switch kind {
	case "log":
		var read [2]*trainlog.Log
		for i, words := range []string{a, b} {
			l, err := trainlog.Read(context.Background(), strings.NewReader(training(t, words)), nil)
			if err != nil {
				t.Fatal(err)
			}
			l.Path, read[i] = "log", l
		}
		return s.Of(Log{trainlog.Diff(read[0], read[1], trainlog.DefaultFloor), true})
	case "config":
		var files [2]*config.File
		for i, source := range []string{a, b} {
			list, err := config.Parse([]byte(strings.ReplaceAll(source, ";", "\n")), config.YAML)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = &config.File{Path: "file", Format: config.YAML, Entries: list}
		}
		return s.Of(Config{config.Diff(files[0], files[1], []string{"skip"})})
	case "files":
		var paths [2]string
		for i, list := range []string{a, b} {
			source := "# precision manifest 1 md5\n"
			for _, f := range strings.Fields(list) {
				name, hash, _ := strings.Cut(f, ":")
				size := "1"
				switch hash {
				case "?":
					hash = "-"
				case "!":
					size, hash = "-1", "-"
				default:
					hash = strings.Repeat(hash, 32)
				}
				source += size + "\t" + hash + "\t-\t" + name + "\n"
			}
			paths[i] = filepath.Join(t.TempDir(), "manifest")
			if err := os.WriteFile(paths[i], []byte(source+"# end\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, err := manifest.Diff(t.Context(), paths[0], paths[1])
		if err != nil {
			t.Fatal(err)
		}
		return s.Of(Manifest{d})
	}
	t.Fatalf("what is %s?", text)
	return ""
}

var noClaim = regexp.MustCompile(`^preflight\.(label|series|plot|more|and|files|bytes|manifest\.(also|wrote|reused)|config\.(format|key|path$)|log\.(lines|values|events|drop|more|unset))`)

// Every sentence is gone where what it claims is not so.
func TestEarned(t *testing.T) {
	cases := map[string][][2]string{}
	for _, c := range []struct{ keys, is, isNot string }{
		{"manifest.same", "files a:1 b:2|a:1 b:2", "files a:1 b:2|a:1 b:3"},
		{"manifest.same", "files a:1|a:1", "files a:1 b:?|a:1 b:?"},
		{"manifest.differ manifest.changed", "files a:1 b:2|a:1 b:3", "files a:1 b:2|a:1 b:2"},
		{"manifest.differ", "files a:1|a:1 b:1", "files a:1 b:?|a:1 b:?"},
		{"manifest.open manifest.unproven", "files a:1 b:?|a:1 b:?", "files a:1 b:2|a:1 b:3"},
		{"manifest.only-a", "files a:1 b:2|a:1", "files a:1|a:1 b:2"},
		{"manifest.only-b", "files a:1|a:1 b:2", "files a:1 b:2|a:1"},
		{"manifest.moved", "files a:1 b:2|a:1 c:2", "files a:1 b:2|a:1 c:3"},
		{"manifest.unread manifest.unreadable", "files a:1 b:!|a:1 b:2", "files a:1 b:2|a:1 b:2"},

		{"config.same", "config a: 1;b: 2|a: 1;b: 2", "config a: 1;b: 2|a: 1;b: 3"},
		{"config.differ", "config a: 1|a: 2", "config a: 1|a: 1"},
		{"config.differ", "config a: 1;b: 2|a: 1", "config a: 1|a: 1"},
		{"config.paths", "config a: /x/y|a: /x/z", "config a: /x/y|a: /x/y"},
		{"config.ignored", "config a: 1;skip: 2|a: 1", "config a: 1|a: 1"},
		{"config.how.spell", "config batchSize: 1|batch_size: 2", "config batch_size: 1|batch_size: 2"},
		{"config.how.name", "config learning_rate: 1|lr: 2", "config lr: 1|lr: 2"},
		{"config.how.end", "config train: {warm: 1}|warm: 2", "config warm: 1|warm: 2"},

		{"log.same", "log noise=0.01|", "log times=2|"},
		{"log.same", "log |", "log falls=0|falls=1"},
		{"log.together", "log |", "log nan|"},
		{"log.same", "log |", "log |steps=20"},
		{"log.differ", "log times=2|", "log falls=1|falls=1 steps=20"},
		{"log.differ.also", "log times=2 falls=0|falls=1", "log times=2 falls=1|falls=1"},
		{"log.fall", "log falls=1|falls=1 steps=20", "log falls=1|falls=1"},
		{"log.nofall log.falls", "log falls=0|falls=1", "log falls=0|falls=0"},
		{"log.short", "log |steps=20", "log |steps=39"},
		{"log.short.epoch", "log epoch|epoch steps=20", "log |steps=20"},
		{"log.few log.undecided", "log steps=6 after=1.2|steps=6", "log steps=6 after=1.01|steps=6"},
		{"log.few.epoch log.undecided.epoch", "log steps=6 after=1.2 epoch|steps=6 epoch", "log steps=6 after=1.2|steps=6"},
		{"log.few log.undecided", "log steps=6 after=1.2|steps=6", "log after=1.2|"},
		{"log.lacks", "log norms|asked", "log norms|norms"},
		{"log.alone", "log norms|", "log norms|norms"},
		{"log.blank log.says-nothing", "log zero|zero", "log |"},
		{"log.blank", "log zero|zero", "log zero norms|zero norms"},
		{"log.blank.some", "log zero norms|zero norms", "log norms|norms"},
		{"config.nothing", "config skip: 1|skip: 2", "config a: 1;skip: 1|a: 1;skip: 2"},
		{"log.set", "log set=1|set=2", "log set=1|set=1"},
		{"log.nothing", "log bare steps=0|bare steps=0", "log |"},
		{"log.unlike", "log epoch|", "log |"},
		{"log.lost", "log |steps=39", "log |"},
		{"log.counted", "log bare|bare", "log |"},
		{"log.torn", "log torn|", "log |"},
		{"log.epochs", "log again|again", "log back|back"},
		{"log.replayed", "log back|back", "log again|again"},
		{"log.steps", "log |", "log times=2|times=1"},
		{"log.steps.epoch", "log epoch|epoch", "log |"},
		{"log.why.start", "log scaled=1.5|", "log times=1.5|"},
		{"log.why.start.epoch", "log epoch scaled=1.5|epoch", "log epoch times=1.5|epoch"},
		{"log.why.not-finite log.first", "log nan|", "log nan|nan"},
		{"log.why.not-finite.epoch log.first.epoch", "log epoch nan|epoch", "log epoch nan|epoch nan"},
		{"log.why.unequal", "log lr=0.1|lr=0.2", "log lr=0.1|lr=0.1"},
		{"log.why.unequal.epoch", "log epoch lr=0.1|epoch lr=0.2", "log epoch lr=0.1|epoch lr=0.1"},
		{"log.why.leap log.leap", "log spike=8 noise=0.01|", "log noise=0.01|"},
		{"log.why.leap.epoch", "log epoch spike=8 noise=0.01|epoch", "log epoch noise=0.01|epoch"},
		{"log.why.apart log.drift", "log drift=0.05 noise=0.005|", "log noise=0.005|"},
		{"log.why.apart.epoch log.drift.epoch", "log epoch drift=0.05 noise=0.005|epoch", "log epoch noise=0.005|epoch"},
	} {
		for _, key := range strings.Fields(c.keys) {
			cases["preflight."+key] = append(cases["preflight."+key], [2]string{c.is, c.isNot})
		}
	}
	noisier := [3]string{"../trainlog/trainlog_test.go", "TestNoisier", "Noisier"}
	elsewhere := map[string][3]string{"preflight.log.why.noise": noisier, "preflight.log.why.noise.epoch": noisier, "preflight.log.noisier": noisier}
	msgtest.Earned{Under: []string{"preflight."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: said}.Check(t)
}
