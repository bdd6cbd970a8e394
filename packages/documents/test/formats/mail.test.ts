import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { docx, wordParagraph } from '../office.js'
import { blocksOf, passagesOf, readFile } from '../outline.js'

const head = [
  'From: Ada <ada@example.com>',
  'To: bob@example.com',
  'Subject: Spare parts',
  'Date: Tue, 2 Jan 2024 10:00:00 +0100',
  'MIME-Version: 1.0',
]
const people = 'From: Ada <ada@example.com>\nTo: bob@example.com\nDate: 2024-01-02 10:00:00 +01:00'
const plain = [
  ...head,
  'Content-Type: text/plain; charset=utf-8',
  '',
  'The gasket arrives on Friday.',
  '',
]
const expected = ['# Spare parts', people, 'The gasket arrives on Friday.']

/** The lines of a message with several parts, each given by its header lines, a blank line and its content. */
function parts(kind: string, boundary: string, ...contents: readonly string[][]): string[] {
  return [
    `Content-Type: multipart/${kind}; boundary="${boundary}"`,
    '',
    'This is a message in several parts.',
    ...contents.flatMap((lines) => [`--${boundary}`, ...lines]),
    `--${boundary}--`,
    '',
  ]
}

const mail = (...lines: (string | string[])[]) => lines.flat().join('\r\n')

function file(name: string, type: string, content: string | Uint8Array): string[] {
  return [
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n'),
  ]
}

describe('before the first header line there may be', () => {
  test.each([
    ['nothing', ''],
    ['a mark', '\ufeff'],
    ['a blank line', '\r\n'],
    ['a line of a mailbox', 'From - Tue Jan 02 10:00:00 2024\r\n'],
    ['a banner', 'Microsoft Mail Internet Headers Version 2.0\r\n'],
    ['a banner that looks like a header line', 'CAUTION: this mail came from outside\r\n\r\n'],
    ['a mark, a banner and blank lines', '\ufeffSaved by a program\r\n\r\n'],
  ])('%s', async (_, start) => {
    expect(await blocksOf('a.eml', start + mail(plain))).toEqual(expected)
  })

  test('a mark of UTF-16', async () => {
    const bytes = Buffer.from(`\ufeff${mail(plain)}`, 'utf16le')
    expect(await blocksOf('a.eml', bytes)).toEqual(expected)
  })

  test('but a file without header lines is no e-mail', async () => {
    await expect(readFile('a.eml', 'Only text\n\nand more')).rejects.toMatchObject({
      failure: 'damaged',
    })
  })
})

describe('people, subject and names', () => {
  test.each([
    ['Tue, 2 Jan 2024 23:30:05 -0500', '2024-01-02 23:30:05 -05:00'],
    ['2 Jan 2024 08:00 +0530 (IST)', '2024-01-02 08:00:00 +05:30'],
    ['Tue, 2 Jan 2024 10:00:00 GMT', '2024-01-02 10:00:00 UTC'],
    ['Tue, 2 Jan 2024 10:00:00 -0000', '2024-01-02 10:00:00 UTC'],
    ['Fri, 31 Dec 275760 10:00:00 +9999', 'Fri, 31 Dec 275760 10:00:00 +9999'],
  ])('show the time %s as its author saw it', async (date, shown) => {
    const [, people] = await blocksOf(
      'a.eml',
      mail(['Subject: Frost', `Date: ${date}`, '', 'Text']),
    )
    expect(people).toBe(`Date: ${shown}`)
  })

  test('are decoded, in encoded words, in parameters and as bytes of old programs', async () => {
    const lines = [
      'From: =?UTF-8?Q?J=C3=B6rg?= <joerg@pumps.example>',
      'To: "Doe, Jane" <jane@example.com>,\r\n =?windows-1252?Q?Ren=E9_=93Red=94?= <rene@example.com>',
      'Subject: =?UTF-8?B?UHJlaXNlIGbDvHIgUHVt?=\r\n =?UTF-8?B?cGVu?= im =?iso-8859-1?Q?M=E4rz?=',
      'Date: soon',
      ...parts(
        'mixed',
        'm',
        ['', 'Text'],
        [
          'Content-Type: application/octet-stream',
          'Content-Disposition: attachment; filename*0*=utf-8\'\'Gr%C3%B6; filename*1="sse.bin"',
          '',
          '\0\x01\x02\x03\x04\x05',
        ],
      ),
    ]
    expect(await blocksOf('a.eml', mail(lines))).toEqual([
      '# Preise für Pumpen im März',
      'From: Jörg <joerg@pumps.example>\nTo: Doe, Jane <jane@example.com>, René “Red” <rene@example.com>\nDate: soon',
      'Text',
      'Attachments: Grösse.bin',
    ])
    const old = iconv.encode(
      'From: Łukasz <l@example.com>\r\nSubject: Części zamienne do pompy\r\n\r\nJuż są w magazynie.\r\n',
      'win1250',
    )
    expect(await blocksOf('a.eml', old)).toEqual([
      '# Części zamienne do pompy',
      'From: Łukasz <l@example.com>',
      'Już są w magazynie.',
    ])
  })
})

describe('the text', () => {
  test('is the page with its tables, and the names of attachments follow', async () => {
    const alternatives = parts(
      'alternative',
      'a',
      ['Content-Type: text/plain', '', 'Grüße P1 10'],
      [
        'Content-Type: text/html; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        '<p>Gr=FC=\r\n=DFe</p><table><tr><th>Pump<th>Price<tr><td>P1<td>10</table>',
      ],
    )
    const content = mail(
      head,
      parts('mixed', 'm', alternatives, file('offer.pdf', 'application/pdf', '%PDF-')),
    )
    expect(await blocksOf('a.eml', content)).toEqual([
      '# Spare parts',
      people,
      'Grüße',
      '| Pump | Price |\n| --- | --- |\n| P1 | 10 |',
      'Attachments: offer.pdf',
    ])
    expect((await readFile('a.eml', content)).omissions).toMatchObject([
      { kind: 'embedded_file', count: 1, places: [{ part: 'offer.pdf' }] },
    ])
  })

  test('is the plain one too, if the page lacks what it says', async () => {
    const alternatives = parts(
      'alternative',
      'a',
      ['Content-Type: text/plain; charset=utf-8', '', 'The gasket arrives on Friday.'],
      ['Content-Type: text/html', '', '<p>This mail needs a modern reader.</p>'],
    )
    const blocks = await blocksOf('a.eml', mail(head, alternatives))
    expect(blocks.slice(2)).toEqual([
      'The gasket arrives on Friday.',
      'This mail needs a modern reader.',
    ])
  })

  test('in lines that a program broke is joined again, quoted replies are kept', async () => {
    const content = mail(
      head,
      'Content-Type: text/plain; charset=utf-8; format=flowed',
      '',
      'The gasket arrives ',
      'on Friday.',
      'Bye',
      '',
      '> When does it ',
      '> arrive?',
      '>> Ask Ada.',
      '',
      '-- ',
      'Ada',
    )
    expect((await blocksOf('a.eml', content)).slice(2)).toEqual([
      'The gasket arrives on Friday.\nBye',
      '> When does it arrive?\n>> Ask Ada.',
      '--\nAda',
    ])
  })

  test('of a page with pictures is read, and only a picture of some size is told', async () => {
    const picture = (id: string, bytes: number) => [
      'Content-Type: image/png',
      `Content-ID: <${id}>`,
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.alloc(bytes, 'x').toString('base64'),
    ]
    const page = ['Content-Type: text/html', '', '<p>Look <img src="cid:big"></p>']
    const extraction = await readFile(
      'a.eml',
      mail(head, parts('related', 'r', page, picture('dot', 43), picture('big', 20_000))),
    )
    expect(extraction.omissions).toMatchObject([
      { kind: 'picture_without_text', count: 1, places: [{ part: '<big>' }] },
    ])
  })

  test('that is signed has no signature among its attachments', async () => {
    const signature = file('smime.p7s', 'application/pkcs7-signature', 'x')
    const content = mail(head, parts('signed', 's', ['', 'It is me.'], signature))
    expect((await blocksOf('a.eml', content)).slice(2)).toEqual(['It is me.'])
    expect((await readFile('a.eml', content)).omissions).toEqual([])
  })

  test('of a bounce says why', async () => {
    const report = parts(
      'report; report-type=delivery-status',
      'b',
      ['', 'Your message was not delivered.'],
      [
        'Content-Type: message/delivery-status',
        '',
        'Final-Recipient: rfc822; bob@example.com',
        'Diagnostic-Code: smtp; 550 mailbox full',
      ],
      ['Content-Type: text/rfc822-headers', '', 'Subject: The order'],
    )
    const text = (await blocksOf('a.eml', mail(head, report))).join('\n')
    expect(text).toContain('Your message was not delivered.')
    expect(text).toContain('550 mailbox full')
    expect(text).toContain('Subject: The order')
  })
})

describe('messages in messages', () => {
  test('are read below their subject, inline or attached', async () => {
    const forwarded = (disposition: string) =>
      mail(
        'From: Bob <bob@example.com>',
        'Subject: Fwd',
        parts(
          'mixed',
          'b',
          ['Content-Type: text/plain', '', 'See below.'],
          ['Content-Type: message/rfc822', `Content-Disposition: ${disposition}`, '', ...plain],
        ),
      )
    for (const disposition of ['inline', 'attachment; filename="mail.eml"']) {
      expect(await blocksOf('a.eml', forwarded(disposition))).toEqual([
        '# Fwd',
        'From: Bob <bob@example.com>',
        'See below.',
        '## Spare parts',
        people,
        'The gasket arrives on Friday.',
      ])
    }
  })

  test('come after all that belongs to the message around them', async () => {
    const content = mail(
      'From: Bob <bob@example.com>',
      'Subject: Fwd',
      parts(
        'mixed',
        'b',
        ['Content-Type: text/plain', '', 'See below.'],
        ['Content-Type: message/rfc822', '', ...plain],
        file('offer.pdf', 'application/pdf', '%PDF-'),
        ['Content-Type: text/plain', '', 'Sent to the list of operators.'],
      ),
    )
    expect(await blocksOf('a.eml', content)).toEqual([
      '# Fwd',
      'From: Bob <bob@example.com>',
      'See below.',
      'Sent to the list of operators.',
      'Attachments: offer.pdf',
      '## Spare parts',
      people,
      'The gasket arrives on Friday.',
    ])
  })

  test('of a mailbox are read one after the other', async () => {
    const second = [
      'From: Eve <eve@example.com>',
      'Subject: Second',
      '',
      '>From here it is fine.',
      'From now on too.',
      '',
    ]
    const mailbox = mail(
      'From ada@example.com Tue Jan  2 10:00:00 2024',
      plain,
      '',
      'From eve@example.com Wed Jan  3 10:00:00 2024',
      second,
    )
    expect(await blocksOf('all.mbox', mailbox)).toEqual([
      ...expected,
      '# Second',
      'From: Eve <eve@example.com>',
      'From here it is fine.\nFrom now on too.',
    ])
  })

  test('without end are bounded', async () => {
    let message = mail(plain)
    for (let level = 0; level < 12; level += 1) {
      message = mail(`Subject: Level ${level}`, 'Content-Type: message/rfc822', '', message)
    }
    const extraction = await readFile('a.eml', message)
    expect(extraction.omissions).toMatchObject([{ kind: 'embedded_file', count: 1 }])
    const nested = Array.from({ length: 500 }, (_, at) => [
      `Content-Type: multipart/mixed; boundary=b${at}`,
      '',
      `--b${at}`,
    ])
    await expect(readFile('a.eml', mail('Subject: x', ...nested, '', 'x'))).rejects.toMatchObject({
      failure: 'too_deep',
    })
  })
})

const calendar = [
  'BEGIN:VCALENDAR',
  'METHOD:REQUEST',
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'END:VTIMEZONE',
  'BEGIN:VEVENT',
  'SUMMARY:Gasket meeting',
  'LOCATION:Harbour office\\, room 2',
  'DTSTART;TZID=Europe/Berlin:20240105T090000',
  'DTEND;TZID=Europe/Berlin:20240105T100000',
  'ORGANIZER;CN="Lovelace, Ada":mailto:ada@example.com',
  'ATTENDEE;CN=Bob;ROLE=REQ-PARTICIPANT:mailto:bob@exa',
  ' mple.com',
  'ATTENDEE:mailto:eve@example.com',
  'DESCRIPTION:Bring the drawings.\\n\\nAnd the gasket.',
  'BEGIN:VALARM',
  'DESCRIPTION:Reminder',
  'END:VALARM',
  'END:VEVENT',
  'END:VCALENDAR',
]
const meeting = [
  'When: 2024-01-05 09:00 Europe/Berlin – 2024-01-05 10:00 Europe/Berlin\nWhere: Harbour office, room 2\nOrganizer: Lovelace, Ada <ada@example.com>\nAttendees: Bob <bob@example.com>, eve@example.com',
  'Bring the drawings.',
  'And the gasket.',
]

describe('an invitation', () => {
  test('has summary, place, time and people, once', async () => {
    const only = mail(
      head,
      'Content-Type: text/calendar; method=REQUEST; charset=utf-8',
      '',
      calendar,
    )
    expect((await blocksOf('a.eml', only)).slice(2)).toEqual(['## Gasket meeting', ...meeting])
    const twice = mail(
      head,
      parts(
        'mixed',
        'm',
        parts(
          'alternative',
          'a',
          ['Content-Type: text/plain', '', 'You are invited.'],
          ['Content-Type: text/calendar; method=REQUEST', '', ...calendar],
        ),
        file('invite.ics', 'text/calendar', mail(calendar)),
      ),
    )
    const blocks = await blocksOf('a.eml', twice)
    expect(blocks.slice(2)).toEqual(['You are invited.', '## Gasket meeting', ...meeting])
  })

  test('in a file of its own is read the same way', async () => {
    expect(await blocksOf('a.ics', mail(calendar))).toEqual(['# Gasket meeting', ...meeting])
  })
})

test('an event has its links, exceptions and attached files', async () => {
  const event = mail([
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    'SUMMARY:Gasket meeting',
    'EXDATE;TZID=Europe/Berlin:20240105T090000,20240112T090000',
    'CONFERENCE;VALUE=URI:https://meet.example/77',
    'ATTACH:https://pumps.example/agenda.pdf',
    'ATTACH;FMTTYPE=text/plain;ENCODING=BASE64;VALUE=BINARY;X-FILENAME=a.txt:R2Fza2V0',
    'END:VEVENT',
    'END:VCALENDAR',
  ])
  expect(await blocksOf('a.ics', event)).toEqual([
    '# Gasket meeting',
    'Except: 2024-01-05 09:00 Europe/Berlin, 2024-01-12 09:00 Europe/Berlin\nConference: https://meet.example/77\nAttachments: https://pumps.example/agenda.pdf',
  ])
  expect((await readFile('a.ics', event)).omissions).toEqual([
    { kind: 'embedded_file', count: 1, places: [{ part: 'a.txt' }], detail: 'text/plain' },
  ])
})

describe('attachments', () => {
  test('are read by the reader of their type, each under its name', async () => {
    const content = mail(
      head,
      parts(
        'mixed',
        'm',
        ['Content-Type: text/plain', '', 'Two files.'],
        file('prices.csv', 'application/vnd.ms-excel', 'Pump;Price\nP1;10\n'),
        file('letter.docx', 'application/octet-stream', docx(wordParagraph('Dear Bob'))),
        file('notes.txt', 'text/plain; charset=windows-1250', iconv.encode('Łódź', 'win1250')),
        file('photo.png', 'image/png', '\x89PNG\r\n\x1a\n'),
        file('all.zip', 'application/zip', 'PK\x03\x04'),
      ),
    )
    expect((await blocksOf('a.eml', content)).slice(2)).toEqual([
      'Two files.',
      'Attachments: prices.csv, letter.docx, notes.txt, photo.png, all.zip',
      '## prices.csv',
      '| Pump | Price |\n| --- | --- |\n| P1 | 10 |',
      '## letter.docx',
      'Dear Bob',
      '## notes.txt',
      'Łódź',
    ])
    expect((await readFile('a.eml', content)).omissions).toMatchObject([
      { kind: 'picture_without_text', places: [{ part: 'photo.png' }] },
      { kind: 'embedded_file', places: [{ part: 'all.zip' }], detail: 'application/zip' },
    ])
  })

  test('more than fifty are told, and the text of the mail is kept', async () => {
    const files = Array.from({ length: 60 }, (_, at) =>
      file(`f${at}.txt`, 'text/plain', `Content ${at}`),
    )
    const content = mail(head, parts('mixed', 'm', ['', 'Many files.'], ...files))
    const { omissions } = await readFile('a.eml', content)
    expect(omissions).toMatchObject([{ kind: 'embedded_file', count: 10 }])
    const text = (await passagesOf('a.eml', content)).map((passage) => passage.content).join('\n')
    expect(text).toContain('Many files.')
    expect(text).toContain('Content 49')
    expect(text).not.toContain('Content 50')
  })
})

test('a saved web page is read', async () => {
  const page = mail(
    'From: <Saved by a browser>',
    'Subject: Gaskets',
    parts(
      'related; type="text/html"',
      'r',
      [
        'Content-Type: text/html',
        'Content-Location: https://example.com/',
        '',
        '<main><h1>Gaskets</h1><p>They seal.</p></main>',
      ],
      ['Content-Type: text/css', 'Content-Location: cid:css', '', 'p { color: red }'],
    ),
  )
  const text = (await blocksOf('a.mht', page)).join('\n')
  expect(text).toContain('They seal.')
  expect(text).not.toContain('color')
})
