import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import { createOutputBudget } from './budget.js'
import { readLines } from './lines.js'

type Read = [line: string, cut: number]

const newShare = (bytes = 1e12, lines = 1e9) => {
  const time = new ManualTime()
  return { time, share: createOutputBudget(time, { bytes, lines }).open() }
}

/** Reads pieces, and moves time on until everything was read. */
async function readAll(
  pieces: readonly Uint8Array[],
  { maxBytes, bytes, lines }: { maxBytes: number; bytes?: number; lines?: number },
): Promise<Read[]> {
  const { time, share } = newShare(bytes, lines)
  const stream = new PassThrough()
  const read: Read[] = []
  const faults: unknown[] = []
  const onLine = (line: string, cut: number) => void read.push([line, cut])
  const over = readLines(stream, {
    share,
    maxBytes,
    onLine,
    onFault: (error) => faults.push(error),
  })
  for (const piece of pieces) stream.write(piece)
  stream.end()
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  while (!isOver) {
    await turn()
    time.advance(100)
  }
  expect(faults).toEqual([])
  return read
}

/** The lines of a text, by a definition that is not that of the reader. */
function expected(text: Buffer, maxBytes: number): Read[] {
  return text
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [
      Buffer.from(line.slice(0, maxBytes), 'latin1').toString('utf8'),
      Math.max(0, line.length - maxBytes),
    ])
}

const bytes = fc
  .array(fc.oneof(fc.constant(10), fc.integer({ min: 0, max: 255 })), { maxLength: 400 })
  .map((values) => Buffer.from(values))

function piecesOf(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length])]
  places.sort((a, b) => a - b)
  return places.slice(1).map((place, at) => whole.subarray(places[at], place))
}

describe('the reader of the lines of a program', () => {
  it('reads the same lines however their bytes arrive, and however little is read at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.integer({ min: 1, max: 50 }),
        fc.record({
          bytes: fc.integer({ min: 100, max: 10_000 }),
          lines: fc.integer({ min: 10, max: 1000 }),
        }),
        async (whole, cuts, maxBytes, perSecond) => {
          const read = await readAll(piecesOf(whole, cuts), { maxBytes, ...perSecond })
          expect(read).toEqual(expected(whole, maxBytes))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('cuts lines at their limit, and says how many bytes are missing', async () => {
    const whole = Buffer.from(`${'a'.repeat(7)}\nbc\n${'d'.repeat(5)}`)
    expect(await readAll([whole], { maxBytes: 4 })).toEqual([
      ['aaaa', 3],
      ['bc', 0],
      ['dddd', 1],
    ])
  })

  it('does not fill memory with a line that has no end', async () => {
    const { share } = newShare()
    const stream = new PassThrough()
    const read: Read[] = []
    const over = readLines(stream, {
      share,
      maxBytes: 1000,
      onLine: (line, cut) => void read.push([line, cut]),
      onFault: () => {},
    })
    const mebibyte = Buffer.alloc(2 ** 20, 'x')
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    for (let at = 0; at < 200; at += 1) {
      stream.write(mebibyte)
      await turn()
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    stream.end()
    await over
    expect(read).toEqual([['x'.repeat(1000), 200 * 2 ** 20 - 1000]])
    expect(most).toBeLessThan(20 * 2 ** 20)
  })

  it('leaves lines beyond the budget in the pipe', async () => {
    const { time, share } = newShare(1e12, 100)
    const stream = new PassThrough()
    let read = 0
    const onLine = () => {
      read += 1
    }
    void readLines(stream, { share, maxBytes: 100, onLine, onFault: () => {} })
    stream.write('line\n'.repeat(1000))
    await turn()
    expect(read).toBeLessThanOrEqual(10)
    expect(stream.isPaused()).toBe(true)
    expect(stream.write('x'.repeat(100_000))).toBe(false)
    time.advance(1000)
    expect(read).toBeGreaterThan(80)
    expect(read).toBeLessThanOrEqual(120)
  })

  it('reads lines in their order although the stream is resumed while a part of it waits', async () => {
    const { time, share } = newShare(1e12, 20)
    const stream = new PassThrough()
    const read: string[] = []
    const onLine = (line: string) => void read.push(line)
    const over = readLines(stream, { share, maxBytes: 100, onLine, onFault: () => {} })
    stream.write('a\nb\nc\nd')
    await turn()
    expect(read).toEqual(['a', 'b'])
    // As Node does with the output of a process that ended.
    stream.resume()
    stream.end('e\nf')
    await turn()
    expect(read).toEqual(['a', 'b'])
    time.advance(1000)
    await over
    expect(read).toEqual(['a', 'b', 'c', 'de', 'f'])
  })

  it('reads what waits for the budget when the stream is closed, and then is over', async () => {
    const { time, share } = newShare(1e12, 20)
    const stream = new PassThrough()
    const read: string[] = []
    const onLine = (line: string) => void read.push(line)
    const over = readLines(stream, { share, maxBytes: 100, onLine, onFault: () => {} }).then(() =>
      read.push('(over)'),
    )
    stream.write('a\nb\nc\nno whole line')
    await turn()
    stream.destroy()
    await turn()
    expect(read).toEqual(['a', 'b'])
    time.advance(1000)
    await over
    expect(read).toEqual(['a', 'b', 'c', '(over)'])
  })

  it('ends the stream at a line that the listener refuses, and reports it once', async () => {
    const { share } = newShare()
    const stream = new PassThrough()
    const faults: unknown[] = []
    let read = 0
    const over = readLines(stream, {
      share,
      maxBytes: 100,
      onLine() {
        read += 1
        throw new TypeError('no line')
      },
      onFault: (error) => void faults.push(error),
    })
    stream.write('a\nb\n')
    stream.write('c\n')
    await over
    expect(read).toBe(1)
    expect(faults).toEqual([new TypeError('no line')])
  })
})
