import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { createOmissions, type Omission } from '../../src/document/omissions.js'
import { decodeText } from '../../src/formats/decode.js'
import { blocksOf, readFile } from '../outline.js'
import { sentences } from './sentences.js'

const cases = sentences.flatMap(({ language, encodings, text }) =>
  [...encodings, 'utf8', 'utf16le', 'utf16be'].map((encoding) => ({ language, encoding, text })),
)

/** The bytes of a text in an old encoding, by a library of others. */
function encode(text: string, encoding: string): Uint8Array {
  // Letters with separate tones, as the encoding for Vietnamese has them.
  const written = encoding === 'win1258' ? withTones(text) : text
  const bytes = iconv.encode(written, encoding)
  if (iconv.decode(bytes, encoding) !== written)
    throw new Error(`${encoding} lacks a letter of ${text}`)
  return bytes
}

function withTones(text: string): string {
  return text
    .normalize('NFD')
    .replace(
      /([aeou])(\u0323?)([\u0302\u0306\u031b])/gi,
      (_, letter: string, tone: string, sign: string) => {
        return (letter + sign).normalize('NFC') + tone
      },
    )
}

function decoded(bytes: Uint8Array, declared?: string): { text: string; doubts: Omission[] } {
  const omissions = createOmissions()
  return { text: decodeText(bytes, declared, omissions), doubts: omissions.list() }
}

describe('a text without any mark of its encoding is read', () => {
  test.each(cases)('$language in $encoding', ({ encoding, text }) => {
    expect(decoded(encode(text, encoding)).text).toBe(text)
  })

  test('in any part of a few sentences, in every language and encoding', () => {
    const choice = fc.constantFrom(...cases.filter(({ encoding }) => !encoding.startsWith('utf')))
    fc.assert(
      fc.property(choice, fc.nat(40), fc.nat(30), ({ encoding, text }, from, less) => {
        const words = text.split(' ')
        const isSpaced = words.length > 4
        const pieces = isSpaced ? words : [...text]
        const start = from % Math.max(1, pieces.length - 8)
        const kept = pieces.slice(start, Math.max(start + 8, pieces.length - less))
        const part = kept.join(isSpaced ? ' ' : '')
        fc.pre((part.match(/[^\p{ASCII}]/gu)?.length ?? 0) >= 5)
        const { text: read, doubts } = decoded(encode(part, encoding))
        if (doubts.length === 0) expect(read).toBe(part)
        else expect(doubts).toMatchObject([{ kind: 'encoding_in_doubt', count: 1 }])
      }),
      { numRuns: 150 },
    )
  })

  test.each([
    ['win1252', 'café'],
    ['macroman', 'It’s “fine” — really'],
    ['cp850', '25°C'],
    ['cp437', '┌──────┐\n│ Menü │\n└──────┘'],
    ['win1250', 'Poznań;12\nGdańsk;7\nWrocław;3'],
    ['cp852', 'Łódź'],
    ['win1254', 'İstanbul, İzmir, Diyarbakır'],
    ['win1257', 'Šiauliai, Vilnius, Klaipėda'],
    ['koi8r', 'Москва'],
    ['cp866', 'Москва'],
    ['win1253', 'Αθήνα'],
    ['gbk', '公司章程'],
    ['big5', '台北'],
    ['utf16le', '公司章程'],
    ['utf16be', 'Москва 2024'],
    ['win1252', 'The man from Zürich said “hello” to José at the café'],
  ])('%s: only “%s”', (encoding, text) => {
    expect(decoded(encode(text, encoding)).text).toBe(text)
  })
})

test('syllables that Windows added to the encoding of Korean are read', async () => {
  const text = '똠방각하 펲시콜라를 주문한 영수증은 30일 이내에 제출해야 합니다. '
  const bytes = encode(`이름;설명\n1;${text}\n2;${text}\n`, 'cp949')
  expect(decoded(bytes).text).toContain(text)
  expect((await readFile('a.csv', bytes)).omissions).toEqual([])
  expect(decoded(encode(text, 'cp949'), 'euc-kr')).toEqual({ text, doubts: [] })
})

test('a word or two in a rare encoding are read in a common one or are in doubt', () => {
  for (const encoding of ['macroman', 'cp437', 'cp850']) {
    const { text, doubts } = decoded(encode('Reçu payé', encoding))
    expect(text === 'Reçu payé' || doubts.length > 0, `${encoding}: ${text}`).toBe(true)
  }
})

describe('a declared encoding', () => {
  const polish = 'Są oni obdarzeni rozumem'

  test.each([
    ['windows-1250', 'win1250'],
    ['cp852', 'cp852'],
    ['IBM852', 'cp852'],
    ['x-mac-ce', 'maccenteuro'],
    ['ISO-8859-2', 'iso88592'],
  ])('%s is used', (declared, encoding) => {
    expect(decoded(encode(polish, encoding), declared)).toEqual({ text: polish, doubts: [] })
  })

  test('that makes nonsense is not, and the file says which one was taken', () => {
    const text = sentences.find(({ language }) => language === 'Russian')?.text ?? ''
    const { text: read, doubts } = decoded(encode(text, 'win1251'), 'iso-8859-1')
    expect(read).toBe(text)
    expect(doubts).toMatchObject([{ kind: 'encoding_in_doubt', detail: 'windows-1251' }])
  })

  test('of a web page is that of its head', async () => {
    const page = `<meta charset="cp1257"><p>Išjunkite įrenginį</p>`
    expect(await blocksOf('a.html', encode(page, 'win1257'))).toEqual(['Išjunkite įrenginį'])
  })
})

test('tables and pages are read by the same decoder, and say when it is in doubt', async () => {
  const table = encode('Miasto;Liczba\nŁódź;3\nPoznań;4\nGdańsk;5\nKraków;6\n', 'win1250')
  expect((await blocksOf('a.csv', table)).join('\n')).toContain('| Łódź | 3 |')
  const short = await readFile('a.txt', encode('año', 'win1252'))
  expect(short.omissions).toMatchObject([{ kind: 'encoding_in_doubt', detail: expect.any(String) }])
  const sure = await readFile('a.txt', encode(sentences[0]?.text ?? '', 'win1252'))
  expect(sure.omissions).toEqual([])
})

describe('a mixture', () => {
  test('of lines in UTF-8 and in an older encoding is read line by line', () => {
    const lines = ['Größe und Höhe', 'Prüfen Sie Öl und Tür', 'Schlüssel für Gäste']
    const bytes = Buffer.concat([
      Buffer.from(`${lines[0]}\n`),
      encode(`${lines[1]}\n`, 'win1252'),
      Buffer.from(`${lines[2]}\n`),
    ])
    expect(decoded(bytes)).toMatchObject({
      text: `${lines.join('\n')}\n`,
      doubts: [{ detail: 'utf-8 and windows-1252' }],
    })
  })

  test('a few broken bytes of UTF-8 spoil nothing else', () => {
    const text = sentences.map((each) => each.text).join('\n')
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const bytes = Buffer.from(text)
        const at = seed % bytes.length
        const broken = Buffer.concat([bytes.subarray(0, at), Buffer.of(0xff), bytes.subarray(at)])
        const kept = decoded(broken).text.replace(/\ufffd+/g, '')
        // At most the character in which it is.
        expect(text.length - kept.length).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('a long text in an old encoding is recognised by its beginning', () => {
  const long = encode(`${sentences[7]?.text ?? ''}\n`.repeat(20_000), 'win1250')
  expect(decoded(long).text.startsWith('Proszę wyłączyć')).toBe(true)
})

describe('letters with accents beside Latin words', () => {
  test.each([
    ['Umlaute: äöü in einem Satz', 'windows-1252'],
    ['Roh äö', 'windows-1252'],
  ])('are no word of another alphabet: %s', (text, detail) => {
    const { text: read, doubts } = decoded(encode(text, 'win1252'))
    expect(read).toBe(text)
    expect(doubts).toMatchObject([{ kind: 'encoding_in_doubt', detail }])
  })

  test('and a few words of another alphabet are read', () => {
    expect(decoded(encode('Model X100: насос', 'win1251')).text).toBe('Model X100: насос')
  })

  test('a text in no other language that makes a word by chance is in doubt', () => {
    expect(decoded(encode('ÄÖÜ', 'win1252')).doubts).toMatchObject([{ kind: 'encoding_in_doubt' }])
  })

  test('characters that are broken are told', () => {
    const bytes = Buffer.concat([
      Buffer.from('Größe und Höhe, '.repeat(9)),
      Buffer.from([0xff, 0x20]),
    ])
    expect(decoded(bytes).doubts).toMatchObject([{ kind: 'encoding_in_doubt', detail: 'utf-8' }])
  })
})

describe('a text in seven bits is read', () => {
  test.each([
    ['hz-gb-2312', 'Rules: ~{9+K>UB3L~} 2024 ~~ 5\n', 'Rules: 公司章程 2024 ~ 5\n'],
    ['iso-2022-kr', '\x1b$)C\x0eH8;g\x0f \x0eA$0|\x0f\n', '회사 정관\n'],
    ['iso-2022-cn', '\x1b$)A\x0e9+K>UB3L\x0f 1\n', '公司章程 1\n'],
    ['utf-7', 'Die T+APw-r ist gr+APYA3w-er, 2 +- 2\n', 'Die Tür ist größer, 2 + 2\n'],
  ])('%s, and the report names it', (detail, content, expected) => {
    const { text, doubts } = decoded(Buffer.from(content, 'latin1'))
    expect(text).toBe(expected)
    expect(doubts).toMatchObject([{ kind: 'encoding_in_doubt', detail }])
    expect(decoded(Buffer.from(content, 'latin1'), detail)).toEqual({ text: expected, doubts: [] })
  })

  test.each([
    ['the supplement of Japanese', '\x1b$B2q<R$N\x1b$(Dl?\x1b$B30\x1b(B 1', '会社の鷗外 1'],
    ['Japanese beside Korean', '\x1b$B2q<R\x1b(B, \x1b$(CH8;g\x1b(B', '会社, 회사'],
    ['Japanese in small letters', '\x1b(I62\x1b(B!', 'ｶｲ!'],
  ])('%s', (_, content, expected) => {
    expect(decoded(Buffer.from(content, 'latin1'))).toEqual({ text: expected, doubts: [] })
  })

  test.each([
    '(format t "~{~a~^, ~}~%" list)',
    '(format t "~{ab~} ~a~%" list)',
    'Call +49 30 1234567 or +15551234564, C++ and a+b-c.',
    'cat ~/notes ~{1,2}',
  ])('%j stays', (content) => {
    expect(decoded(Buffer.from(content))).toEqual({ text: content, doubts: [] })
  })
})

test('of texts in an encoding that is not known, the report tells that it was guessed', () => {
  // German in an encoding of Japan that few programs know.
  const bytes = Buffer.from(
    '446572205363686ca9f17373656c20656e7468a9da6c74206772a9eca9d565726520476572a9da74652066a9f1722048a9ec6665',
    'hex',
  )
  expect(decoded(bytes).doubts).toMatchObject([{ kind: 'encoding_in_doubt' }])
})

test('text of a mainframe is refused with advice', () => {
  const ebcdic = Buffer.from('e3888540a5819993a58540819584408995a2a3999483a340859596a48788', 'hex')
  expect(() => decoded(ebcdic)).toThrow(/EBCDIC.*Convert/)
})
