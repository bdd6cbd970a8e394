import { describe, expect, test } from 'vitest'
import { blocksOf, passagesOf, readFile } from '../outline.js'

describe('subtitles', () => {
  test('have neither styles nor times of single words', async () => {
    const text =
      'WEBVTT\n\nSTYLE\n::cue { color: red }\n\n00:01.000 --> 00:02.000\n<00:01.500>Sing <00:01.800><c>along</c>\n'
    expect(await blocksOf('talk.vtt', text)).toEqual(['[00:01.000] Sing along'])
  })

  test('of SubRip have a paragraph per cue with its time', async () => {
    const text =
      '1\n00:00:01,000 --> 00:00:02,500\n<i>The gasket</i>\nfits.\n\n2\n00:01:04,000 --> 00:01:06,000 X1:10\n- How many?\n- 42\n\n3\n00:02:00,000 --> 00:02:01,000\n1984\n'
    expect(await blocksOf('talk.srt', text)).toEqual([
      '[00:00:01,000] The gasket\nfits.',
      '[00:01:04,000] - How many?\n- 42',
      '[00:02:00,000] 1984',
    ])
  })

  test('of WebVTT have their speakers and the names of cues', async () => {
    const text =
      'WEBVTT - Talk\n\nNOTE made by hand\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v.loud Ada Lovelace>Is 2 &lt; 3?</v>\n\n01:00:02.000 --> 01:00:03.000\n<c.yellow>Yes.</c>\n'
    expect(await blocksOf('talk.vtt', text)).toEqual([
      'WEBVTT - Talk',
      '[00:01.000] intro\nAda Lovelace: Is 2 < 3?',
      '[01:00:02.000] Yes.',
    ])
  })

  test('of WebVTT have neither comments nor ids of cues in the words of the cue before', async () => {
    const text =
      'WEBVTT\n\nNOTE language:en\n\n4eb5ad69-1c4d/11-0\n00:01.000 --> 00:02.000\n<v Ada>The gasket\nNOTE well</v>\n\nNOTE Confidence: 0.89\nof the program\n\n4eb5ad69-1c4d/12-0\n00:03.000 --> 00:04.000\nfits.\n\nNOTE: it is new.\n'
    expect(await blocksOf('talk.vtt', text)).toEqual([
      '[00:01.000] Ada: The gasket\nNOTE well',
      '[00:03.000] fits.\nNOTE: it is new.',
    ])
  })

  test('of SubStation Alpha and YouTube are read too', async () => {
    const ass =
      '[Script Info]\nTitle: Talk\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\nDialogue: 0,0:00:01.00,0:00:02.00,Default,Ada,0,0,0,,{\\b1}The gasket,\\Nit fits.\n'
    expect(await blocksOf('talk.ass', ass)).toEqual(['[0:00:01.00] Ada: The gasket, it fits.'])
    const sbv = '0:00:01.000,0:00:02.000\nThe gasket fits.\n'
    expect(await blocksOf('talk.sbv', sbv)).toEqual(['[0:00:01.000] The gasket fits.'])
  })

  test('have no positions and line breaks of other formats', async () => {
    const srt = '1\n00:00:01,000 --> 00:00:02,000\n{\\an8}The gasket {x} fits.\n'
    expect(await blocksOf('talk.srt', srt)).toEqual(['[00:00:01,000] The gasket {x} fits.'])
    const sbv = '0:00:01.000,0:00:02.000\nThe gasket[br]fits.\n'
    expect(await blocksOf('talk.sbv', sbv)).toEqual(['[0:00:01.000] The gasket fits.'])
  })
})

describe('XML', () => {
  test('is read as data, with the spelling of its values', async () => {
    const text =
      '<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE parts [<!ENTITY maker "Pump &amp; Co">]>\n' +
      '<parts xmlns="urn:p"><part id="007" price="1.10"><Name>Bolt <b>M8</b><br/>long</Name></part>' +
      '<part id="008"><Name>Nut of &maker;, gr\u00fcn</Name><note><![CDATA[a < b]]></note></part></parts>'
    expect(await blocksOf('parts.xml', Buffer.from(text, 'latin1'))).toEqual([
      '## part',
      '| id | price | Name | note |\n| --- | --- | --- | --- |\n| 007 | 1.10 | Bolt M8 long |  |\n' +
        '| 008 |  | Nut of Pump & Co, gr\u00fcn | a < b |',
    ])
  })

  test('keeps the order of elements of different names', async () => {
    const book =
      '<body><section><title>Gasket</title><p>It fits.</p><p>It holds.</p></section></body>'
    expect(await blocksOf('a.fb2', book)).toEqual([
      '## section',
      '- title: Gasket\n- p: It fits., It holds.',
    ])
  })

  test('that is not well-formed is read as it is written', async () => {
    expect(await blocksOf('a.xml', '<part>Gasket & seal</parts>')).toEqual([
      '```xml\n<part>Gasket & seal</parts>\n```',
    ])
  })

  test('nested without end is refused', async () => {
    await expect(readFile('a.xml', '<a>'.repeat(100_000))).rejects.toMatchObject({
      failure: 'too_deep',
    })
  })

  test('that draws has its texts', async () => {
    const drawing =
      '<svg xmlns="http://www.w3.org/2000/svg"><title>Plan</title><desc>Two piers</desc><path d="M0 0"/><text>Pier 9</text></svg>'
    expect(await blocksOf('plan.svg', drawing)).toEqual(['# Plan', 'Two piers', 'Pier 9'])
  })
})

describe('source code', () => {
  test.each([
    ['pump.ts', 'export const pumpPressure = 3\n'],
    ['parts.sql', 'SELECT gasket\n  FROM parts;\n'],
    ['start.sh', '# start the gasket press\necho on\n'],
    ['pump.py', 'def gasket():\n    return 1\n'],
    ['pump.js', 'export const gasket = 3\n'],
    ['fix.patch', '-gasket = 3\n+gasket = 4\n'],
  ])('%s is code as it is written', async (key, text) => {
    const language = key.split('.')[1]
    expect(await blocksOf(key, text)).toEqual([`\`\`\`${language}\n${text.trimEnd()}\n\`\`\``])
  })

  test('is divided between its functions', async () => {
    const functions = Array.from({ length: 40 }, (_, at) => {
      const lines = Array.from({ length: 8 }, (_, line) => `  step_${at}_${line}()`)
      return `function pump_${at}() {\n${lines.join('\n')}\n\n  return ${at}\n}\n`
    })
    const text = functions.join('\n')
    const passages = await passagesOf('pump.lua', text)
    expect(passages.length).toBeGreaterThan(4)
    for (const { content } of passages) {
      expect(content).toMatch(/^```lua\nfunction/)
      expect(content).toMatch(/}\n```$/)
    }
    const words = passages.flatMap(({ content }) => content.replace(/^```.*$/gm, '').match(/\S+/g))
    expect(words).toEqual(text.match(/\S+/g))
  })
})

describe('settings', () => {
  test('have their sections as headings and everything else as it is written', async () => {
    const toml =
      '# of the press\ntitle = "Press"\n\n[gasket]\nsize = 1.10 # mm\n\n[gasket.seal]\ntext = """\n[no section]\n"""\nlist = [\n  [1, 2],\n]\n\n[[pump]]\nid = 0042\n'
    expect(await blocksOf('server.toml', toml)).toEqual([
      '# of the press\ntitle = "Press"',
      '# gasket',
      'size = 1.10 # mm',
      '## gasket.seal',
      'text = """\n[no section]\n"""\nlist = [\n  [1, 2],\n]',
      '# pump',
      'id = 0042',
    ])
    const java = 'door=Die T\\u00fcr\n'
    expect(await blocksOf('a.properties', java)).toEqual(['door=Die Tür'])
    expect(await blocksOf('a.ini', '; note\n[core "main"]\nname=Ada\n')).toEqual([
      '; note',
      '# core "main"',
      'name=Ada',
    ])
  })
})

describe('texts with light markup', () => {
  test('Org', async () => {
    const text =
      '#+TITLE: Manual\n* Gasket :seal:\nThe gasket fits.\n** Size\n#+BEGIN_SRC sh\n* no heading\n#+END_SRC\n- one\n'
    expect(await blocksOf('notes.org', text)).toEqual([
      '# Manual',
      '# Gasket :seal:',
      'The gasket fits.',
      '## Size',
      '```sh\n* no heading\n```',
      '- one',
    ])
  })

  test('reStructuredText', async () => {
    const text =
      '======\nManual\n======\n\nGasket\n------\n\nThe gasket fits.\n\n.. code-block:: python\n   :linenos:\n\n   def gasket():\n       return 1\n\nSize\n~~~~\nSmall.\n\nSeal\n----\nTight.\n'
    expect(await blocksOf('a.rst', text)).toEqual([
      '# Manual',
      '## Gasket',
      'The gasket fits.',
      '```python\ndef gasket():\n    return 1\n```',
      '### Size',
      'Small.',
      '## Seal',
      'Tight.',
    ])
  })

  test('AsciiDoc', async () => {
    const text =
      '= Manual\n:author: Ada\n\n== Gasket\nThe gasket fits.\n\n[source,ruby]\n----\n== no heading\n----\n'
    expect(await blocksOf('a.adoc', text)).toEqual([
      '# Manual',
      ':author: Ada',
      '## Gasket',
      'The gasket fits.',
      '```ruby\n== no heading\n```',
    ])
  })

  test('TeX with a title beside other commands, notes and thin blanks', async () => {
    const text = String.raw`\title{The {Good} Manual}\author{Ada}
Pay 10\,kg now.\footnote{Or later.}
\multicolumn{2}{c}{Total}
`
    expect(await blocksOf('a.tex', text)).toEqual([
      '# The Good Manual',
      'Ada\nPay 10 kg now. (Or later.)\nTotal',
    ])
  })

  test('TeX', async () => {
    const text = String.raw`\documentclass[a4paper]{article}
\usepackage{babel}
\title{The \emph{Manual}}
\begin{document}
\maketitle
\section{Gr\"o{\ss}e} \label{size}
Die T\"ur ist 5\,cm breit, das Caf\'e 10~\% gr\"o\ss er.
\begin{itemize}
\item Gasket
\item[Seal] fits \textbf{well} \& costs \$5
\end{itemize}
\subsection*{Code}
\begin{verbatim}
\section{no heading}
\end{verbatim}
\end{document}
`
    expect(await blocksOf('manual.tex', text)).toEqual([
      '# The Manual',
      '## Größe',
      'Die Tür ist 5 cm breit, das Café 10 % größer.\n- Gasket\n- Seal: fits well & costs $5',
      '### Code',
      '```\n\\section{no heading}\n```',
    ])
    expect((await readFile('manual.tex', text)).title).toBe('The Manual')
  })
})

test.each([
  ['a.srt', () => '00:00:01,000 --> 00:00:02,000\n'.repeat(50_000)],
  ['a.vtt', () => `WEBVTT\n\n00:01.000 --> 00:02.000\n${'<v '.repeat(200_000)}x`],
  ['a.ass', () => `Dialogue: 0,1,2,a,b,0,0,0,,${'{'.repeat(300_000)}x`],
  ['a.ts', () => `${'\n \n'.repeat(300_000)}x`],
  ['a.toml', () => `[${' '.repeat(500_000)}x\n${'[a'.repeat(200_000)}`],
  [
    'a.tex',
    () =>
      `${'\\section{'.repeat(100_000)}\n${'\\item['.repeat(100_000)}\n\\label${' '.repeat(500_000)}x`,
  ],
  ['a.rst', () => `${'='.repeat(500_000)}\nx\n${'.. code-block:: a\n'.repeat(20_000)}`],
  ['a.adoc', () => `${'[source,'.repeat(100_000)}\n${'----\n'.repeat(30_001)}x`],
  [
    'a.ics',
    () => `BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY${';a="b'.repeat(100_000)}\nSUMMARY:x\nEND:VEVENT`,
  ],
  [
    'a.eml',
    () =>
      `Subject: ${'=?utf-8?q?'.repeat(100_000)}\nContent-Type: a/b${'; a="'.repeat(100_000)}\n\nx`,
  ],
  ['a.json', () => `{"a": "${'\\\\'.repeat(500_000)}"}`],
])('%s: hostile text is read in a time that grows with its length', async (key, make) => {
  const text = make()
  const outcome = await readFile(key, text).then(
    () => 'read',
    (error: unknown) => (error as { failure?: string }).failure,
  )
  expect(outcome).toBeDefined()
})

test('TeX keeps the braces that say what belongs to a command, and loses no text of a table', async () => {
  const text = [
    '\\author{Ann Lee}',
    '\\begin{tabular}{lrr}Pump & Inlet \\\\',
    'North & $x^{n+1}$ \\\\',
    '\\end{tabular}',
    'See \\href{https://pumps.example}{the page} and \\unknown{10}{20}, Bib{T}eX.',
    '\\item',
    '\\begin{verbatim}',
    'open()',
    '\\end{verbatim}',
  ]
  expect(await blocksOf('a.tex', text.join('\n'))).toEqual([
    [
      'Ann Lee',
      '\\begin{tabular}{lrr}Pump & Inlet',
      'North & $x^{n+1}$',
      'See the page (https://pumps.example) and \\unknown{10}{20}, BibTeX.',
      '-',
    ].join('\n'),
    '```\nopen()\n```',
  ])
})

test('events have how long they take, and descriptions that are pages or in version 1.0', async () => {
  const text =
    'BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY;ENCODING=QUOTED-PRINTABLE:Caf=C3=A9 =\nat noon\nDTSTART:20240301T090000Z\nDURATION:PT1H\nX-ALT-DESC;FMTTYPE=text/html:<p>Bring</p><p>plans</p>\nEND:VEVENT\nEND:VCALENDAR\n'
  expect(await blocksOf('a.ics', text)).toEqual([
    '# Café at noon',
    'When: 2024-03-01 09:00 UTC\nDuration: 1 h',
    'Bring\nplans',
  ])
})
