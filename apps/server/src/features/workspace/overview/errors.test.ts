import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WorkspaceLogLine } from '../../../domain/log-lines.js'
import { coveredHours, groupErrors, ofLine, patternOf } from './errors.js'

const since = Date.UTC(2026, 0, 1)
const hour = 3_600_000

describe('the pattern of a message', () => {
  it.each([
    ['Order 17 of user_01J8ZQ4T7N2K5M9R3V6X8B1C4D failed', 'Order # of # failed'],
    ['Status 500: {"id":"87c6f1a4-a3d2-4783-9198-e1d2e7fc3e44"}', 'Status #: {"id":"#"}'],
    ['took 1.5 s at 2026-01-02 03:04:05', 'took # s at #'],
    ['commit deadbeef0123456 is bad', 'commit # is bad'],
    ['nothing to replace', 'nothing to replace'],
  ])('of %s is %s', (message, pattern) => {
    expect(patternOf(message)).toBe(pattern)
  })

  it('is short and found in little time, whatever the message is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2000 }), (message) => {
        expect(patternOf(message).length).toBeLessThanOrEqual(300)
      }),
    )
    expect(patternOf('1-'.repeat(100_000)).length).toBeLessThanOrEqual(300)
  })
})

describe('groups of errors', () => {
  const lineAt = (number: number, bot: number, minutes: number): WorkspaceLogLine => ({
    id: `report_${minutes}`,
    source: 'bot',
    level: 'error',
    message: `Bad thing ${'abc'[number]} ${minutes}`,
    botId: `bot-${bot}`,
    integrationId: null,
    integrationAlias: null,
    deliveryId: null,
    userId: null,
    workflowId: null,
    conversationId: null,
    createdAt: new Date(since + minutes * 60_000).toISOString(),
  })

  it('count each error of the last day once, in its hour', () => {
    const minutes = fc.integer({ min: -100, max: 24 * 60 - 1 })
    const lines = fc.array(fc.tuple(fc.nat(2), fc.nat(2), minutes), { maxLength: 100 })
    fc.assert(
      fc.property(lines, (drafts) => {
        const found = drafts.map((draft) => lineAt(...draft))
        const groups = groupErrors(found.map(ofLine), since)
        const recent = drafts.filter(([, , at]) => at >= 0)
        expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(recent.length)
        expect(groups).toHaveLength(new Set(recent.map(([what, bot]) => `${what} ${bot}`)).size)
        for (const { hours, count, lastAt, target } of groups) {
          expect(hours).toHaveLength(coveredHours)
          expect(hours.reduce((sum, each) => sum + each, 0)).toBe(count)
          const minute = (Date.parse(lastAt) - since) / 60_000
          expect(target.id).toBe(`report_${minute}`)
          expect(hours.findLastIndex((each) => each > 0)).toBe(Math.floor((minute * 60_000) / hour))
        }
        const counts = groups.map(({ count }) => count)
        expect(counts).toEqual(counts.toSorted((one, other) => other - one))
      }),
    )
  })
})
