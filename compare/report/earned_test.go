package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// noClaim are texts that claim nothing of a verdict: names, words between others, what is to be done, and that something is not known.
var noClaim = regexp.MustCompile(`^report\.(label|word|short|rule|column|way|found|junit|sarif|do)\.|^report\.(colon|and|also|more|none|named|waived|missing|profile|pairing|order-unknown|suspect\.other|region\.unknown|root\.unknown|choices\.more|damage\.(at|in|rest)|loss\.graph\.names|` +
	`root\.(output|framework|kind|stack|source|rest)|followed\.(certain|likely)|trip\.(rest|loss))$`)

// claims tells whether a text says something of a verdict that may be false. Of reasons those do that judge what
// is compared; why a row has no values, and remarks on its numbers, are held to their rows elsewhere.
func claims(key string) bool {
	if kind, is := strings.CutPrefix(key, "reason."); is {
		return judging.MatchString(kind)
	}
	return !noClaim.MatchString(key)
}

// judging are the reasons that judge: premises, hints, and what is known of golden outputs.
var judging = regexp.MustCompile(`^(inputs|given|rows|weights|step|hint|order|golden)-|^(inconsistent|torn|cancelled|operators-alone|batch-differs|shapes-mostly|same-sides|made-non-finite)$`)

// earned are the sentences of the catalogue, by key, with a table of which each is said and one of
// which it must not be; "calls" in front of tables of recordings.
func earned() map[string][][2]string {
	// network has an operator with two inputs, of which some were compared.
	network := func(compared int, out, check string) string {
		feeds := [...]string{"op data Data feed\n", "op w Const constant\n"}
		for i := range compared {
			feeds[i] += "out 0\n"
		}
		return feeds[0] + feeds[1] + "op op MatMulV2 in=data:0,w:0\nout 0 distance=0.9 " + out + "\n" + check
	}
	good := "op a Relu\nout 0\nop b Relu in=a:0\nout 0\n"
	chain := func(first, second string) string {
		return "op a Conv2D\nout 0 " + first + "\nop b MatMulV2 in=a:0 final\nout 0 " + second + "\n"
	}
	given := func(name string) string { // a few of its elements are others
		feeds := map[string]string{"data": "op data Data feed\nout 0", "w": "op w Const constant\nout 0"}
		feeds[name] += " distance=0.3 differ=4"
		return feeds["data"] + "\n" + feeds["w"] + "\nop op MatMulV2 in=data:0,w:0\nout 0 distance=0.3\n"
	}
	fed := func(off string) string {
		return "op data Data feed\nout 0 " + off + "\nop op MatMulV2 in=data:0\nout 0 distance=0.9\n"
	}
	few := func(off string) string { // of one weight of four
		return "op v Const constant\nout 0\nop u Const constant\nout 0\nop w Const constant\nout 0 " + off + "\nop op MatMulV2 in=u:0,v:0,w:0\nout 0 distance=0.9\n"
	}
	layers := func(weight, layer string) string { // each with a weight, and behind the one before
		text, last := "op data Data feed\nout 0\n", "data:0"
		for i, typ := range []string{"MatMulV2", "Conv2D", "Add", "Mul", "Relu", "Sigmoid", "Tanh", "Gelu", "SoftmaxV2", "Exp", "Sub", "RealDiv"} {
			text += fmt.Sprintf("op w%d Const constant\n%sop l%d %s in=%s,w%d:0 sized=1 %s", i, weight, i, typ, last, i, layer)
			last = fmt.Sprintf("l%d:0", i)
		}
		return text
	}
	loaded := func(off string) string { return layers("out 0 "+off+"\n", "\nout 0 distance=0.9\n") }
	strange := func(word string) string { return layers("", "\nout 0 distance=0.9\ncheck ok golden="+word+"\n") }
	total := func(terms, sum string) string { // what is left of terms
		return "op data Data feed\nout 0\nop a MatMulV2 in=data:0\nout 0 " + terms + "\nop s ReduceSum in=a:0\nout 0 n=16 distance=0.9 " + sum + "\n"
	}
	torn := func(how string) string { return layers("out 0\n", how+"\nout 0\n") }
	mixed := func(word string) string { return layers("out 0\n", "\nout 0 distance=0.9\ncheck "+word+"\n") }
	const (
		lost      = "op l Relu\nout 0 missing=no-right-tensor:l|l\n"
		lost2     = "op m Relu\nout 0 missing=no-right-tensor:m|m\n"
		unordered = "op a Relu\nout 0 distance=0.9\n"
		unseen    = "op a Conv2D\nout 0 missing=no-right-tensor:a|a\nop b MatMulV2 in=a:0\nout 0 distance=0.9\n"
		sized     = "op data Data feed\nout 0\nop a Cast in=data:0\nout 0 distance=0.5 sat=12\nop b Relu in=a:0\nout 0 distance=0.5\n"
		ids       = "op data Data feed\nout 0\nop a ArgMax in=data:0\nout 0 type=int32/int32"
		chosen    = "op data Data feed\nout 0 distance=1e-4\nop top TopK in=data:0\nout 0 type=int32/int32 differ=2 chosen="
		passed    = "profile [[rule]]; cause = \"integers\"; limit = \"off\"\n"
		stored    = "meta stored=1\nop w Weight\nout 0 "
		twice     = "meta npu=1\n"
		zeros     = "op a Mul\nout 0 zero="
		before    = "before op a Conv2D\n"
		waive     = "profile [[waiver]]; tensor = \"a:output:0\"; reason = \"known\"; owner = \"me\"\nop a Relu\nout 0 "
	)
	return map[string][][2]string{
		"report.good":       {{good, network(2, "", "")}, {good, "op a Relu\nout 0 missing=no-right-tensor:a|a\n"}},
		"report.suspect":    {{"op a Relu\nout 0\n" + chain("", "distance=0.05"), good}},
		"report.itself":     {{"meta left=x right=x why=same-sides:x\n" + good, good}},
		"report.root.alone": {{network(2, "", ""), chain("distance=0.9", "distance=0.9")}},
		"report.certain": {{network(2, "", ""), network(1, "", "")}, {network(2, "", "check ok"), network(0, "", "check ok")},
			{network(2, "", "check ok"), network(2, "", "check wrong")}},
		"report.certain.nan": {{network(2, "nan=1", ""), network(1, "nan=1", "")}, {network(2, "nan=1", ""), network(2, "", "")}},
		"report.certain.recomputed": {{network(2, "", "check wrong"), network(2, "", "check ok golden=wrong")},
			{network(2, "", "check wrong"), network(2, "", "check unknown")}},
		"report.certain.second": {{chain("distance=0.3", "distance=0.3 max=900"), chain("", "distance=0.9")}},
		"report.untold":         {{network(1, "", ""), network(2, "", "")}, {network(1, "", ""), network(0, "", "")}},
		"report.untold.all":     {{network(0, "", ""), network(1, "", "")}},
		"report.untold.nan":     {{network(1, "nan=1", ""), network(2, "nan=1", "")}},
		"report.followed": {{network(2, "", "check ok golden=differs"), network(2, "", "check ok golden=follows")},
			{network(2, "", "check ok golden=differs"), network(2, "", "check wrong golden=differs")}, {network(2, "", "check ok golden=differs"), network(2, "", "check ok")}},
		"report.followed.golden": {{network(2, "", "check ok golden=wrong"), network(2, "", "check ok golden=differs")},
			{network(2, "", "check ok golden=wrong"), network(2, "", "check unknown golden=wrong")}},
		"report.followed.array": {{network(2, "", "check unknown golden=wrong"), network(2, "", "check ok golden=wrong")},
			{network(2, "", "check unknown golden=wrong"), network(2, "", "check unknown golden=differs")}},
		"reason.golden-used": {{network(2, "", "check ok golden=differs why=golden-used:reader"), network(2, "", "check ok golden=differs")}},
		"report.likely":      {{chain("", "distance=0.05"), network(2, "", "")}},

		"report.certain.source": {{"op x Relu\nout 0\nop y Relu in=x:0\nout 0\nop a RandomUniform\nout 0 distance=0.9\n", network(2, "", "")}},
		"report.untold.second": {{"op a Conv2D\nout 0 distance=0.3\nop c Const constant\nop b MatMulV2 in=a:0,c:0\nout 0 distance=0.3 max=900\n",
			chain("distance=0.3", "distance=0.3 max=900")}},
		"report.root.given.weight": {{given("w"), network(2, "", "")}},
		"report.root.given.input":  {{given("data"), network(2, "", "")}},
		"report.likely.law":        {{"op data Data feed\nout 0\nop a Reshape in=data:0\nout 0 distance=1e-4 hi=99\n", "op data Data feed\nout 0\nop a Conv2D in=data:0\nout 0 distance=1e-4 hi=99\n"}},
		"report.region.edge":       {{"op a Conv2D\nout 0\nop b MatMulV2 in=a:0 amiss=0\nout 0 distance=0.9\n", chain("distance=0.9", "distance=0.9")}},
		"report.likely.other":      {{"op data Data feed\nout 0\nop a Cast in=data:0\nout 0 distance=0.5 sat=12\nop b Relu in=a:0\nout 0 distance=0.5\n", chain("distance=0.9", "distance=0.9")}},

		"report.bad.one":             {{chain("distance=0.9", ""), good}, {chain("distance=0.9", ""), chain("distance=0.9", "nan=1")}},
		"report.bad.many":            {{chain("distance=0.9", "nan=1"), chain("distance=0.9", "distance=0.9")}},
		"report.bad.rootless":        {{unordered, good}},
		"report.bad.one.inherited":   {{chain("distance=0.9", "distance=0.9"), chain("distance=0.9", "")}},
		"report.bad.many.inherited":  {{chain("distance=0.9", "nan=1") + "op c Relu in=b:0\nout 0 nan=1\n", chain("distance=0.9", "nan=1")}},
		"report.root.inherited":      {{chain("distance=0.9", "distance=0.9"), chain("distance=0.9", "")}},
		"report.root.after":          {{unordered + "op b Relu\nout 0 distance=0.9\n", unordered}},
		"report.root.reaches":        {{chain("distance=0.9", "distance=0.9"), chain("distance=0.9", "")}},
		"report.root.inserted":       {{"op a Cast inserted\nout 0 distance=0.9\n", "op a Cast\nout 0 distance=0.9\n"}},
		"report.order":               {{unordered, chain("distance=0.9", "")}},
		"report.inconclusive":        {{lost + lost2, good}},
		"report.good.of":             {{good + lost, good}},
		"report.coverage.constants":  {{network(2, "", ""), network(0, "", "")}},
		"report.coverage.statistics": {{"calls a 4/4 4/4", "calls a 4/4 #4/#4"}, {"calls a 4/4 4/4", "calls a 4/4 9/4"}},
		"report.region":              {{unseen, chain("distance=0.9", "distance=0.9")}, {unseen, chain("", "distance=0.9")}},
		"report.nan.behind":          {{chain("nan=1", "nan=1"), chain("nan=1", "")}},
		"report.unequal":             {{"op z Relu\nout 0 distance=1e-4\nop data Relu in=z:0\nout 0 distance=1e-4\nop a ArgMax in=data:0\nout 0 type=int32/int32 differ=3 distance=0.1\n", ids + "\n"}},
		"report.untold.named":        {{network(1, "", "check ok golden=differs"), network(2, "", "check ok golden=differs")}},

		"report.choices":         {{chosen + "2/24/2\n", chosen + "0/24/0\n"}},
		"report.choices.all":     {{chosen + "2/24/2\n", chosen + "2/24/1\n"}, {chosen + "2/24/2\n", passed + chosen + "2/24/1\n"}, {chosen + "2/24/2\n", chosen + "2/24/2 unordered\n"}},
		"report.choices.some":    {{passed + chosen + "2/24/1\n", passed + chosen + "2/24/2\n"}},
		"report.choices.unknown": {{chosen + "2/24/0 unordered\n", chosen + "2/24/2\n"}},

		"report.bits.equal": {{twice + good, twice + chain("", "distance=1e-4")}, {twice + good, good}},
		"report.bits":       {{twice + chain("", "distance=1e-4"), twice + good}},
		"report.bits.first": {{twice + chain("", "distance=1e-4"), twice + good}, {twice + network(2, "", ""), twice + network(1, "", "")}},

		"report.baseline":     {{chain("distance=0.9", "") + before + "before out 0\n", chain("distance=0.9", "")}},
		"report.regression":   {{chain("distance=0.9", "") + before + "before out 0\n", chain("distance=0.9", "") + before + "before out 0 distance=0.9\n"}},
		"report.improved":     {{chain("distance=0.9", "") + before + "before out 0 distance=2.9\n", chain("distance=0.9", "") + before + "before out 0 distance=0.9\n"}},
		"report.waived.count": {{waive + "distance=0.9\n", waive + "distance=0\n"}},
		"report.good.waived":  {{waive + "distance=0.9\n", waive + "distance=0\n"}},
		"report.waived.missing": {{strings.Replace(waive, "reason", "cause = \"uncompared\"; reason", 1) + "missing=no-right-tensor:a|a\n", waive + "missing=no-right-tensor:a|a\n"},
			{strings.Replace(waive, "reason", "cause = \"uncompared\"; reason", 1) + "missing=no-right-tensor:a|a\n", strings.Replace(waive, "reason", "cause = \"uncompared\"; reason", 1) + "\n"}},
		"report.expired": {{"profile date = \"2026-01-01\"; [[waiver]]; tensor = \"a:output:0\"; reason = \"known\"; owner = \"me\"; expires = \"2026-02-01\"\n" + good, waive + "\n"}},

		"report.loss.coverage": {{lost + lost2, good}},
		"report.loss.outputs":  {{good + "op c Relu in=b:0 final\nout 0 missing=no-right-tensor:c|c\n", good + "op c Relu in=b:0 final\nout 0\n"}},
		"report.loss.tensors":  {{good + lost, good}},
		"report.loss.damaged":  {{good + "op c Relu in=b:0\nout 0 missing=bad-tensor:c|x\n", good}},

		"report.trip.bad":          {{chain("distance=0.9", ""), good}},
		"report.trip.suspect":      {{"op a Relu\nout 0\n" + chain("", "distance=0.05"), good}},
		"report.trip.inconclusive": {{lost + lost2, good}},
		"report.trip.itself":       {{"meta left=x right=x why=same-sides:x\n" + good, good}},
		"report.trip.regression":   {{chain("distance=0.9", "") + before + "before out 0\n", chain("distance=0.9", "") + before + "before out 0 distance=0.9\n"}},
		"report.trip.cosine":       {{"below 0.98\n" + chain("distance=0.9", ""), "below 0.98\n" + good}},
		"report.trip.scalar":       {{"below 0.98\nop a Sum\nout 0 n=1 distance=0.5\n", "below 0.98\nop a Sum\nout 0 n=1\n"}},
		"report.trip.no-cosine":    {{"below 0.98\nop a Sum\nout 0 nan=1 unknown=1\n", "below 0.98\n" + good}},
		"report.trip.uncompared":   {{"below 0.98\n" + lost, "below 0.98\n" + good}},

		"report.cause.unexplained":   {{network(2, "", "check wrong"), network(2, "", "check ok")}},
		"report.cause.nan-left":      {{"op a Relu\nout 0 nan=1\n", good}},
		"report.cause.inf-left":      {{"op a Relu\nout 0 inf=1\n", good}},
		"report.cause.given":         {{given("w"), network(2, "", "")}},
		"report.cause.zeros-left":    {{zeros + "left distance=1 cosine=nan\n", zeros + "right distance=inf cosine=nan\n"}},
		"report.cause.zeros-right":   {{zeros + "right distance=inf cosine=nan\n", zeros + "left distance=1 cosine=nan\n"}},
		"report.cause.integers":      {{ids + " n=20 differ=7 distance=0.1\n", ids + "\n"}},
		"report.cause.scalar":        {{"op a Sum\nout 0 n=1 distance=0.021\n", "op a Sum\nout 0 n=1 distance=0.019\n"}},
		"report.cause.cosine":        {{"op a Relu\nout 0 cosine=0.9799 distance=0.2\n", "op a Relu\nout 0 cosine=0.9801 distance=0.2\n"}},
		"report.cause.distance":      {{"op a Relu\nout 0 cosine=1 distance=0.21\n", "op a Relu\nout 0 cosine=1 distance=0.19\n"}},
		"report.cause.statistics":    {{"calls a 4/4 9/4", "calls a 4/4 4/4"}},
		"report.cause.limit":         {{"op a Relu\nout 0 distance=nan cosine=1\n", good}},
		"report.cause.tolerance":     {{"profile [[rule]]; cause = \"tolerance\"; atol = 0.001; rtol = 0.001; limit = 0.01\nop a Relu\nout 0 distance=0.1\n", good}},
		"report.cause.jump-distance": {{chain("", "distance=0.05"), good}},
		"report.cause.jump-largest":  {{chain("", "distance=0.05"), good}},
		"report.cause.law":           {{"op data Data feed\nout 0\nop a Reshape in=data:0\nout 0 distance=1e-4 hi=99\n", "op data Data feed\nout 0\nop a Reshape in=data:0\nout 0\n"}},
		"report.cause.not-finite":    {{"calls a 4/4 4/4\nb 4/4:a 4/4\nc 4.05/4 NaN/NaN", "calls a 4/4 NaN/4"}},
		"report.cause.saturated":     {{sized, good}},
		"report.cause.underflow":     {{"op data Data feed\nout 0\nop a Mul in=data:0\nout 0 distance=0.5 small=1 max=1e-8\nop b Relu in=a:0\nout 0 distance=0.5\n", good}},
		"report.stored.good":         {{stored + "distance=1e-4\n", stored + "distance=0.9\n"}, {stored + "\n", good}},
		"report.stored.suspect":      {{stored + "distance=1e-4 reason=stored-differs\n", stored + "distance=1e-4\n"}},
		"report.stored.bad":          {{stored + "distance=0.9\n", stored + "distance=1e-4\n"}},
		"report.rounded":             {{"calls a 4.0000001/4 4.0000001/4", "calls a 4/4 4/4"}, {"calls a 4.0000001/4 4.0000001/4", "calls a 4/4 4.004/4"}},

		"report.cause.nan-right": {{"op a Relu\nout 0 nan=1 swapped\n", "op a Relu\nout 0 nan=1\n"}},
		"report.cause.nan":       {{"op a Relu\nout 0 nan=1 both\n", "op a Relu\nout 0 nan=1\n"}},
		"report.cause.inf":       {{"op a Relu\nout 0 inf=1 both\n", "op a Relu\nout 0 inf=1\n"}},
		"report.cause.inf-right": {{"op a Relu\nout 0 inf=1 swapped\n", "op a Relu\nout 0 inf=1\n"}},
		"report.cause.nan-some":  {{"op a Relu\nout 0 nan=1 unknown=1\n", good}},
		"reason.inputs-scaled":   {{fed("distance=1 differ=4096 scale=2"), fed("distance=1 differ=4096")}},
		"report.region.untold":   {{"calls all_gather 4/4 ~/~\na ~/~:all_gather 9/4", "calls all_gather 4/4 4/4\na 4/4:all_gather 9/4"}},
		"report.root.seen":       {{"op a Conv2D\nwhole no-left-dump a Conv2D\nop b Relu in=a:0 amiss=0\nout 0 distance=0.9\n", chain("distance=0.9", "distance=0.9")}},
		"reason.inputs-apart":    {{fed("distance=0.3 max=2"), fed("distance=0.3 differ=4")}},
		"reason.given-scaled":    {{few("distance=1 differ=4096 scale=2"), few("distance=1 differ=4096")}},
		"reason.given-apart":     {{few("distance=0.5 max=30"), few("distance=0.5 differ=4")}},
		"reason.given-near":      {{"op data Data feed\nout 0 distance=0.05\nop op MatMulV2 in=data:0\nout 0\n", "op data Data feed\nout 0\nop op MatMulV2 in=data:0\nout 0\n"}},
		"reason.weights-differ":  {{loaded("distance=0.9"), loaded("distance=0.05")}, {loaded("distance=0.9"), loaded("")}},
		"reason.step-differs":    {{loaded("distance=0.05"), loaded("distance=0.9")}, {loaded("distance=0.05"), loaded("")}},
		"reason.weights-apart":   {{strange("differs"), strange("follows")}},
		"reason.cancelled":       {{total("distance=1e-7", "rms=1e-7"), total("distance=1e-7", "")}, {total("distance=1e-7", "rms=1e-7"), total("distance=0.01", "rms=1e-7")}},
		"reason.torn":            {{torn("amiss=0"), torn("")}},
		"reason.inconsistent":    {{mixed("wrong"), mixed("ok")}},
		"report.root.noise":      {{"op a Relu\nout 0 distance=0.9\nagain op a Relu\nagain out 0 distance=0.8\n", "op a Relu\nout 0 distance=0.9\nagain op a Relu\nagain out 0 distance=0.1\n"}},
		"report.loss.partners":   {{"meta how=names why=ranks-unpaired:left|rank1\n" + good, good}},
		"report.loss.csv":        {{"meta imported=1\n" + good, good}},
		"reason.same-sides":      {{"meta left=x right=x why=same-sides:x\n" + good, good}},
		"reason.batch-differs":   {{"meta how=names why=batch-differs:2|2|8|1\n" + lost + lost2, good}},
		"reason.shapes-mostly":   {{"meta how=names why=shapes-mostly:2|2\n" + lost + lost2, good}},
		"reason.given-differs":   {{given("w"), network(2, "", "")}},
		"reason.inputs-differ":   {{fed("distance=0.9 differ=4096"), fed("distance=0.3 differ=4")}, {fed("distance=0.9 differ=4096"), fed("")}},

		"report.suspect.differs":    {{"calls a 4/4 4.004/4", "calls a 4/4 9/4"}, {"calls a 4/4 4.004/4", "calls a 4/4 4/4"}},
		"report.suspect.not-finite": {{"calls a 4/4 4/4\nb 4/4:a 4/4\nc 4.05/4 NaN/NaN", "calls a 4/4 4/4"}, {"calls a 4/4 4/4\nb 4/4:a 4/4\nc 4.05/4 NaN/NaN", "calls a 4/4 NaN/4"}},
		"report.cause.differs":      {{"calls a 4/4 4.004/4", "calls a 9/4 9/4"}, {"calls a 4/4 4.004/4", "calls a 4/4 4/4"}},
		"report.cause.differs-some": {{"calls a 4/4 #1/#2", "calls a 4/4 #1/#1"}, {"calls a 4/4 #1/#2", "calls a 9/4 #1/#2"}},
		"report.rounded.products":   {{"calls a 4/4 4.0004/4\nb 4/4 4.0004/4", "calls a 4/4 4.0004/4\nb 4/4 4/4"}, {"calls a 4/4 4.0004/4\nb 4/4 4.0004/4", "calls a 4/4 4.04/4\nb 4/4 4.04/4"}, {"calls a 4/4 4.0004/4\nb 4/4 4.0004/4", "calls a 4/4 4.0004/4"}},
		"report.root.begin-other":   {{"calls a 4.05/4 #1/#1\nb #1/#1:a 9/4", "calls a 4/4 #1/#1\nb #1/#1:a 9/4"}},
		"report.root.begin":         {{"calls a 4.05/4 9/4", "calls a 4/4 9/4"}, {"calls a 4.05/4 9/4", "calls a 4/4 9/4\nb 9/4:a 9/4"}},
		"report.likely.alone":       {{"calls a 4/4 4/4\nb 4.004/4", "calls a 4/4 4/4\nb 4/4:a 4.004/4"}, {"calls a 4.004/4", "calls a 4/4 4.004/4"}},
		"report.root.begin-fed":     {{"calls a 4/4 4/4\nb 9/4:a 9/4", "calls a 4/4 9/4\nb 9/4:a 9/4"}, {"calls a 4/4 4/4\nb 9/4:a 9/4", "calls a 4/4 ~/~\nb 9/4:a 9/4"}},
		"report.root.begin-unseen":  {{"calls a 4/4 ~/~\nb 9/4:a 9/4", "calls a 4/4 4/4\nb 9/4:a 9/4"}},
	}
}

// elsewhere are sentences that need more than a table: the test that earns them and makes them false, and what
// it calls them.
var elsewhere = map[string][3]string{
	"report.after.agrees":        {"../verdict/after_test.go", "TestAfter", "AfterAgrees"},
	"report.after.same":          {"../verdict/after_test.go", "TestAfter", "AfterAgrees"},
	"report.after.decided":       {"../verdict/after_test.go", "TestAfter", "AfterDecided"},
	"report.after.some":          {"../verdict/after_test.go", "TestAfter", "AfterDecided"},
	"report.after.is":            {"../verdict/after_test.go", "TestAfter", "AfterDecided"},
	"report.after.none":          {"../verdict/after_test.go", "TestAfter", "AfterOpen"},
	"report.after.open":          {"../verdict/after_test.go", "TestAfter", "AfterOpen"},
	"report.after.region":        {"../verdict/after_test.go", "TestAfter", "Region"},
	"report.loss.ranks":          {"lost_test.go", "TestLossTexts", "LossRanks"},
	"report.loss.parts":          {"lost_test.go", "TestLossTexts", "LossParts"},
	"report.loss.contrary":       {"../verdict/losses_test.go", "TestLosses", "LossContrary"},
	"report.loss.given":          {"../verdict/premise_test.go", "TestOtherInput", "LossGiven"},
	"report.loss.inputs":         {"../recording/tensors_test.go", "TestHalfRecorded", "LossInputs"},
	"report.loss.recording":      {"../verdict/losses_test.go", "TestLosses", "LossRecording"},
	"report.loss.graph":          {"../engine/unfit_test.go", "TestGraphThatDoesNotFit", "LossGraph"},
	"report.root.begin-untaken":  {"../recording/flow_test.go", "TestFlow", "a result that is not taken"},
	"report.root.begin-whole":    {"../recording/flow_test.go", "TestFlow", "ids that are one number"},
	"report.root.begin-order":    {"../recording/mindspore_test.go", "TestView", "View"},
	"report.root.begin-alone":    {"../recording/tensors_test.go", "TestMovedAlone", "roll"},
	"report.root.begin-in":       {"../recording/mindspore_test.go", "TestMigratedGap", "Region"},
	"report.root.begin-argument": {"../recording/quirks_test.go", "TestQuirks", "verdict.Argument"},
	"report.root.default":        {"../recording/flow_test.go", "TestDefaults", "LeftDefault"},
	"reason.module-ends":         {"../recording/flow_test.go", "TestVersions", "ModuleEnds"},
	"reason.left-default":        {"../recording/flow_test.go", "TestDefaults", "LeftDefault"},
	"reason.right-default":       {"../recording/flow_test.go", "TestDefaults", "RightDefault"},
	"report.cause.argument":      {"../recording/quirks_test.go", "TestQuirks", "verdict.Argument"},
	"reason.weights-unseen":      {"../verdict/premise_test.go", "premised", "PremiseWeights"},
	"reason.hint-sum":            {"../look/compared_test.go", "TestComparedSum", "HintSum"},
	"reason.hint-turned":         {"../look/compared_test.go", "TestHints", "HintTurned"},
	"reason.hint-order":          {"../look/compared_test.go", "TestHints", "HintOrder"},
	"reason.hint-padded":         {"../look/compared_test.go", "TestHints", "HintPadded"},
	"reason.hint-flipped":        {"../look/compared_test.go", "TestHints", "HintFlipped"},
	"reason.hint-other":          {"../look/compared_test.go", "TestHints", "HintOther"},
	"reason.hint-stale":          {"../look/given_test.go", "TestGivenHints", "HintStale"},
	"reason.hint-moved":          {"../look/given_test.go", "TestGivenHints", "HintMoved"},
	"reason.hint-fed":            {"../look/given_test.go", "TestGivenHints", "HintFed"},
	"reason.hint-zeros":          {"earned_test.go", "TestWarmUp", "warming up"},
	"reason.golden-without":      {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenWithout"},
	"reason.golden-scaled":       {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenScaled"},
	"reason.golden-used":         {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenUsed"},
	"reason.golden-unused":       {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenUnused"},
	"reason.golden-equals":       {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenEquals"},
	"reason.golden-places":       {"../oracle/follow_test.go", "TestGoldenReasons", "GoldenPlaces"},
	"reason.order-differs":       {"../recording/order_test.go", "TestOtherOrder", "OrderDiffers"},
	"reason.ranks-exchanged":     {"../recording/ranks_test.go", "TestExchangedRanks", "RanksExchanged"},
	"reason.rows-unseen":         {"../recording/decode_test.go", "TestUnseenRows", "RowsUnseen"},
	"reason.operators-alone":     {"../verdict/premise_test.go", "TestPremisesByNames", "PremiseGraph"},
	"reason.tokens-sampled":      {"../recording/decode_test.go", "TestNextToken", "TokensSampled"},
	"reason.inputs-sums":         {"../recording/premise_test.go", "TestIdsByChecksum", "InputsSummed"},
	"reason.inputs-said":         {"../recording/premise_test.go", "TestPremises", "PremiseInputs"},
	"reason.made-non-finite":     {"../recording/tensors_test.go", "TestMadeAlone", "NaN of finite numbers"},
	"reason.nan-flagged":         {"../recording/recorder_test.go", "TestNaNCheck", "Torch.where.0.forward"},
	"reason.integers-rounded":    {"../recording/mindspore_test.go", "TestIntegersByFloat32", "IntegersRounded"},
	"reason.norms-differ":        {"../recording/sums_test.go", "TestOtherSums", "NormsDiffer"},
	"reason.values-underway":     {"../recording/recorder_test.go", "TestUnderway", "ValuesUnderway"},
	"report.root.places":         {"../verdict/across_test.go", "TestSettle", "one collective is wrong on all ranks"},
	"report.root.reached":        {"../verdict/across_test.go", "TestSettle", "what nothing recorded explains follows from another rank"},
	"report.cause.imaginary":     {"../engine/imaginary_test.go", "TestImaginaryPartsLeftOut", "RealPartOnly"},
	"report.cause.alone":         {"../recording/tensors_test.go", "TestMovedAlone", "roll"},
	"report.cause.form":          {"../recording/flow_test.go", "TestForms", "MasksAlike"},
	"reason.inputs-unrecorded":   {"../recording/flow_test.go", "TestNamedOnce", "InputsUnrecorded"},
	"report.coverage":            {"true_test.go", "TestSentencesAreTrue", "report.coverage"},
	"reason.golden-attribute":    {"../oracle/follow_test.go", "TestAttributeIsFound", "GoldenAttribute"},
	"reason.golden-form":         {"../oracle/form_test.go", "TestGoldenForms", "GoldenForm"},
	"reason.golden-alone":        {"../oracle/form_test.go", "TestGoldenForms", "GoldenAlone"},
}

// said is what is told of a table.
func said(t *testing.T, lang msg.Lang, table string) string {
	t.Helper()
	text, opts, gate, _ := forJudge(t, table, nil)
	parsed := &result.Table{}
	if calls, ok := strings.CutPrefix(text, "calls "); ok {
		parsed = parseCalls(t, calls)
	} else {
		parsed = parseTable(t, text)
	}
	j := verdict.Judge(parsed, opts)
	gate.Strict = true
	return Render(append(Text{Lang: lang}.Verdict(j), Text{Lang: lang}.Trips(j, j.Trips(gate))...), 12, func(_ Style, text string) string { return text })
}

// parseCalls reads calls of a recording, a line each: its name, the norms of what goes in and of what
// comes out on either side, and what feeds it: a 4/4 9/4, b 9/4:a 9/4.
func parseCalls(t *testing.T, text string) *result.Table {
	table := &result.Table{Meta: result.Meta{Recorded: true, Pairing: result.Pairing{How: result.Aligned}}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		op := "Functional." + words[0] + ".0.forward"
		table.Ops = append(table.Ops, result.Operator{Name: op, Type: "linear", Outputs: 1, Order: len(table.Ops), Dumped: true})
		for i, word := range words[1:] {
			value, from, _ := strings.Cut(word, ":")
			left, right, _ := strings.Cut(value, "/")
			of := func(text string) *result.Summary {
				if text == "~" { // still on its way from other ranks
					return &result.Summary{Class: "torch.distributed._functional_collectives.AsyncCollectiveTensor"}
				}
				if sum, ok := strings.CutPrefix(text, "#"); ok {
					return &result.Summary{Class: "torch.Tensor", Sum: sum}
				}
				norm, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm,
					Stats: result.Stats{Max: norm / 2, Min: -norm / 2, Mean: norm / 10, Norm: norm}}
			}
			operand := result.Operand{DType: dtype.Float32, Shape: []int64{16}}
			r := result.Row{Op: op, Type: "linear", Role: result.Input, Left: operand, Right: operand, Shape: []int64{16},
				Recorded: &result.Recorded{Left: of(left), Right: of(right), Both: 4, Place: "input.0"}}
			if left == "~" {
				r.Reasons, r.Recorded.Both = []result.Reason{result.Because(result.NoStatistics, "input.0")}, 0
			} else if left == right {
				r.Recorded.Same = 4
			}
			if value[0] == '#' {
				r.Recorded.Hashed, r.Recorded.HashSame = true, left == right
			}
			if from != "" {
				r.Facts.Producer = result.Port{Op: "Functional." + from + ".0.forward"}
				r.Recorded.Golden = r.Facts.Producer
			}
			if i == len(words)-2 {
				r.Role, r.Recorded.Place = result.Output, "output.0"
			}
			table.Rows = append(table.Rows, r)
		}
	}
	return table
}

// Every sentence that claims something is gone when what it claims is not so. A sentence that is added
// to the catalogue needs a table of either kind.
func TestSentencesAreEarned(t *testing.T) {
	msgtest.Earned{Under: []string{"report.", "reason."}, Claims: claims, Cases: earned(), Elsewhere: elsewhere, Say: said}.Check(t)
}

// A side that is zero alone, in all that goes in or nearly everywhere, may be a call for warming up; a call
// that makes zeros of numbers is none.
func TestWarmUp(t *testing.T) {
	const hint = "is it a call for warming up?"
	for table, want := range map[string]bool{
		"calls a 0/4 0/4\nb 0/4:a 0/4":            true,
		"calls a 4/0 4/0\nb 4/0:a 4/0":            true,
		"calls a 0/4 3/4\nb 3/4:a 3/4\nc 3/4 3/4": true,
		"calls a 4/4 0/4\nb 0/4:a 0/4":            false,
		"calls a 0/0 0/0\nb 0/0:a 0/0":            false,
		"calls a 9/4 9/4\nb 9/4:a 9/4":            false,
		"calls a 4/4 4/4\nb 4/4:a 4/4":            false,
	} {
		if got := said(t, msg.English, table); strings.Contains(got, hint) != want {
			t.Errorf("%s\n%s", table, got)
		}
	}
}
