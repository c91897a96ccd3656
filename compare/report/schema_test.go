package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"precision/compare/verdict"
)

// compileSchema reads a JSON Schema.
func compileSchema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate fails the test unless a text keeps to a schema.
func validate(t testing.TB, s *jsonschema.Schema, text []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	if err := s.Validate(doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// TestSchemaKinds: the schema names every cause, and no other.
func TestSchemaKinds(t *testing.T) {
	var s struct {
		Defs struct {
			Cause struct {
				Properties struct {
					Kind struct{ Enum []verdict.Kind }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema, &s); err != nil {
		t.Fatal(err)
	}
	if got := s.Defs.Cause.Properties.Kind.Enum; !slices.Equal(got, verdict.Kinds()) {
		t.Errorf("the schema has the causes %v, expected %v", got, verdict.Kinds())
	}
}
