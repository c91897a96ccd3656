package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// inventory writes what the programs are made of as CycloneDX: modules, versions, the
// sums go.sum holds, licences. It is taken from what go stamped into the programs.
func (b *build) inventory(modules []*module) {
	own := "pkg:golang/precision@" + b.version
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: b.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{BOMRef: own, Type: cyclonedx.ComponentTypeApplication, Name: "precision", Version: b.version,
			Licenses: licences([]string{"Apache-2.0"}), Properties: &[]cyclonedx.Property{{Name: "vcs:revision", Value: b.commit}}},
	}
	var components []cyclonedx.Component
	var refs []string
	for _, m := range modules {
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, Licenses: licences(m.licences)}
		c.BOMRef = m.path
		if m.version != "" {
			c.PackageURL = "pkg:golang/" + m.path + "@" + m.version
			c.BOMRef = c.PackageURL
		}
		if m.sum != "" {
			c.Properties = &[]cyclonedx.Property{{Name: "go.sum", Value: m.sum}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: own, Dependencies: &refs}}
	// The number is that of the contents, not of the day.
	id := sha256.Sum256(append([]byte(own+b.commit), must(json.Marshal(components))...))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // RFC 9562, version 8
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])

	var text strings.Builder
	check(cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom))
	check(os.WriteFile(filepath.Join(b.out, "precision_"+b.version+".cdx.json"), []byte(text.String()), 0o644))
}

func licences(ids []string) *cyclonedx.Licenses {
	var list cyclonedx.Licenses
	for _, id := range ids {
		list = append(list, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return &list
}
