import { toIndexText } from '@botstead/documents/text'
import { describe, expect, it } from 'vitest'
import { fitLsa } from './fit.js'
import { decodeModel, encodeModel, type LsaModel, toLsaVector } from './model.js'

const pumps = ['The pump moves water', 'A valve lets water through', 'Turn the valve of the pump']
const bakes = [
  'Bread needs yeast and flour',
  'Knead the dough of flour',
  'The oven bakes bread and dough',
]
const texts = [...pumps, ...bakes].map(toIndexText)
const options = { dimensions: 2, maxTerms: 1000 }

function similarity(model: LsaModel, left: string, right: string): number {
  const a = toLsaVector(model, toIndexText(left)).values
  const b = toLsaVector(model, toIndexText(right)).values
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
}

describe('a fitted model', () => {
  const model = fitLsa(texts, options)

  it('places texts without a common word near each other', () => {
    const related = similarity(model, 'valve', 'water')
    expect(related).toBeGreaterThan(0.9)
    expect(related).toBeGreaterThan(similarity(model, 'valve', 'flour') + 0.4)
  })

  it('places a new text near similar ones', () => {
    const fresh = 'Water leaks when the valve breaks'
    expect(similarity(model, fresh, 'The pump moves water')).toBeGreaterThan(0.9)
    expect(similarity(model, fresh, 'Bread needs yeast and flour')).toBeLessThan(0.3)
  })

  it('makes vectors of length 1, and none for unknown words', () => {
    expect(Math.hypot(...toLsaVector(model, 'pump').values)).toBeCloseTo(1, 5)
    expect(toLsaVector(model, 'pump').known).toBeGreaterThan(0.2)
    expect(toLsaVector(model, 'xyzzy plugh')).toEqual({
      values: new Float32Array(model.dimensions),
      known: 0,
    })
  })

  it('is the same each time', () => {
    expect(encodeModel(fitLsa(texts, options))).toEqual(encodeModel(model))
  })

  it('is preserved by encoding', () => {
    const read = decodeModel(encodeModel(model))
    expect([...read.rows]).toEqual([...model.rows])
    const before = toLsaVector(model, texts[4] ?? '').values
    const after = toLsaVector(read, texts[4] ?? '').values
    expect(before.reduce((sum, value, at) => sum + value * (after[at] ?? 0), 0)).toBeGreaterThan(
      0.999,
    )
  })

  it('is refused when its bytes are incomplete', () => {
    const bytes = encodeModel(model)
    expect(() => decodeModel(bytes.subarray(0, bytes.length - 1))).toThrow(/bytes, not/)
    expect(() => decodeModel(new Uint8Array(3))).toThrow(/no header/)
  })

  it('separates numbers and codes with the same beginning', () => {
    const codes = fitLsa(
      ['part 1234567 a', 'part 1234567 b', 'part 1234568 c', 'part 1234568 d'].map(toIndexText),
      options,
    )
    expect([...codes.rows.keys()]).toContain('1234567')
    expect([...codes.rows.keys()]).toContain('1234568')
  })
})
