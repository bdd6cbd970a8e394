#!/bin/sh
# Makes the PDF files of this folder with programs that people use (Debian: libreoffice-writer, chromium-headless-shell, ghostscript, qpdf,
# poppler-utils, texlive-latex-base, libnss3-tools). The results are kept, so that the tests need none of the programs.
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

# LibreOffice: lists with the marks of Word, whose fonts are not installed, and a Greek letter of Symbol.
cat > "$work/marks.fodt" <<'FODT'
<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:mimetype="application/vnd.oasis.opendocument.text" office:version="1.2">
<office:font-face-decls><style:font-face style:name="Symbol1" svg:font-family="Symbol" style:font-charset="x-symbol"/>
<style:font-face style:name="Wingdings1" svg:font-family="Wingdings" style:font-charset="x-symbol"/>
<style:font-face style:name="Courier" svg:font-family="'Liberation Mono'" style:font-pitch="fixed"/></office:font-face-decls>
<office:automatic-styles><style:style style:name="G" style:family="text"><style:text-properties style:font-name="Symbol1"/></style:style>
FODT
mark() { # <level> <character> <font>
  printf '<text:list-level-style-bullet text:level="%s" text:bullet-char="%s"><style:list-level-properties text:space-before="%scm" text:min-label-width="0.7cm"/><style:text-properties style:font-name="%s"/></text:list-level-style-bullet>' "$1" "$2" "$1" "$3"
}
{
  printf '<text:list-style style:name="L">'
  mark 1 '&#xf0b7;' Symbol1; mark 2 o Courier; mark 3 '&#xf0a7;' Wingdings1; mark 4 '&#xf0d8;' Wingdings1; mark 5 '&#xf0fc;' Wingdings1
  printf '</text:list-style></office:automatic-styles><office:body><office:text><text:p>The angle <text:span text:style-name="G">&#xf061;</text:span> is small. Load:</text:p><text:list text:style-name="L">'
  for each in anchor buoy chain davit engine; do printf '<text:list-item><text:p>the %s of the ship</text:p><text:list>' "$each"; done
  for each in 1 2 3 4 5; do printf '</text:list></text:list-item>'; done
  printf '</text:list></office:text></office:body></office:document>'
} >> "$work/marks.fodt"
soffice "-env:UserInstallation=file://$work/profile" --headless --convert-to pdf --outdir "$work" "$work/marks.fodt" > /dev/null
mv "$work/marks.pdf" libreoffice-marks.pdf

# Chromium prints the page of the pumps.
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

# pdfTeX: text that stands for glyphs, at the end of a line too (texlive-latex-base).
cat > "$work/actual.tex" <<'TEX'
\documentclass{article}\pagestyle{empty}\parindent0pt
\def\says#1#2{\pdfliteral page{/Span <</ActualText (#2)>> BDC}#1\pdfliteral page{EMC}}
\begin{document}
The lid is \says{W--T}{watertight}. It is an \says{\rule{5pt}{5pt}}{icon of a bell}.\\
The inspector opens the dis\says{-}{}\\charge valve every month.\\
The \pdfliteral page{/Span <</E (World Health Organization)>> BDC}WHO\pdfliteral page{EMC} was told.
\end{document}
TEX
SOURCE_DATE_EPOCH=0 pdflatex -interaction=batchmode -output-directory "$work" "$work/actual.tex" > /dev/null
mv "$work/actual.pdf" pdftex-actual-text.pdf

# LibreOffice without tags: a picture between texts, a logo, and two columns with a table in the first one.
python3 -c "
import struct, zlib
def png(width, height):
    rows = b''.join(b'\0' + bytes((x * y) % 251 for x in range(width)) for y in range(height))
    part = lambda name, data: struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    head = part(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0))
    return b'\x89PNG\r\n\x1a\n' + head + part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b'')
open('$work/chart.png', 'wb').write(png(120, 80))
open('$work/logo.png', 'wb').write(png(40, 40))
"
cat > "$work/columns.py" <<'PY'
import base64, sys
work = sys.argv[1]
def image(name, width, height):
    data = base64.b64encode(open(f'{work}/{name}.png', 'rb').read()).decode()
    return (f'<draw:frame text:anchor-type="as-char" svg:width="{width}cm" svg:height="{height}cm"><draw:image>'
            f'<office:binary-data>{data}</office:binary-data></draw:image></draw:frame>')
def text(about, count):
    return ' '.join(f'The {about} of station {at} is measured twice on every working day of the year.' for at in range(count))
cells = [['Pump', 'Inlet', 'Outlet'], ['North', '3.1', '4.7'], ['South', '3.2', '4.8'], ['West', '2.9', '4.1'], ['East', '3.3', '4.9']]
rows = ''.join('<table:table-row>' + ''.join(f'<table:table-cell><text:p>{cell}</text:p></table:table-cell>' for cell in row)
               + '</table:table-row>' for row in cells)
print(f'''<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:automatic-styles><style:style style:name="two" style:family="section"><style:section-properties>
<style:columns fo:column-count="2" fo:column-gap="0.8cm"/></style:section-properties></style:style></office:automatic-styles>
<office:body><office:text><text:p>{image('logo', 1, 1)} {text('level', 3)}</text:p><text:p>{image('chart', 8, 5)}</text:p>
<text:p>{text('noise', 3)}</text:p><text:section text:style-name="two" text:name="columns"><text:p>{text('pressure', 5)}</text:p>
<table:table><table:table-column table:number-columns-repeated="3"/>{rows}</table:table>
<text:p>{text('flow', 16)}</text:p></text:section></office:text></office:body></office:document>''')
PY
python3 "$work/columns.py" "$work" > "$work/columns.fodt"
untagged='pdf:writer_pdf_Export:{"UseTaggedPDF":{"type":"boolean","value":"false"}}'
soffice "-env:UserInstallation=file://$work/profile" --headless --convert-to "$untagged" --outdir "$work" "$work/columns.fodt" > /dev/null
mv "$work/columns.pdf" libreoffice-columns.pdf

# Poppler signs a page with a certificate of our own (libnss3-tools). Its whole font is packed by qpdf.
mkdir "$work/certificates"
certutil -N -d "sql:$work/certificates" --empty-password
head -c 512 /dev/urandom > "$work/noise"
certutil -S -d "sql:$work/certificates" -n signer -s 'CN=Grace Harbour,O=Harbours of Ulm' -x -t 'CT,C,C' -v 600 -z "$work/noise" > /dev/null 2>&1
pdfsig -nssdir "$work/certificates" -add-signature -nick signer -reason 'The pumps are accepted' poppler.pdf "$work/signed.pdf" > /dev/null
qpdf --recompress-flate --compression-level=9 --object-streams=generate "$work/signed.pdf" poppler-signed.pdf
