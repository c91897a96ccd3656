package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"precision/internal/whole"
)

// ParseShard reads "2/7", the second of seven shards.
func ParseShard(text string) (shard, shards int, err error) {
	a, b, ok := strings.Cut(text, "/")
	if ok {
		shard, err = strconv.Atoi(a)
		if err == nil {
			shards, err = strconv.Atoi(b)
		}
	}
	if !ok || err != nil || shard < 1 || shard > shards {
		return 0, 0, fmt.Errorf("found %q, expected I/N, the I-th of N shards, such as 1/4", text)
	}
	return shard, shards, nil
}

// shardOf are the units of a shard. Units go, the largest first, to the shard that has least so
// far; all machines come to the same, as all have the same plan.
func shardOf(units []unit, shard, shards int) (mine []unit) {
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(units[b].bytes, units[a].bytes), cmp.Compare(units[a].name, units[b].name))
	})
	load, count := make([]int64, shards), make([]int, shards)
	of := make([]int, len(units))
	for _, i := range order {
		least := 0
		for k := range load {
			if cmp.Or(cmp.Compare(load[k], load[least]), cmp.Compare(count[k], count[least])) < 0 {
				least = k
			}
		}
		of[i] = least
		load[least] += units[i].bytes
		count[least]++
	}
	for i, u := range units {
		if of[i] == shard-1 {
			mine = append(mine, u)
		}
	}
	return mine
}

// shardSays is what shard.json holds.
type shardSays struct {
	Shard  int `json:"shard"`
	Shards int `json:"shards"`
}

// writeShard says in the output folder which shard it holds.
func writeShard(dir *whole.Folder, s Settings) error {
	if s.Shards == 0 {
		return dir.Remove(ShardFile)
	}
	return dir.Fill(ShardFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(shardSays{s.Shard, s.Shards}) })
}
