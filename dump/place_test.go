package dump

import "testing"

func TestPlaceOf(t *testing.T) {
	for _, c := range []struct {
		dir  string
		want Place
	}{
		{"/j/debug_0/dump/20230713074125/3/ge_default_1/7/2", Place{Rank: 3, Device: 3, Step: 2, Model: "ge_default_1", ModelID: "7", Time: "20230713074125", Above: "/j"}},
		{"/j/hostb/dump/20230713074125/3/net/1/0", Place{Rank: 3, Device: 3, Step: 0, Model: "net", ModelID: "1", Time: "20230713074125", Above: "/j/hostb"}},
		{"/j/rank_12/Net/0/5", Place{Rank: 12, Device: -1, Own: true, Step: 5, Model: "Net", ModelID: "0", Above: "/j"}},
		{"/j/rank9/20230713074125/1/net/1/0", Place{Rank: 9, Device: 1, Own: true, Step: 0, Model: "net", ModelID: "1", Time: "20230713074125", Above: "/j"}},
		{"/j/step4/rank7", Place{Rank: 7, Device: -1, Own: true, Step: 4, Above: "/j"}},
		// torchair: tokens of FX are counted from 1, those of GE from 0
		{"/j/msprobe_ge_dump/worldsize8_global_rank3/20230713074125/0/net/1/0", Place{Rank: 3, Device: 0, Own: true, Step: 0, Model: "net", ModelID: "1", Time: "20230713074125", Above: "/j/msprobe_ge_dump"}},
		{"/j/msprobe_fx_dump/worldsize8_global_rank3/net/1", Place{Rank: 3, Device: -1, Own: true, Step: 0, Above: "/j/msprobe_fx_dump"}},
		{"/j/data_dump/5/gm_20240125_dump", Place{Rank: -1, Device: -1, Step: 4, Above: "/j/data_dump/5/gm_20240125_dump"}},
		{"/j/golden_rank3_step1", Place{Rank: 3, Device: -1, Own: true, Step: 1, Above: "/j"}},
		{"/j/golden", Place{Rank: -1, Device: -1, Step: -1, Above: "/j/golden"}},
		{"/j/frank5/first", Place{Rank: -1, Device: -1, Step: -1, Above: "/j/frank5/first"}},
	} {
		if got := PlaceOf(c.dir); got != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", c.dir, got, c.want)
		}
	}
}
