package trainlog

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// megatron is a block of arguments as Megatron and slime print it, by one of several processes.
func megatron(lr, temperature, dtype, port string) string {
	return "(MegatronTrainRayActor pid=811) ------------------------ arguments ------------------------\n" +
		"(MegatronTrainRayActor pid=811)   adam_beta1 ...................................... 0.9\n" +
		"(MegatronTrainRayActor pid=811)   lr .............................................. " + lr + "\n" +
		"(MegatronTrainRayActor pid=811)   params_dtype .................................... " + dtype + "\n" +
		"(MegatronTrainRayActor pid=811)   rollout_temperature ............................. " + temperature + "\n" +
		"(MegatronTrainRayActor pid=811)   sglang_router_port .............................. " + port + "\n" +
		"(MegatronTrainRayActor pid=811) -------------------- end of arguments ---------------------\n"
}

// verl is a configuration as verl prints it.
func verl(lr, temperature, dtype, port string) string {
	mark := "(TaskRunner pid=4321) "
	return mark + "{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,\n" +
		mark + "                                 'betas': [0.9, 0.999],\n" +
		mark + "                                 'optim': {'lr': " + lr + ", 'warmup': None}},\n" +
		mark + "                       'model': {'dtype': '" + dtype + "',\n" +
		mark + "                                 'note': 'it\\'s {odd}: \"x\"'},\n" +
		mark + "                       'rollout': {'temperature': " + temperature + "}},\n" +
		mark + " 'server': {'master_port': " + port + "}}\n"
}

// openrlhf is the arguments as OpenRLHF prints them, nemo the configuration of NeMo-RL, engine what vLLM says of itself and sglang what SGLang does.
func openrlhf(lr, temperature, dtype, port string) string {
	return "Namespace(actor=Namespace(optim='adam', betas=(0.9, 0.95), lr=" + lr + "), zero=<Stage.TWO: 2>, param_dtype='" + dtype + "', ckpt=Namespace(path='a(b'), rollout=Namespace(temperature=" + temperature + ", n=8), master_port=" + port + ")\n"
}

func nemo(lr, temperature, dtype, port string) string {
	return "Final config:\nMasterConfig(policy={'optimizer': {'kwargs': {'lr': " + lr + "}}, 'dtype': '" + dtype + "', 'generation': GenerationConfig(temperature=" + temperature + ", stop=[1, 2])}, cluster=ClusterConfig(nodes=1, port=" + port + "))\n"
}

func vllm(lr, temperature, dtype, port string) string {
	line := "(EngineCore pid=PID) INFO 07-25 13:41:51 [core.py:114] Initializing a V1 LLM engine (v0.25.1) with config: model='/m/7', speculative_config=SpeculativeConfig(method='mtp', lr=" + lr + "), tokenizer_mode=auto, dtype=torch." + dtype + ", load_format=<LoadFormat.AUTO: 'auto'>, device_config=cuda:1, compilation_config={\"level\":3,\"sizes\":[1,2]}, temperature=" + temperature + ", master_port=" + port + "\n"
	return strings.ReplaceAll(line, "PID", "7") + strings.ReplaceAll(line, "PID", "8")
}

func sglang(lr, temperature, dtype, port string) string {
	return "(SGLangEngine pid=99) [2026-04-28 05:39:43] server_args=ServerArgs(model_path='m', lr=" + lr + ", dtype='" + dtype + "', sampling=Params(temperature=" + temperature + "), tp_size=1, port=" + port + ")\n"
}

func TestSettings(t *testing.T) {
	steps := ""
	for i := range 30 {
		steps += fmt.Sprintf("step %d loss %.4f lr 1e-05\n", i, 2-float64(i)/40)
	}
	for name, block := range map[string]func(lr, temperature, dtype, port string) string{"megatron": megatron, "verl": verl, "openrlhf": openrlhf, "nemo": nemo, "vllm": vllm, "sglang": sglang} {
		log := func(lr, temperature, dtype, port string) *Log {
			l, err := Read(context.Background(), strings.NewReader(block(lr, temperature, dtype, port)+steps), nil)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		a := log("1e-05", "1.0", "bfloat16", "3000")
		if rate := a.Find(Rate); rate == nil || len(rate.Points) != 30 {
			t.Errorf("%s: a setting is taken for a value: %+v", name, rate)
		}
		if d := Diff(a, log("1e-05", "1.0", "bfloat16", "4001"), DefaultFloor); d.Differs() || len(d.Settings) != 1 || !d.Settings[0].Place {
			t.Errorf("%s: a port tells trainings apart: %+v", name, d.Settings)
		}
		d := Diff(a, log("1e-06", "0.7", "float16", "4001"), DefaultFloor)
		got := ""
		for _, s := range d.Settings {
			got += fmt.Sprintf("%s %s %s\n", s.Name[strings.LastIndexAny(s.Name, "._")+1:], strings.TrimPrefix(*s.A, "torch."), strings.TrimPrefix(*s.B, "torch."))
		}
		want := "lr 1e-05 1e-06\ndtype bfloat16 float16\ntemperature 1.0 0.7\nport 3000 4001\n"
		if got != want || d.Set() != 3 || !d.Differs() {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
		// A block that is cut off tells nothing.
		cut := block("1", "2", "3", "4")
		l, err := Read(context.Background(), strings.NewReader(cut[:len(cut)*2/5]), nil)
		if err != nil || len(l.Settings) > 0 {
			t.Errorf("%s: %v, %+v", name, err, l.Settings)
		}
	}
	// Lines that trainers print step by step are no settings.
	l, err := Read(context.Background(), strings.NewReader("{'loss': 0.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n{'loss': 0.25, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 0.2}\n"), nil)
	if err != nil || len(l.Settings) > 0 || l.Find(Loss) == nil || len(l.Find(Loss).Points) != 2 {
		t.Errorf("%v, %+v", err, l)
	}
	// Quotes of a text go, those of bytes are theirs.
	l, err = Read(context.Background(), strings.NewReader("Namespace(a='x y', b=b'z', c=\"it's\", d='')\n"), nil)
	if got := fmt.Sprint(l.Settings); err != nil || got != "[{a x y} {b b'z'} {c it's}]" {
		t.Errorf("%v, %s", err, got)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add(verl("1", "2", "a", "3"))
	f.Add(megatron("1", "2", "a", "3"))
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Read(context.Background(), strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPrintedSettings: of what Megatron-LM and verl printed themselves (testdata/frameworks/make_arguments.py) every argument is read, and those
// that differ are told, the folder as a place; a block that ends too early tells of no difference that is none.
func TestPrintedSettings(t *testing.T) {
	steps := ""
	for i := range 30 {
		steps += fmt.Sprintf("step %d loss %.4f\n", i, 2-float64(i)/40)
	}
	read := func(text string) *Log {
		t.Helper()
		l, err := Read(context.Background(), strings.NewReader(text+steps), nil)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, want := range map[string]struct {
		least   int
		changed string
	}{
		"megatron": {840, "bf16 True False\nfp16 False True\nlr 1e-06 3e-06\nrl_default_temperature 1.0 0.7\nsave /data/run_a /data/run_b place\n"},
		"verl": {700, "actor_rollout_ref.actor.optim.lr 1e-06 3e-06\nactor_rollout_ref.rollout.dtype bfloat16 float16\nactor_rollout_ref.rollout.temperature 1.0 0.7\n" +
			"distillation.teacher_models.teacher_model.inference.dtype bfloat16 float16\ndistillation.teacher_models.teacher_model.inference.temperature 1.0 0.7\ntrainer.default_local_dir /data/run_a /data/run_b place\n"},
	} {
		var texts [2]string
		for i, side := range []string{"_a", "_b"} {
			b, err := os.ReadFile(made + "/arguments/" + name + side + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = string(b)
		}
		a, b := read(texts[0]), read(texts[1])
		if len(a.Settings) < want.least {
			t.Errorf("%s: %d settings, expected %d", name, len(a.Settings), want.least)
		}
		d, got := Diff(a, b, DefaultFloor), ""
		for _, s := range d.Settings {
			got += s.Name + " " + *s.A + " " + *s.B + map[bool]string{true: " place"}[s.Place] + "\n"
		}
		if got != want.changed || !d.Differs() || d.Inconclusive() {
			t.Errorf("%s: got\n%s", name, got)
		}
		if d := Diff(a, read(texts[0]), DefaultFloor); d.Differs() || len(d.Settings) > 0 {
			t.Errorf("%s: beside itself %+v", name, d.Settings)
		}
	}
}
