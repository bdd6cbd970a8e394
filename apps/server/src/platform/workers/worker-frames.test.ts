import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFrameReader, type FrameKind, frameHead } from './worker-frames.js'

const frame = (kind: FrameKind, content: string) => {
  const bytes = Buffer.from(content)
  return Buffer.concat([frameHead(kind, bytes.length), bytes])
}

describe('frames', () => {
  it('are read one by one, however a stream is cut into pieces', () => {
    const kind = fc.constantFrom<FrameKind>('task', 'output', 'progress', 'piece')
    const given = fc.array(fc.tuple(kind, fc.string({ maxLength: 20 })), { maxLength: 10 })
    fc.assert(
      fc.property(given, fc.array(fc.integer({ min: 1, max: 30 })), (frames, lengths) => {
        const found: [FrameKind, string][] = []
        const read = createFrameReader(
          () => 100,
          (kind, content) => found.push([kind, content.toString()]),
        )
        let rest = Buffer.concat(frames.map(([kind, content]) => frame(kind, content)))
        for (const length of lengths) {
          if (length < rest.length) read(rest.subarray(0, length))
          if (length < rest.length) rest = rest.subarray(length)
        }
        read(rest)
        expect(found).toEqual(frames)
      }),
    )
  })

  it('of one piece are not copied', () => {
    const contents: Buffer[] = []
    const read = createFrameReader(
      () => 100,
      (_, content) => contents.push(content),
    )
    const piece = Buffer.concat(Array.from({ length: 1000 }, () => frame('progress', '1')))
    read(piece)
    expect(contents).toHaveLength(1000)
    expect(contents.every(({ buffer }) => buffer === piece.buffer)).toBe(true)
  })
})
