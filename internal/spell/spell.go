// Package spell finds what a word that is not known was meant to be.
package spell

import "unicode/utf8"

// Nearest is the word of a list that word differs from by the fewest slips: a letter
// too many, too few, another one, or two exchanged. Of several one of as many letters counts,
// or the first. It is "" if none is near: a slip for every three letters, and one at least,
// is allowed.
func Nearest(word string, list []string) string {
	letters := []rune(word)
	best, slips, other := "", max(1, len(letters)/3), 1<<30
	for _, w := range list {
		by := abs(utf8.RuneCountInString(w) - len(letters))
		if w == "" || by > slips {
			continue
		}
		if d := distance(letters, []rune(w), slips+1); d < slips || d == slips && by < other {
			best, slips, other = w, d, by
		}
	}
	return best
}

// distance is the number of slips between two words, most if it is not less.
func distance(a, b []rune, most int) int {
	older, old, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range a {
		now[0] = i + 1
		least := now[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(old[j+1]+1, now[j]+1, old[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], older[j-1]+1)
			}
			least = min(least, now[j+1])
		}
		if least >= most {
			return most
		}
		older, old, now = old, now, older
	}
	return min(old[len(b)], most)
}

func abs(n int) int { return max(n, -n) }
