import { SourceMap as NodeSourceMap } from 'node:module'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { readSourceMap } from './source-map.js'

const urlOf = (map: unknown) =>
  `data:application/json;charset=utf-8;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`

const good = { version: 3, sources: ['a.ts'], mappings: 'AAAA', names: [] }

describe('a map of a bundle', () => {
  it.each([false, true])(
    'gives the places that Node finds in it (in one line: %s)',
    async (minify) => {
      const build = await rolldown({
        input: new URL('../../server/src/platform/ids.ts', import.meta.url).pathname,
        platform: 'node',
        external: /^[^./]/,
        logLevel: 'silent',
      })
      const { output } = await build.generate({ format: 'cjs', sourcemap: true, minify })
      await build.close()
      const [{ code, map }] = output
      if (!map) throw new Error('There is no map')
      const expected = new NodeSourceMap({ ...map, file: '', sourceRoot: '' })
      const read = readSourceMap(urlOf(map))
      let found = 0
      let positions = 0
      for (const [line, text] of code.split('\n').entries()) {
        for (let column = 0; column < text.length; column++) {
          const place = read?.placeOf(line + 1, column + 1)
          const entry = expected.findEntry(line, column)
          // Node continues the line before where a line has no segment of its own.
          if (!('originalSource' in entry) || entry.generatedLine !== line) continue
          positions += 1
          // It ignores segments that say that nothing is known from there on.
          if (place === undefined) continue
          found += 1
          expect([line, column, place?.line, place?.column]).toEqual([
            line,
            column,
            entry.originalLine + 1,
            entry.originalColumn + 1,
          ])
          expect(entry.originalSource.endsWith(place?.file ?? 'none')).toBe(true)
        }
      }
      expect(found).toBeGreaterThan(0.7 * positions)
      expect(found).toBeGreaterThan(1000)
    },
  )

  it.each([
    ['../src/./a.ts', '', 'src/./a.ts'],
    ['../../node_modules/x/a.js', '', 'node_modules/x/a.js'],
    ['a.ts', 'src', 'src/a.ts'],
    ['webpack://bot/./src/a.ts', '', 'webpack://bot/./src/a.ts'],
    ['a\n    at b (c:1:1)"\\\u001b[31m.ts', '', 'a?    at b (c:1:1)???[31m.ts'],
    [`${'x'.repeat(1e6)}.ts`, '', `${'x'.repeat(197)}.ts`],
  ])('names the file %.40j', (source, sourceRoot, file) => {
    const map = readSourceMap(urlOf({ ...good, sources: [source], sourceRoot }))
    expect(map?.placeOf(1, 8)).toEqual({ file, line: 1, column: 1 })
  })

  it('is also read without base64', () => {
    const url = `data:application/json,${encodeURIComponent(JSON.stringify(good))}`
    expect(readSourceMap(url)?.placeOf(1, 1)).toEqual({ file: 'a.ts', line: 1, column: 1 })
  })

  it.each([
    ['no map', undefined],
    ['a file', 'bundle.cjs.map'],
    ['no JSON', 'data:application/json;base64,####'],
    ['a broken encoding', 'data:application/json,%'],
    ['null', urlOf(null)],
    ['another version', urlOf({ ...good, version: 2 })],
    ['no sources', urlOf({ ...good, sources: 'a.ts' })],
    ['mappings that are no text', urlOf({ ...good, mappings: [['AAAA']] })],
    ['deep JSON', `data:application/json,${'['.repeat(1e6)}`],
    ['sections', urlOf({ version: 3, sections: [] })],
  ])('is not read: %s', (_, url) => {
    expect(readSourceMap(url)).toBeUndefined()
  })

  it.each([
    ['letters that are none', 'A\u1234AA'],
    ['a number without an end', 'g'.repeat(1e6)],
    ['a source that is missing', 'AEAA'],
    ['a source before the first', 'ADAA'],
    ['too many fields', 'AAAAAAAAAA'],
    ['a segment without a source', 'A'],
    ['no segments', ';'.repeat(1e6)],
    ['a source that is no text', 'ACAA', ['a.ts', { toString: 1 }]],
  ])('gives no place for %s', (_, mappings, sources: unknown[] = ['a.ts']) => {
    const map = readSourceMap(urlOf({ ...good, sources, mappings }))
    expect(map?.placeOf(1, 1)).toBeUndefined()
  })
})
