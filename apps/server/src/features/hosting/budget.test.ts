import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import { createOutputBudget, type OutputShare } from './budget.js'

const roundMs = 100
/** In a round of 100 ms: 1000 bytes and 100 lines. */
const perSecond = { bytes: 10_000, lines: 1000 }

/** Reads pieces whenever its share allows it, as a pipe that is always full does. */
function readAlways(share: OutputShare, piece: { bytes?: number; lines?: number }) {
  const read = { bytes: 0, lines: 0 }
  const go = () => {
    for (;;) {
      read.bytes += piece.bytes ?? 0
      read.lines += piece.lines ?? 0
      if (!share.take(piece)) break
    }
    share.wait(go)
  }
  go()
  return read
}

function open() {
  const time = new ManualTime()
  return { time, budget: createOutputBudget(time, perSecond) }
}

describe('the budget for the output of programs', () => {
  it.each([1, 4, 8, 100])('bounds what %i programs write together', (count) => {
    const { time, budget } = open()
    const reads = Array.from({ length: count }, () =>
      readAlways(budget.open(), { bytes: 10, lines: 1 }),
    )
    time.advance(10_000)
    const total = reads.reduce((sum, { lines }) => sum + lines, 0)
    // A program reads one piece at least before it learns that its part is used up.
    expect(total).toBeLessThanOrEqual(10 * perSecond.lines + 2 * perSecond.lines + count)
    expect(total).toBeGreaterThan(8 * perSecond.lines)
  })

  it('bounds bytes also if they are in few lines', () => {
    const { time, budget } = open()
    const read = readAlways(budget.open(), { bytes: 6000, lines: 1 })
    time.advance(60_000)
    // Output that was read beyond the part of a round is subtracted from the next parts.
    expect(read.bytes).toBeLessThanOrEqual(60 * perSecond.bytes + 2 * 6000)
    expect(read.bytes).toBeGreaterThan(50 * perSecond.bytes)
  })

  it('is divided equally among those that write without end', () => {
    const { time, budget } = open()
    const small = readAlways(budget.open(), { bytes: 10 })
    const large = readAlways(budget.open(), { bytes: 500 })
    time.advance(60_000)
    expect(small.bytes / large.bytes).toBeGreaterThan(0.8)
    expect(small.bytes / large.bytes).toBeLessThan(1.25)
  })

  it('lets a program that writes little read at once beside those', () => {
    const { time, budget } = open()
    for (let at = 0; at < 9; at += 1) readAlways(budget.open(), { bytes: 500, lines: 20 })
    const quiet = budget.open()
    for (let second = 0; second < 20; second += 1) {
      time.advance(1000)
      expect(quiet.take({ bytes: 50, lines: 5 })).toBe(true)
    }
  })

  it('gives one program nearly everything while the others are silent', () => {
    const { time, budget } = open()
    for (let at = 0; at < 9; at += 1) budget.open()
    const read = readAlways(budget.open(), { lines: 1 })
    time.advance(10_000)
    expect(read.lines).toBeGreaterThan(9 * perSecond.lines)
  })

  it('resumes nobody whose share was closed, and sets no timer while nobody reads', () => {
    const { time, budget } = open()
    const share = budget.open()
    const read = readAlways(share, { lines: 1 })
    const before = read.lines
    share.close()
    time.advance(roundMs * 10)
    expect(read.lines).toBe(before)
    expect(time.pending).toBe(0)
  })
})
