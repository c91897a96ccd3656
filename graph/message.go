package graph

import "fmt"

// Message is what an error or a warning says: in English, and as what the sentence was made of. Package tell says it in
// another language, which knows it by its format.
type Message struct {
	Text   string
	Format string
	Args   []any // words that have a translation are Terms, parts of the sentence Messages
}

// Messagef makes a message as fmt.Sprintf makes a text.
func Messagef(format string, args ...any) Message {
	return Message{fmt.Sprintf(format, args...), format, args}
}

func (m Message) String() string { return m.Text }

// Term is a word of a message that other languages have another one for.
type Term string
