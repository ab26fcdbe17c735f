package main

import (
	"bytes"
	"fmt"
	"math"
)

// The plot's measures, in pixels: three panels, one above the other.
const (
	plotWidth, panelHeight = 900, 170
	left, right, top, foot = 80, 20, 34, 26
)

// plot draws the samples: each quantity in a panel of its own that begins at 0, so that flat looks flat.
func plot(samples []sample, found findings) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, 3*panelHeight)
	out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, panel := range []struct {
		title string
		of    func(sample) float64
	}{{"resident memory, MiB", residentOf}, {"open descriptors", descriptorsOf}, {"threads", threadsOf}} {
		verdict := ""
		if i < len(found) {
			verdict = fmt.Sprintf(" – early %.1f, late %.1f", found[i].Early, found[i].Late)
		}
		drawPanel(&out, i*panelHeight, panel.title+verdict, samples, panel.of)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func drawPanel(out *bytes.Buffer, y int, title string, samples []sample, of func(sample) float64) {
	greatest, length := niceAbove(most(samples, of)), 1.0
	if len(samples) > 0 {
		length = max(length, samples[len(samples)-1].Seconds)
	}
	width, height := float64(plotWidth-left-right), float64(panelHeight-top-foot)
	base := float64(y + panelHeight - foot)
	fmt.Fprintf(out, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", left, y+20, title)
	for tick := range 3 {
		value := greatest * float64(tick) / 2
		at := base - height*float64(tick)/2
		fmt.Fprintf(out, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			left, at, plotWidth-right, at, left-8, at+4, value)
	}
	fmt.Fprintf(out, `<text x="%d" y="%.1f" text-anchor="end">%.0f min</text>`+"\n", plotWidth-right, base+16, length/60)
	out.WriteString(`<polyline fill="none" stroke="#0b6" stroke-width="1.5" points="`)
	for _, s := range samples {
		fmt.Fprintf(out, "%.1f,%.1f ", float64(left)+width*s.Seconds/length, base-height*of(s)/greatest)
	}
	out.WriteString(`"/>` + "\n")
}

// niceAbove is the next of 1, 2, 4, 5, 10, 20, 40, … at or above a value.
func niceAbove(value float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(max(value, 1))))
	for _, factor := range []float64{1, 2, 4, 5} {
		if value <= factor*unit {
			return factor * unit
		}
	}
	return 10 * unit
}
