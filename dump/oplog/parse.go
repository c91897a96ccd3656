package oplog

import (
	"fmt"
	"strings"
)

// node is a value as Python prints it: a text, and its items if it is a list, tuple or dict.
type node struct {
	key, text string
	items     []node
}

func (n *node) item(i int) *node {
	if n == nil || i >= len(n.items) {
		return nil
	}
	return &n.items[i]
}

func (n *node) named(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.items {
		if n.items[i].key == key {
			return &n.items[i]
		}
	}
	return nil
}

type parser struct {
	text string
	at   int
	deep int
}

// mostDeep is how many brackets may stand in one another.
const mostDeep = 64

// list reads values with commas between up to a closing bracket.
func (p *parser) list(end byte) ([]node, error) {
	list := []node{}
	if p.deep++; p.deep > mostDeep {
		return nil, fmt.Errorf("brackets nested more than %d deep", mostDeep)
	}
	defer func() { p.deep-- }()
	for {
		p.blanks()
		if p.at >= len(p.text) {
			return nil, fmt.Errorf("found the end of the line, expected %q", end)
		}
		if p.text[p.at] == end {
			p.at++
			return list, nil
		}
		n, err := p.value(string(end) + ",")
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if p.at < len(p.text) && p.text[p.at] == ',' {
			p.at++
		}
	}
}

func (p *parser) blanks() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// value reads one value; ends are the bytes that end it. What stands before an equal sign or, in quotes, before a colon is its key.
func (p *parser) value(ends string) (n node, err error) {
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(ends, rune(p.text[p.at])) {
		switch b := p.text[p.at]; b {
		case '\'', '"':
			p.quoted(b)
			if quoted := p.text[start:p.at]; p.at < len(p.text) && p.text[p.at] == ':' && n.key == "" && quoted[0] == b {
				n.key = strings.Trim(quoted, string(b))
				p.at++
				p.blanks()
				start = p.at
			}
			continue
		case '=':
			if word := p.text[start:p.at]; n.key == "" && isWord(word) {
				n.key, start = word, p.at+1
			}
		case '(', '[', '{':
			opening := p.at
			p.at++
			items, err := p.list(map[byte]byte{'(': ')', '[': ']', '{': '}'}[b])
			if err != nil {
				return n, err
			}
			if opening == start {
				n.items = items
			}
			continue
		case ')', ']', '}':
			return n, fmt.Errorf("found %q, expected one of %q", b, ends)
		case '<': // <function f at 0x7f>
			if end := strings.IndexByte(p.text[p.at:], '>'); end > 0 {
				p.at += end
			}
		}
		p.at++
	}
	n.text = strings.TrimSpace(p.text[start:p.at])
	return n, nil
}

func (p *parser) quoted(mark byte) {
	for p.at++; p.at < len(p.text); p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		} else if p.text[p.at] == mark {
			p.at++
			return
		}
	}
	p.at = min(p.at, len(p.text))
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// results reads what a call gave: one value, or a tuple of several, up to two blanks and a remark.
func (p *parser) results() ([]node, error) {
	if at := strings.Index(p.text, "  # {"); at >= 0 {
		q := &parser{text: p.text[:at]}
		list, err := q.results()
		p.at = at
		return list, err
	}
	n, err := p.value("")
	if err != nil {
		return nil, err
	}
	if n.items != nil && inside().MatchString(n.text) && tensor().FindString(n.text) == "" {
		return n.items, nil
	}
	return []node{n}, nil
}
