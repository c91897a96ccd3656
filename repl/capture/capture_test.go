package capture

import (
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	if err := Defaults("/data").Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Options)
		ok     bool
	}{
		{"Windows", func(o *Options) { o.Root = `C:\数据\a b` }, true},
		{"Windows share", func(o *Options) { o.Root = `\\host\share` }, true},
		{"relative", func(o *Options) { o.Root = "precision_data" }, false},
		{"no folder", func(o *Options) { o.Root = "" }, false},
		{"not UTF-8", func(o *Options) { o.Root = "/\xff" }, false},
		{"line break", func(o *Options) { o.Root = "/a\nb" }, false},
		{"quotes", func(o *Options) { o.Root = `/it's "a" \ b` }, true},
		{"other id", func(o *Options) { o.ID = "无融合 run" }, true},
		{"no id", func(o *Options) { o.ID = "" }, false},
		{"id up", func(o *Options) { o.ID = ".." }, false},
		{"id with a path", func(o *Options) { o.ID = "a/b" }, false},
		{"every step", func(o *Options) { o.Step = "" }, true},
		{"steps", func(o *Options) { o.Step = "0|5-7|9" }, true},
		{"step range the wrong way", func(o *Options) { o.Step = "7-5" }, false},
		{"huge step range", func(o *Options) { o.Step = "1-99999999999999999999" }, false},
		{"steps by commas", func(o *Options) { o.Step = "0,1" }, false},
		{"open step", func(o *Options) { o.Step = "0|" }, false},
		{"layers", func(o *Options) { o.Layer = "conv1 fc" }, true},
		{"stats", func(o *Options) { o.Data = "stats" }, true},
		{"other data", func(o *Options) { o.Data = "all" }, false},
		{"seed", func(o *Options) { o.Seed = -1 }, false},
		{"level", func(o *Options) { o.OpDebugLevel = 5 }, false},
		{"graph", func(o *Options) { o.GEGraph = 0 }, false},
		{"graph level", func(o *Options) { o.GraphLevel = 9 }, false},
		{"timeout", func(o *Options) { o.Timeout = time.Millisecond }, false},
	} {
		o := Defaults("/data")
		c.change(&o)
		if err := o.Check(); (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.name, err)
		}
		if _, err := Script(KitFile, o); (err == nil) != c.ok {
			t.Errorf("%s: error %v of Kit", c.name, err)
		}
	}
}

func TestParseAction(t *testing.T) {
	for text, want := range map[string]string{
		"dump": "dump", " dump | fusion_off ": "dump|fusion_off", "prof|dump|dump": "dump|prof", "overflow fusion_switch": "overflow|fusion_switch",
		"fusion_off|fusion_switch": "fusion_off|fusion_switch",
	} {
		if got, err := ParseAction(text); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "|", "dumps", "dump|overflow", "overflow dump prof", "Dump", "dump,prof"} {
		if got, err := ParseAction(text); err == nil {
			t.Errorf("%q: %q, expected an error", text, got)
		}
	}
}

// TestFill checks that no constant of a script is left open, and that values
// are literals.
func TestFill(t *testing.T) {
	o := Defaults(`/it's a "b" \ 数据 <&>`)
	o.Layer = " conv1   fc "
	scripts := map[string]func() ([]byte, error){
		"kit":     func() ([]byte, error) { return Script(KitFile, o) },
		"cpu":     func() ([]byte, error) { return Train(o, "cpu", "dump") },
		"npu":     func() ([]byte, error) { return Train(o, "npu", "prof|overflow") },
		"tf_dump": func() ([]byte, error) { return Script(TFDumpFile, o) },
	}
	for name, script := range scripts {
		text, err := script()
		if err != nil || strings.Contains(string(text), `"@`) {
			t.Errorf("%s: error %v, or a constant is open", name, err)
		}
		want := map[string]string{
			"kit": `DATA_FOLDER = "/it's a \"b\" \\ 数据 <&>"`, "cpu": `DEVICE = "cpu"`, "npu": `ACTION = "overflow|prof"`, "tf_dump": "PROMPT_TIMEOUT = 360 ",
		}[name]
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
	kit, _ := Script(KitFile, o)
	for _, want := range []string{`DUMP_LAYER = "conv1 fc"`, `DUMP_STEP = "0" `, "SEED = 2022\n", "OP_DEBUG_LEVEL = 4\n", "GE_GRAPH = 2\n", "GRAPH_LEVEL = 3\n"} {
		if !strings.Contains(string(kit), want) {
			t.Errorf("the kit has no %q", want)
		}
	}
	if _, err := Train(o, "gpu", "dump"); err == nil {
		t.Error("a script for a device that there is not")
	}
	if _, err := Train(o, "cpu", "dump|overflow"); err == nil {
		t.Error("a script for an action that there is not")
	}
	if _, err := fill([]byte(`X = "@unheard@"`), o, nil); err == nil {
		t.Error("an unknown constant is left open")
	}
}
