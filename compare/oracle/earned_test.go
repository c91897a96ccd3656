package oracle_test

import (
	"regexp"
	"strings"
	"testing"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/checked"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// told is all that is said of what a check finds of a text.
func told(t *testing.T, lang msg.Lang, text string) string {
	t.Helper()
	findings := oracle.Made(t, text)
	all := report.Render(checked.Summary(lang, findings, oracle.CoverageOf(findings, nil, nil)), 12, func(_ report.Style, text string) string { return text })
	for i := range findings {
		head, lines := checked.Why(lang, &findings[i])
		all += "\n" + head + "\n" + strings.Join(lines, "\n")
	}
	return all
}

// noClaim are labels and words between others.
var noClaim = regexp.MustCompile(`^check\.(gaps|checked|operator|output|verdicts|wrong|suspect|unknown|is\.|at|more|group|rank)|^why\.(output|concerns)`)

// Every reason is gone where what it says is not so.
func TestEarned(t *testing.T) {
	const add, right = "Torch.add(float32[2]{1 2}, float32[2]{1 2}", ") = float32[2]{2 4}"
	const unheard = "statistics: Torch.unheard(float32[2]{1 2}"
	const cached = "NPU._npu_reshape_and_cache(float32[1,1,1]{3}, float32[1,1,1]{4}, float32[1,2,1,1]{1 2}, float32[1,2,1,1]{5 6}, int32[1]{0}"
	const read = "; Torch.clone(float32[1,2,1,1]{3 2}) = float32[1,2,1,1]{3 2}; Torch.clone(float32[1,2,1,1]{4 6}) = float32[1,2,1,1]{4 6}"
	const relu, sigmoid = "Module.m.a.ReLU(float32[2]{1 -2}) = float32[2]{1 0}", "Module.m.b.Sigmoid(float32[2]{1 0}) = float32[2]{0.7310586 0.5}"
	const coarse = "Module.m.a.Sigmoid(float16[2]{1 -2}) = float16[2]{0.7305 0.1191}"
	cases := map[string][][2]string{}
	for _, c := range []struct{ keys, is, isNot string }{
		{"check-no-type", "op Add type=Unheard", "op Add"},
		{"check-random", "op Add type=DropOutGenMask", "op Add"},
		{"check-no-api", "Torch.unheard(float32[2]{1 2}) = float32[2]{1 2}", add + right},
		{"check-no-input", "Torch.add(float32[2]{1 2}) = float32[2]{1 2}", add + right},
		{"check-no-argument", "op ConfusionTransposeD without:perm", "op ConfusionTransposeD"},
		{"check-new-argument", add + ", gamma=2" + right, add + ", alpha=1" + right},
		{"check-bad-argument", "op TopKD one-element", "op TopKD"},
		{"check-input-count", "op Add one-input", "op Add"},
		{"check-output-count", "op Add more-outputs", "op Add"},
		{"check-bad-tensor", "op Add cut", "op Add"},
		{"check-layout", "op Conv2D one-element", "op Conv2D"},
		{"check-no-attr", "op Conv2DBackpropInputD without:strides", "op Conv2DBackpropInputD"},
		{"check-bad-attr", "op Conv2D attr:strides=text", "op Conv2D"},
		{"check-shapes", "Torch.matmul(float32[2,3]{1 2 3 4 5 6}, float32[2,3]{1 2 3 4 5 6}) = float32[2,2]{1 2 3 4}", "Torch.matmul(float32[1,2]{1 2}, float32[2,1]{3 4}) = float32[1,1]{11}"},
		{"check-out-shape", add + ") = float32[3]{2 4 1}", add + right},
		{"check-fused-word", "op Conv2D kernel=te_fused_op_conv2d_unheard_leaky_relu_0123456789abcdef_0__kernel0", "op Conv2D"},
		{"check-in-place", "op AssignAdd in-place", "op AssignAdd"},
		{"check-empty", "op Add empty", "op Add"},
		{"check-overwritten", "Tensor.add_(float32[2]{2 4}, float32[2]{1 2}) = float32[2]{2 4}", "Tensor.add_(float32[2]{1 2}, float32[2]{1 2}) = float32[2]{2 4}"},

		{"check-outside", "NPU.npu_scatter_nd_update(float32[2,1]{1 2}, int64[1,1]{5}, float32[1,1]{3}) = float32[2,1]{1 2}",
			"NPU.npu_scatter_nd_update(float32[2,1]{1 2}, int64[1,1]{1}, float32[1,1]{3}) = float32[2,1]{1 3}"},
		{"check-not-read", cached + ") = None", cached + ") = None" + read},
		{"check-read-by", cached + ") = None" + read, cached + ") = None"},

		{"check-no-output", "Torch.zeros(2) = 3, float32[2]{0 0}", "Torch.zeros(2) = float32[2]{0 0}"},
		{"check-no-bound", "op SoftmaxCrossEntropyWithLogits no-columns", "op SoftmaxCrossEntropyWithLogits"},
		{"check-nan-ordered", "Torch.sort(float32[2,2]{nan 1 4 6}) = float32[2,2]{nan 1 4 6}, int64[2,2]{0 1 0 1}", "Torch.sort(float32[2,2]{2 1 4 6}) = float32[2,2]{1 2 4 6}, int64[2,2]{1 0 0 1}"},
		{"check-not-judged", "op Maximum nan", "op Maximum"},
		{"check-unfilled", "Torch.empty_permuted([2], [0]) = float32[2]{0 0}", "Torch.zeros(2) = float32[2]{0 0}"},
		{"check-passed", "gradients: Tensor.contiguous(float32[2]{3 4}) = float32[2]{1 2}", "gradients: Tensor.contiguous(float32[2]{1 2}) = float32[2]{1 2}"},
		{"check-sliced", "parts: Torch.matmul(float32[1,2]{1 2}, float32[2,1]{3 4}) = float32[1,1]{11}", "Torch.matmul(float32[1,2]{1 2}, float32[2,1]{3 4}) = float32[1,1]{11}"},
		{"check-composed", "modules: " + relu + "; " + sigmoid + "; Module.m.Net(float32[2]{1 -2}) = float32[2]{0.7310586 0.5}",
			"modules: " + relu + "; " + sigmoid + "; Module.m.Net(float32[2]{1 -2}) = float32[2]{0.8 0.5}"},
		{"check-unmade", "modules: " + sigmoid + "; Module.m.Net(float32[2]{1 -2}) = float32[2]{0.7310586 0.5}",
			"modules: " + relu + "; " + sigmoid + "; Module.m.Net(float32[2]{1 -2}) = float32[2]{0.7310586 0.5}"},
		{"check-part-suspect", "modules: " + coarse + "; Module.m.Net(float16[2]{1 -2}) = float16[2]{0.7305 0.1191}",
			"modules: " + relu + "; " + sigmoid + "; Module.m.Net(float32[2]{1 -2}) = float32[2]{0.7310586 0.5}"},

		{"check-not-written", "unwritten: Torch.relu(float32[2]{1 2}) = float32[2]{1 2}", "Torch.relu(float32[2]{1 2}) = float32[2]{1 2}"},
		{"check-no-elements", "statistics: Torch.relu(float32[2]{1 2}) = float32[2]{1 2}", "Torch.relu(float32[2]{1 2}) = float32[2]{1 2}"},
		{"check-finite", unheard + ") = float32[2]{1 2}", "statistics: Torch.relu(float32[2]{1 2}) = float32[2]{1 2}"},
		{"check-holds", "statistics: Torch.unheard(float32[2]{-inf 2}) = float32[2]{-inf 2}", unheard + ") = float32[2]{1 2}"},
		{"check-made check.sources", unheard + ") = float32[2]{nan 2}", unheard + ") = float32[2]{1 2}"},
		{"check-held", "statistics: Torch.unheard(float32[2]{nan 2}) = float32[2]{1 2}", unheard + ") = float32[2]{1 2}"},
		{"check-came check.behind", unheard + ") = float32[2]{nan 2}; Torch.unheard(float32[2]{nan 2}) = float32[2]{nan 2}", unheard + ") = float32[2]{nan 2}"},
		{"check-all-zero", "statistics: Torch.matmul(float32[1,2]{1 2}, float32[2,2]{1 2 3 4}) = float32[1,2]{0 0}", "statistics: Torch.matmul(float32[1,2]{1 2}, float32[2,2]{1 2 3 4}) = float32[1,2]{7 10}"},
		{"check-not-kept", "statistics: Torch.reshape(float32[2]{1 2}, [2, 1]) = float32[2,1]{1 1}", "statistics: Torch.reshape(float32[2]{1 2}, [2, 1]) = float32[2,1]{1 2}"},
		{"check-no-forward", "backward: Torch.add(float32[2]{1 2}) = float32[2]{2 4}", "gradients: " + add + right},
		{"check-no-gradient", "gradients: Torch.argsort(float32[2]{1 2}) = int64[2]{0 1}", "gradients: " + add + right},
		{"check-unsupported", "Torch.unique(float32[2]{1 1}, dim=0) = float32[1]{1}", "Torch.unique(float32[2]{1 1}) = float32[1]{1}"},
		{"check-hidden", "Module.bn.BatchNorm1d(float32[2,1]{1 2}) = float32[2,1]{1 2}", "Module.a.ReLU(float32[2,1]{1 2}) = float32[2,1]{1 2}"},
		{"check.where", "op Add wrong", "statistics: " + add + right},
		{"check-beyond check.where", "op Add wrong", "op Add no-inputs"},
		{"check-beyond", add + ") = float32[2]{2 5}", add + right},
		{"check-readings", "op Gelu wrong", "op Gelu"},
		{"check-reading", "op Gelu", "op Gelu wrong"},
		{"check-rounding", "op BiasAddGrad up", "op BiasAddGrad"},
		{"check-low-precision", "Torch.mul(float16[2]{1.0009765625 1}, float16[2]{1.0009765625 1}) = float16[2]{1.0029296875 1}", "Torch.mul(float16[2]{1.0009765625 1}, float16[2]{1.0009765625 1}) = float16[2]{1.001953125 1}"},
		{"check-saturated", "Torch.mul(float16[2]{300 1}, float16[2]{300 1}) = float16[2]{65504 1}", "Torch.mul(float16[2]{300 1}, float16[2]{300 1}) = float16[2]{inf 1}"},
		{"check-flushed", "Torch.mul(float16[2]{0.001 1}, float16[2]{0.001 1}) = float16[2]{0 1}", "Torch.mul(float16[2]{0.001 1}, float16[2]{0.001 1}) = float16[2]{0.00000101 1}"},
		{"check-lost-nan", "Torch.mul(float16[2]{inf 1}, float16[2]{0 1}) = float16[2]{5 1}", "Torch.mul(float16[2]{inf 1}, float16[2]{0 1}) = float16[2]{nan 1}"},
		{"check.none", add + right, add + ") = float32[2]{2 5}"},
		{"check.none", add + right, add + right + ", float32[2]{2 4}"},
		{"check.none.of", add + right + ", float32[2]{2 4}", add + right},
		{"check.nothing", "op Add no-inputs", "op Add"},
		{"why.explains", "op Add wrong", "op Add"},
	} {
		for _, key := range strings.Fields(c.keys) {
			cases[key] = append(cases[key], [2]string{c.is, c.isNot})
		}
	}
	elsewhere := map[string][3]string{}
	for file, keys := range map[[2]string]map[string]string{
		{"ranks_test.go", "TestRings"}: {"check-rank-differs": "RankDiffers", "check-own-input": "OwnInput", "check-other-op": "OtherReduction", "check-left-out": "LeftOut", "check-twice": "CountedTwice",
			"check-other-piece": "OtherPiece", "check-scaled": "Scaled", "check-not-mine": "NotMine", "check-gathered": "Verdict == Wrong", "check-not-conserved": "elements"},
		{"ranks_test.go", "TestOtherGroup"}:                      {"check-other-group": "OtherGroup"},
		{"replicas_test.go", "TestReplicas"}:                     {"check-same-batch": "SameBatch", "check-other-weight": "OtherWeight"},
		{"judge_test.go", "TestLongIntegersAreNotTakenForRight"}: {"check-coarse": "Coarse"},
		{"contrary_test.go", "TestNoResult"}:                     {"check-no-result": "missing"},
		{"ranks_test.go", "TestRingsMissing"}:                    {"check-more-ranks": "MoreRanks", "check-no-rank": "NoRank", "check-in-flight": "InFlight"},
		{"clean_test.go", "TestPartsDecideModules"}:              {"check-part": "PartUnknown", "check-apart": "Apart"},
		{"refusals_test.go", "TestRefusals"}:                     {"check-one-rank": "OneRank", "check-not-in-graph": "NotInGraph", "check-no-dump": "NoDump", "check-no-kernel": "NoKernel", "check-bad-dump": "BadDump", "check-no-process": "NoProcess"},
		{"clean_test.go", "TestPartialIsUnknown"}:                {"check-partial": "Partial"},
		{"contrary_test.go", "TestContrary"}:                     {"check-contrary": "Contrary"},
		{"calls_test.go", "TestStatistics"}:                      {"check-range": "Wrong}", "check-in-range": "Unknown}"},
		{"statistics_test.go", "TestSources"}:                    {"check-given": "check-given", "check-came-rank": "check-came-rank", "check-found": "check-found"},
		{"monitors_test.go", "TestMonitors"}: {"check-spike": "check-spike", "check-nan-at": "check-nan-at", "check-zero-at": "check-zero-at", "check-peers-part": "check-peers-part", "check-on-ranks": "check-on-ranks",
			"check-nothing-at": "check-nothing-at", "check-inf-at": "check-inf-at"},
		{"monitors_test.go", "TestMonitorsUnknown"}:       {"check-few-steps": "FewSteps", "check-steady": "Steady", "check-again": "StepsAgain", "check-behind": "Behind", "check-no-statistics": "NoStatistics"},
		{"monitors_test.go", "TestQuote"}:                 {"check-claim-holds": "check-claim-holds", "check-claim-alone": "check-claim-alone", "check-claim-call": "ClaimCall", "check-claim-source": "ClaimSource"},
		{"arithmetic_test.go", "TestAcceptedArithmetics"}: {"check-half-inside": "HalfInside"},
		{"judge_test.go", "TestOneSided"}:                 {"check-one-sided": "oneSided"},
		{"sums_test.go", "TestUnlikely"}:                  {"check-unlikely": "Unlikely"},
		{"checksum_test.go", "TestRowSums"}:               {"check-sum": "sumsBeyond"},
		{"bad_test.go", "TestClaims"}:                     {"check-too-large": "TooLarge"},
		{"earned_test.go", "TestCrashed"}:                 {"check-crashed": "Crashed"},
		{"bad_test.go", "TestBadShapes"}:                  {"check-type": "a string"},
		{"network_test.go", "TestSplit"}:                  {"why.split": "s.Local", "why.sensitive": "Sensitive"},
		{"network_test.go", "TestNetwork"}:                {"why.none": "pattern"},
		{"earned_test.go", "TestCounts"}:                  {"check.outputs": "check.outputs", "check.counts": "check.counts"},
	} {
		for key, word := range keys {
			elsewhere[key] = [3]string{file[0], file[1], word}
		}
	}
	msgtest.Earned{Under: []string{"check-", "check.", "why."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: told}.Check(t)
}

// TestCounts: the numbers of a summary are those of its findings.
func TestCounts(t *testing.T) {
	for _, text := range []string{"op Add", "op Add wrong", "op Add no-inputs", "op Add more-outputs", "op BiasAddGrad up",
		"Torch.add(float32[2]{1 2}, float32[2]{1 2}) = float32[2]{2 4}; Torch.add(float32[2]{1 2}, float32[2]{1 2}) = float32[2]{2 5}; Torch.unheard(float32[1]{1}) = float32[1]{1}, float32[1]{2}"} {
		of, ops := map[oracle.Verdict]int{}, map[string]bool{}
		for _, f := range oracle.Made(t, text) {
			of[f.Verdict]++
			ops[f.Op] = true
		}
		known := of[oracle.OK] + of[oracle.Suspect] + of[oracle.Wrong]
		named := told(t, msg.English, text)
		for _, want := range []string{msg.English.T("check.outputs", known, known+of[oracle.Unknown], msg.English.T("check.operator", len(ops))),
			msg.English.T("check.counts", of[oracle.OK], of[oracle.Suspect], of[oracle.Wrong], of[oracle.Unknown])} {
			if !strings.Contains(named, want) {
				t.Errorf("%s: not %q:\n%s", text, want, named)
			}
		}
	}
}

// TestCrashed: a defect of the check is told as that, of the operator where it is, and nobody is accused.
func TestCrashed(t *testing.T) {
	for _, name := range []string{"matmul", "relu"} {
		found := oracle.Crashing(t, name, "crashing: Torch.matmul(float32[1,2]{1 2}, float32[2,1]{3 4}) = float32[1,1]{12}")
		crashed := len(found) == 1 && found[0].Verdict == oracle.Unknown && len(found[0].Reasons) == 1 && found[0].Reasons[0].Kind == oracle.Crashed
		if crashed != (name == "matmul") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
