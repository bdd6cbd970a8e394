#!/usr/bin/env bash
# Makes the tables, texts, data, mail and calendars of this folder with programs that people use. On Debian:
# apt-get install pandoc libreoffice-calc-nogui libreoffice-writer-nogui gnumeric sqlite3 python3-openpyxl python3-xlsxwriter
# python3-docx python3-yaml python3-pygments jq diffutils ffmpeg calcurse abook mutt groff w3m weasyprint texlive-latex-base
# chromium-headless-shell, and Node for what the browser saves. The ports 4738 and 4739 are used for that.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000 TZ=UTC LC_ALL=C.UTF-8
office() { # <source> <format> <result>
  soffice "-env:UserInstallation=file://$work/profile" --headless --convert-to "$2" --outdir "$work/out" "$1" > "$work/log" 2>&1 || { cat "$work/log"; return 1; }
  local name=${1##*/}
  mv "$work/out/${name%.*}.${2%%:*}" "$3"
}

# Markdown and the markup of other programs.
pandoc manual.md -t gfm -o pandoc.gfm.md
for format in org rst asciidoc latex plain; do
  pandoc manual.md -s -t "$format" -o "$work/manual.$format"
done
cp "$work/manual.org" pandoc.org
cp "$work/manual.rst" pandoc.rst
cp "$work/manual.asciidoc" pandoc.adoc
sed -n '/title{Pump manual}/,$p' "$work/manual.latex" > pandoc.tex
cp "$work/manual.plain" pandoc.txt
pandoc manual.md -s -t docbook5 -o pandoc.xml

# A notebook.
cat > "$work/notebook.md" <<'MD'
::: {.cell .markdown}
# Flow of the pump

The flow is 10^6^ litres.
:::

::: {.cell .code execution_count=1}
``` python
def flow(rate):
    return rate * 2

print(flow(21))
```

::: {.output .stream .stdout}
```
42 litres
```
:::
:::

::: {.cell .raw}
```{=ipynb}
Not for printing.
```
:::
MD
pandoc "$work/notebook.md" -t ipynb | jq 'del(.cells[].id)' > pandoc.ipynb

# A page of highlighted code, a manual page as text and as PDF, a page as text.
printf 'def start(pump):\n    pump.open()\n\n    return pump\n' > "$work/start.py"
/usr/bin/pygmentize -f html -O full,linenos=table,title=start.py -o "$work/code.html" "$work/start.py"
sed '/<style/,/<\/style>/d' "$work/code.html" > pygments.html
cat > "$work/pump.1" <<'MAN'
.TH PUMP 1 "2024-03-01" "Pump 2.1" "User Commands"
.SH NAME
pump \- moves water
.SH SYNOPSIS
.B pump
[\-\-rate
.IR LITRES ]
.SH OPTIONS
.TP
.B \-\-rate
Sets the flow in litres per hour, which the pump keeps as long as there is water in the inlet.
.TP
.B \-\-dry
Lets the pump run without water.
MAN
groff -man -Tutf8 -P-cbou "$work/pump.1" > groff.txt
groff -man -Tpdf "$work/pump.1" > groff.pdf
w3m -dump -T text/html -cols 72 pandoc.html > w3m.txt

# Texts in old encodings.
cat > "$work/polish.txt" <<'TEXT'
Pompa stacji wodnej

Przed naprawą należy wyłączyć zasilanie i zamknąć zawór główny. Próg ciśnienia wynosi pięć barów. Jeżeli wskaźnik świeci na
czerwono, trzeba odczekać godzinę i dopiero potem sprawdzić łożyska. Zużyte uszczelki należy wymienić na nowe.
TEXT
iconv -t WINDOWS-1250 "$work/polish.txt" > iconv.cp1250.txt
printf 'ポンプの取扱説明書\n\n修理の前に電源を切り、主弁を閉めてください。表示灯が赤いときは、一時間ほど待ってから軸受を確認してください。\n' > "$work/japanese.txt"
iconv -t SHIFT_JIS "$work/japanese.txt" > iconv.sjis.txt
iconv -t UTF-16LE "$work/polish.txt" > iconv.utf16.txt

# Tables.
cat > "$work/tables.sql" <<'SQL'
create table pump (id integer, code text, price text, note text);
insert into pump values
  (738529527931269425, '01234', '1.10', 'quiet'),
  (738529527931269426, '01235', '2,50', 'two
lines, "quoted"');
SQL
sqlite3 "$work/pumps.db" < "$work/tables.sql"
sqlite3 -csv -header "$work/pumps.db" 'select * from pump' > sqlite.csv
sqlite3 -tabs -header "$work/pumps.db" "select id, code, price from pump" > sqlite.tsv
sqlite3 -json "$work/pumps.db" 'select * from pump' > sqlite.json
sqlite3 "$work/pumps.db" .dump > sqlite.sql
office sheets.fods 'csv:Text - txt - csv (StarCalc):59,34,76,1' libreoffice.csv
/usr/bin/python3 - <<'PY'
import datetime, openpyxl, xlsxwriter
book = openpyxl.Workbook()
sheet = book.active
sheet.title = 'Hours'
sheet.append(['Pump', 'Started', 'Ran', 'Cost', 'Total'])
sheet.append(['North', datetime.datetime(2024, 3, 15, 8, 30), datetime.timedelta(hours=36), 12.5, '=D2*2'])
sheet['D2'].number_format = '0.00 "EUR"'
sheet['A3'] = 'South'
sheet['B3'] = datetime.date(2024, 4, 1)
sheet['C3'] = datetime.timedelta(minutes=90)
sheet['D3'] = 7
sheet.merge_cells('A4:C4')
sheet['A4'] = 'not in use'
sheet['D4'] = 0
secret = book.create_sheet('Secret')
secret['A1'] = 'hidden'
secret.sheet_state = 'hidden'
book.save('openpyxl.xlsx')
book = xlsxwriter.Workbook('xlsxwriter.xlsx')
book.set_properties({'created': datetime.datetime(2024, 1, 1)})
sheet = book.add_worksheet('Sales')
sheet.write_row(0, 0, ['Month', 'Sold', 'Share'])
for row, (month, sold) in enumerate([('May', 41), ('June', 50)], 1):
    sheet.write(row, 0, month)
    sheet.write(row, 1, sold)
    sheet.write(row, 2, sold / 91, book.add_format({'num_format': '0.0%'}))
rich = book.add_format({'font_script': 1})
sheet.write_rich_string(4, 0, 'It made 10', rich, '6', ' turns')
sheet.write_comment(1, 1, 'Counted twice', {'author': 'Ann'})
chart = book.add_chart({'type': 'column'})
chart.add_series({'name': 'Sold pumps', 'categories': '=Sales!$A$2:$A$3', 'values': '=Sales!$B$2:$B$3'})
chart.set_title({'name': 'Sales of 2024'})
sheet.insert_chart('E2', chart)
book.close()
PY
ssconvert libreoffice.ods gnumeric.ods 2> "$work/log"
ssconvert libreoffice.ods gnumeric.xlsx 2> "$work/log"

# Data and settings.
/usr/bin/python3 - <<'PY' > python.yaml
import datetime, yaml
shared = {'maker': 'Acme', 'since': datetime.date(2019, 5, 1)}
data = {'pumps': [{'id': 738529527931269425, 'code': '01234', 'price': 1.1, 'note': 'two\nlines'},
                  {'id': 738529527931269426, 'code': 'on', 'price': 2.5, 'note': None}],
        'origin': shared, 'copy': shared}
yaml.safe_dump(data, __import__('sys').stdout, sort_keys=False, allow_unicode=True)
PY
sqlite3 -json "$work/pumps.db" 'select code, price, note from pump' | jq -c '.[]' > jq.jsonl
/usr/bin/python3 - <<'PY'
import configparser
config = configparser.ConfigParser()
config['pump north'] = {'rate': '010', 'mode': 'quiet'}
config['alarm'] = {'mail': 'ann@pumps.example'}
with open('configparser.ini', 'w') as file:
    config.write(file)
PY
# Settings with comments, as the compiler of TypeScript of this repository writes them.
mkdir "$work/settings"
(cd "$work/settings" && "$here/../../../../node_modules/.bin/tsc" --init > "$work/log")
cp "$work/settings/tsconfig.json" tsc.jsonc
printf 'start: open\nstop: close\n' > "$work/before.txt"
printf 'start: open slowly\nstop: close\n' > "$work/after.txt"
diff -u --label before.txt --label after.txt "$work/before.txt" "$work/after.txt" > diff.patch || test $? = 1

# Subtitles.
cat > "$work/talk.srt" <<'SRT'
1
00:00:01,000 --> 00:00:03,500
<i>The pump</i> starts.

2
00:01:02,000 --> 00:01:05,000
Ann: Close the valve
before you leave.
SRT
for format in srt vtt ass; do
  ffmpeg -v error -y -i "$work/talk.srt" "ffmpeg.$format"
done

# A calendar.
mkdir "$work/calcurse"
cat > "$work/calcurse/apts" <<'APTS'
03/15/2024 @ 08:30 -> 03/15/2024 @ 10:00 |Service of the north pump
04/01/2024 [1] Fair of pumps
APTS
printf '[3] Order new seals\n' > "$work/calcurse/todo"
calcurse -D "$work/calcurse" -C "$work/calcurse" --export=ical > calcurse.ics

# An address book, in both forms.
cat > "$work/people" <<'PEOPLE'
[format]
program=abook
version=0.6.1

[0]
name=Ann Müller
email=ann@example.com
address=Hafenweg 4
city=Bremen
zip=01234
country=Germany
phone=+49 421 1234567
mobile=0171 2345678
notes=Orders the seals of the north pump
PEOPLE
abook --convert --informat abook --infile "$work/people" --outformat vcard --outfile abook.vcf
abook --convert --informat abook --infile "$work/people" --outformat ldif --outfile abook.ldif

# Mail: one with a page, an attachment and an invitation, a mailbox, and one that mutt wrote.
/usr/bin/python3 - <<'PY'
import mailbox, os
from email.message import EmailMessage
from email.utils import format_datetime
import datetime
when = datetime.datetime(2024, 3, 15, 8, 30, tzinfo=datetime.timezone.utc)
def message(subject, text):
    mail = EmailMessage()
    mail['From'] = 'Ännchen Lee <ann@pumps.example>'
    mail['To'] = 'Grace Harbour <grace@pumps.example>'
    mail['Subject'] = subject
    mail['Date'] = format_datetime(when)
    mail.set_content(text)
    return mail
mail = message('Prüfung der Pumpe', 'Dear Grace,\n\nthe pump runs again.\n\nAnn')
mail.add_alternative('<p>Dear Grace,</p><p>the pump runs <b>again</b>.</p><p>Ann</p>', subtype='html')
mail.add_attachment('part;price\nseal;2,50\n', subtype='csv', filename='Preise März.csv')
mail.add_attachment(bytes(range(256)) * 2, maintype='application', subtype='octet-stream', filename='firmware.bin')
for part in mail.walk():
    if part.is_multipart():
        part.set_boundary(f'=={len(part.get_payload())}-{part.get_content_subtype()}==')
open('python.eml', 'wb').write(bytes(mail))
if os.path.exists('python.mbox'):
    os.remove('python.mbox')
box = mailbox.mbox('python.mbox')
for subject, text in [('Valve', 'From now on the valve stays closed.\nFrom here too.'), ('Lid', 'The lid is open.')]:
    kept = mailbox.mboxMessage(message(subject, text))
    kept.set_from('ann@pumps.example', when.timetuple())
    box.add(kept)
box.flush()
PY
printf '#!/bin/sh\ncat > "%s"\n' "$work/sent.eml" > "$work/sendmail"
chmod +x "$work/sendmail"
cat > "$work/muttrc" <<RC
set sendmail="$work/sendmail" copy=no realname="Ann Lee" from="ann@pumps.example" hostname=pumps.example send_charset="us-ascii:iso-8859-15:utf-8"
set use_domain=no user_agent=no
RC
printf 'Die Düse ist geprüft und kostet 12 €.\n\n-- \nAnn\n' > "$work/body.txt"
cp "$work/pump.1" "$work/page.txt"
HOME=$work mutt -n -F "$work/muttrc" -s 'Düse geprüft' -a "$work/page.txt" -- grace@pumps.example < "$work/body.txt"
sed -E 's/^(Date: ).*/\1Fri, 15 Mar 2024 08:30:00 +0000/; s/^(Message-ID: <)[^>]*/\1pump@pumps.example/' "$work/sent.eml" > mutt.eml

# A page that a browser saved with its picture.
cat > "$work/page.html" <<'HTML'
<!doctype html><title>Valves</title><h1>Valves of the pump</h1><p>The inlet opens 10<sup>6</sup> times.</p>
<p><img src="dot.png" width="200" height="80"></p><table><tr><th>Part<th>Price<tr><td>Seal<td>2.50</table>
HTML
base64 -d > "$work/dot.png" <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
PNG
/usr/bin/python3 -m http.server 4738 --bind 127.0.0.1 --directory "$work" > "$work/log" 2>&1 &
server=$!
WORK=$work node --experimental-websocket --no-warnings --input-type=module - <<'JS'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const folder = process.env.WORK
const page = 'http://127.0.0.1:4738/page.html'
for (let tries = 0; tries < 100 && !(await fetch(page).catch(() => undefined))?.ok; tries += 1) {
  await new Promise((done) => setTimeout(done, 100))
}
const browser = spawn('chromium-headless-shell', ['--no-sandbox', '--disable-gpu', '--remote-debugging-port=4739', `--user-data-dir=${folder}/browser`, page], { stdio: 'ignore' })
let pages
for (let tries = 0; !pages?.some(({ title }) => title === 'Valves') && tries < 600; tries += 1) {
  await new Promise((done) => setTimeout(done, 100))
  pages = await fetch('http://127.0.0.1:4739/json').then((answer) => answer.json()).catch(() => undefined)
}
const socket = new WebSocket(pages.find(({ title }) => title === 'Valves').webSocketDebuggerUrl)
await new Promise((done) => socket.addEventListener('open', done))
const answer = new Promise((done) => socket.addEventListener('message', ({ data }) => done(JSON.parse(data))))
socket.send(JSON.stringify({ id: 1, method: 'Page.captureSnapshot' }))
writeFileSync('chromium.mht', (await answer).result.data)
socket.send(JSON.stringify({ id: 2, method: 'Browser.close' }))
await new Promise((done) => browser.on('exit', done))
JS
kill "$server"

# More PDF: a page of CSS, and TeX.
cat > "$work/print.html" <<'HTML'
<!doctype html><html lang="en"><title>Valves</title><h1>Valves</h1><p>The inlet opens 10<sup>6</sup> times.</p>
<table border="1" cellpadding="8"><tr><th>Part</th><th>Price</th></tr><tr><td>Seal</td><td>2.50</td></tr><tr><td>Ring</td><td>3.10</td></tr></table></html>
HTML
/usr/bin/weasyprint "$work/print.html" weasyprint.pdf
cat > "$work/paper.tex" <<'TEX'
\documentclass[twocolumn]{article}
\title{Flow in pumps}\author{Ann Lee}\date{March 2024}
\begin{document}
\maketitle
\section{Introduction}
The office measured the efficient flow of $10^6$ litres, so that the difference\footnote{See the annex.} is clear.
\begin{itemize}\item A pump of $\frac{1}{2}$ litre. \item A valve.\end{itemize}
\section{Results}
\begin{tabular}{lrr}Pump & Inlet & Outlet \\ North & 3.1 & 4.7 \\ South & 3.2 & 4.8 \end{tabular}
\end{document}
TEX
(cd "$work" && pdflatex -interaction=batchmode paper.tex > "$work/log" && cp paper.pdf "$here/pdftex.pdf")

# Word by a library, with a picture that nobody described and a merged cell; the old formats of Office.
WORK=$work /usr/bin/python3 - <<'PY'
import datetime, os, docx
document = docx.Document()
document.core_properties.created = datetime.datetime(2024, 1, 1)
document.add_heading('Handover', 1)
document.add_paragraph('The pump makes 10').add_run('6').font.superscript = True
document.add_paragraph('Close the valve', style='List Number')
document.add_paragraph('Open the lid', style='List Number')
table = document.add_table(rows=3, cols=3)
table.cell(0, 0).merge(table.cell(0, 2)).text = 'Pressure'
for at, text in enumerate(['Pump', 'Inlet', 'Outlet']):
    table.cell(1, at).text = text
for at, text in enumerate(['North', '3.1', '4.7']):
    table.cell(2, at).text = text
document.add_picture(os.path.join(os.environ['WORK'], 'dot.png'))
document.save('python.docx')
PY
office contract.fodt doc libreoffice.doc
office contract.fodt rtf libreoffice.rtf
office sheets.fods xls libreoffice.xls
