#!/bin/sh
# Makes the PDF files of this folder with programs that people use (Debian: libreoffice-writer, chromium-headless-shell, ghostscript, qpdf,
# poppler-utils). The results are kept, so that the tests need none of the programs.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# LibreOffice: a tagged document with merged cells, raised text and a list.
cat > "$work/office.html" <<'HTML'
<!doctype html><html lang="en"><title>Pumps</title><h1>Pumps of the station</h1>
<p>The lamp makes 10<sup>6</sup> cycles. Water is H<sub>2</sub>O. It is 40 degrees<sup>1</sup> in the shade.</p>
<p><img src="dot.png" alt="Drawing of the pump with its three valves" width="200" height="80"></p>
<table border="1"><tr><th rowspan="2">Pump</th><th colspan="2">Pressure</th></tr>
<tr><th>Inlet</th><th>Outlet</th></tr>
<tr><td>North</td><td>3.1</td><td>4.7</td></tr>
<tr><td>South</td><td colspan="2">not measured</td></tr></table>
<ol start="4"><li>Close the valve</li><li>Wait for an hour</li></ol></html>
HTML
base64 -d > "$work/dot.png" <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
PNG
tagged='pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"true"}}'
soffice "-env:UserInstallation=file://$work/profile" --headless '--infilter=HTML (StarWriter)' \
  --convert-to "$tagged" --outdir "$work" "$work/office.html" > /dev/null
mv "$work/office.pdf" libreoffice.pdf

# Chromium prints the same page.
chromium-headless-shell --headless --no-sandbox --disable-gpu --no-pdf-header-footer "--user-data-dir=$work/browser" \
  "--print-to-pdf=$work/browser.pdf" "$work/office.html" 2> /dev/null
mv "$work/browser.pdf" chromium.pdf

# Ghostscript: text in several directions, a note, a field of a form, and a scanned page.
cat > "$work/page.ps" <<'PS'
%!PS
/Helvetica findfont 12 scalefont setfont
/at { moveto show } def
/up { gsave moveto 90 rotate show grestore } def
[ /Subtype /Text /Rect [400 700 420 720] /Contents (Is this the new pump?) /Title (Ann) /ANN pdfmark
[ /Subtype /Widget /FT /Tx /T (inspector) /V (Grace Harbour) /Rect [140 676 300 692] /DA (/Helv 12 Tf 0 g) /ANN pdfmark
(The data of the pumps, measured at the factory in Ulm.) 72 740 at
(Inspector:) 72 680 at
(Inlet pressure) 210 560 up (Flow rate) 310 560 up (Temperature) 410 560 up
(Pump A) 100 530 at (3.1) 200 530 at (20) 300 530 at (65) 400 530 at
(Pump B) 100 510 at (4.7) 200 510 at (35) 300 510 at (70) 400 510 at
(The lamp makes 10) 72 440 at gsave /Helvetica findfont 8 scalefont setfont 0 4.5 rmoveto (6) show grestore
currentpoint 9 add exch pop pop (cycles.) 190 440 at
showpage
gsave 612 792 scale 8 8 8 [8 0 0 -8 0 8] {<00ff00ff00ff00ff>} image grestore showpage
PS
gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sPAPERSIZE=letter -o ghostscript.pdf "$work/page.ps"

# qpdf: the same pages turned, in streams of objects, with an attachment and a password for changes only.
printf 'part,price\nseal,2\n' > "$work/prices.csv"
qpdf ghostscript.pdf --rotate=+90:1 --object-streams=generate --add-attachment "$work/prices.csv" -- \
  --deterministic-id qpdf.pdf
qpdf qpdf.pdf --encrypt '' change 256 -- qpdf-encrypted.pdf

# Poppler draws the page anew through cairo, whose fonts all have the size 1.
pdftocairo -pdf -f 1 -l 1 ghostscript.pdf poppler.pdf
