// Package uniq collects names, each once, in the order they come.
package uniq

import "slices"

// Names is a list without repetition. The zero value is empty.
type Names struct {
	List []string
	seen map[string]struct{} // of long lists; most hold a handful of names
}

// short is up to how many names looking through the list is quicker than a map.
const short = 16

// Add appends a name that is not in the list yet.
func (n *Names) Add(name string) {
	if len(n.List) < short {
		if !slices.Contains(n.List, name) {
			n.List = append(n.List, name)
		}
		return
	}
	if n.seen == nil {
		n.seen = make(map[string]struct{}, 2*len(n.List))
		for _, s := range n.List {
			n.seen[s] = struct{}{}
		}
	}
	if _, ok := n.seen[name]; !ok {
		n.seen[name] = struct{}{}
		n.List = append(n.List, name)
	}
}
