import { describe, expect, it } from 'vitest'
import { toFileName, toNameTitle } from '../../src/text/file-name.js'
import { toIndexText } from '../../src/text/index-text.js'

describe('the name of a file', () => {
  it.each([
    ['docs/curl-manual_v2.1.txt', 'curl manual v2.1'],
    ['Betriebsanleitung.Hydraulik.pdf', 'Betriebsanleitung Hydraulik'],
    ['plans/pumpWiring_v2.txt', 'pump Wiring v2'],
    ['HTTPServerGuide.md', 'HTTP Server Guide'],
    ['licenses/Apache-2.0', 'Apache 2.0'],
    ['licenses/Apache-2.0.txt', 'Apache 2.0'],
    ['2024-05-01-report.docx', '2024-05-01 report'],
    ['notes.tar.gz', 'notes'],
    ['.env', 'env'],
    ['a/b/Größe + Gewicht.xlsx', 'Größe Gewicht'],
    ['河流.txt', '河流'],
    ['x/line\nbreak.md', 'line break'],
    ['README', 'README'],
  ])('%s reads as %s', (key, title) => {
    expect(toNameTitle(key)).toBe(title)
  })

  it.each([
    '0b1c6f3e-5d5c-4b8e-9a52-1f2f3a4b5c6d.pdf',
    'd41d8cd98f00b204e9800998ecf8427e.bin',
    '01HZY8QJ5T0W2M7V3K4N6P8R9S.txt',
    '17_1',
    'eval/12.txt',
    '',
    'folder/',
  ])('%s is none that anybody reads', (key) => {
    expect(toNameTitle(key)).toBeUndefined()
  })

  it('is at most 200 characters long as a title', () => {
    expect([...(toNameTitle(`${'wort '.repeat(100)}.txt`) ?? '')].length).toBeLessThanOrEqual(200)
  })

  it('is found by its words, joined and apart, and so are its folders', () => {
    const { folders, name } = toFileName('plantNorth/docs/pumpWiring_v2.1.txt')
    expect(toIndexText(name)).toBe('pumpwiring v2 1 txt pump wiring v2 1 txt')
    expect(toIndexText(folders)).toBe('plantnorth docs plant north docs')
  })
})
