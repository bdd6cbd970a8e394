import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { charsetOf, decodeText } from '../../src/formats/decode.js'

const sampleText = 'Größe „groß“ – 東京\nzweite Zeile'

function utf16(text: string, order: 'le' | 'be', mark: boolean): Uint8Array {
  const bytes = Buffer.from(`${mark ? '\ufeff' : ''}${text}`, 'utf16le')
  return order === 'be' ? bytes.swap16() : bytes
}

describe('decodeText', () => {
  test.each([
    ['UTF-8', Buffer.from(sampleText)],
    ['UTF-8 with mark', Buffer.from(`\ufeff${sampleText}`)],
    ['UTF-16LE with mark', utf16(sampleText, 'le', true)],
    ['UTF-16BE with mark', utf16(sampleText, 'be', true)],
    ['UTF-16LE without mark', utf16(sampleText, 'le', false)],
    ['UTF-16BE without mark', utf16(sampleText, 'be', false)],
  ])('%s', (_, bytes) => {
    expect(decodeText(bytes)).toBe(sampleText)
  })

  test('bytes that are not UTF-8 are windows-1252', () => {
    expect(decodeText(Buffer.from('Gr\xf6\xdfe \x84gro\xdf\x93 \x96 5 \x80', 'latin1'))).toBe(
      'Größe „groß“ – 5 €',
    )
  })

  // The same words as programs of these countries have saved them for decades.
  test.each([
    [
      'windows-1251',
      'cde0f1eef1ede0ff20f1f2e0edf6e8ff20f0e0e1eef2e0e5f2',
      'Насосная станция работает',
    ],
    ['koi8-r', 'eec1d3cfd3cec1d120d3d4c1cec3c9d120d2c1c2cfd4c1c5d4', 'Насосная станция работает'],
    [
      'Shift_JIS',
      '837c8393837682cd944e82c988ea9378935f8c9f82b582dc82b7',
      'ポンプは年に一度点検します',
    ],
    [
      'EUC-JP',
      'a5dda5f3a5d7a4cfc7afa4cbb0ecc5d9c5c0b8a1a4b7a4dea4b9',
      'ポンプは年に一度点検します',
    ],
    [
      'GB18030',
      'b1c3d5bed4dab4f3d4bccbc4b0cdb5c4d1b9c1a6cfc2d4cbd0d0a3acc3bfc4eab1d8d0ebbcecd0ded2bbb4cea1a3',
      '泵站在大约四巴的压力下运行，每年必须检修一次。',
    ],
    ['EUC-KR', 'c6dfc7c1c0e5c0ba20b8c5b3e220c1a1b0cbc7d5b4cfb4d9', '펌프장은 매년 점검합니다'],
  ])('%s is known by its bytes', (_, hex, text) => {
    expect(decodeText(Buffer.from(hex, 'hex'))).toBe(text)
  })

  test('a declared charset is used', () => {
    const japanese = Buffer.from([0x93, 0x8c, 0x8b, 0x9e])
    expect(decodeText(japanese, 'shift_jis')).toBe('東京')
  })

  test('a wrong or unknown charset is ignored', () => {
    expect(decodeText(Buffer.from('東京'), 'latin1')).toBe('東京')
    expect(decodeText(Buffer.from('東京'), 'no-such-charset')).toBe('東京')
    expect(decodeText(Buffer.from('Gr\xf6\xdfe', 'latin1'), 'utf-8')).toBe('Größe')
  })

  test('a few broken characters do not spoil the rest of a UTF-8 text', () => {
    const bytes = Buffer.concat([Buffer.from('東京都の天気は晴れです'), Buffer.from([0xe6, 0x9d])])
    expect(decodeText(bytes)).toBe('東京都の天気は晴れです\ufffd')
  })

  test('a text that was cut by its bytes is UTF-8 all the same', () => {
    const bytes = Buffer.from('Größe')
    expect(decodeText(bytes.subarray(3, 6))).toBe('\ufffdß')
    expect(decodeText(Buffer.concat([bytes, Buffer.from([0xc3])]))).toBe('Größe\ufffd')
    expect(decodeText(Buffer.concat([Buffer.from([0xb6]), bytes]))).toBe('\ufffdGröße')
  })

  test.each([
    ['with a mark', '\ufeffGröße 😀'],
    ['without a mark', 'Größe 😀'],
  ])('UTF-32 %s is read', (_, text) => {
    const little = Buffer.from(
      Uint32Array.from([...text], (each) => each.codePointAt(0) ?? 0).buffer,
    )
    expect(decodeText(little)).toBe('Größe 😀')
    expect(decodeText(Buffer.from(little).swap32())).toBe('Größe 😀')
  })

  test('four bytes that are no character of UTF-32 are binary data', () => {
    expect(() => decodeText(Buffer.from([0, 1, 2, 3]))).toThrow('binary data, not text')
  })

  test('ends of fields and records part words', () => {
    expect(decodeText(Buffer.from('a\x1fb\x1ec\vd'))).toBe('a b c\nd')
  })

  test('line ends become line feeds and control characters are removed', () => {
    expect(decodeText(Buffer.from('a\r\nb\rc\fd\u2028e\0f\x1b[0mg\ttab'))).toBe(
      'a\nb\nc\nd\nefg\ttab',
    )
  })

  test.each([
    ['a PDF', '%PDF-1.7\n%âãÏÓ'],
    ['a ZIP archive', 'PK\x03\x04\x14\0'],
    ['a PNG image', '\x89PNG\r\n\x1a\n'],
  ])('%s under a wrong name is called by its name', (name, head) => {
    expect(() => decodeText(Buffer.from(head, 'latin1'))).toThrow(name)
  })

  test('random bytes are refused as binary', () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167 + 13) % 256))
    expect(() => decodeText(bytes)).toThrow('binary data, not text')
  })

  test('text survives every encoding it can be stored in', () => {
    const text = fc.string({ unit: fc.constantFrom(...'abcdefgh ÄÖÜßéñ\n'), minLength: 8 })
    const words = fc.array(
      fc.constantFrom('Größe', 'Übung', 'señor', 'café', 'résumé', 'ÄRGER', 'x'),
    )
    fc.assert(
      fc.property(text, words, (value, some) => {
        for (const bytes of [
          Buffer.from(value),
          utf16(value, 'le', true),
          utf16(value, 'be', false),
        ]) {
          expect(decodeText(bytes)).toBe(value)
        }
        const among = `Letters of English are most of what stands here. ${some.join(' ')}`
        expect(decodeText(Buffer.from(among, 'latin1'))).toBe(among)
      }),
    )
  })
})

test('the charset of a media type may be quoted and in any case', () => {
  expect(charsetOf('text/html; Charset="UTF-8"')).toBe('UTF-8')
  expect(charsetOf('text/plain;format=flowed; charset=iso-8859-15')).toBe('iso-8859-15')
  expect(charsetOf('text/plain')).toBeUndefined()
})
