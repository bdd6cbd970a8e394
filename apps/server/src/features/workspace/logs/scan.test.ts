import fc from 'fast-check'
import { describe, expect, it, type Mock, vi } from 'vitest'
import {
  comparePositions,
  type LogPosition,
  type LogReader,
  type LogSelection,
  logLevels,
  logSources,
  positionOf,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import type { Db } from '../../../platform/db/schema.js'
import { scanLines } from './scan.js'

const selection: LogSelection = {
  workspaceId: 'ws',
  botIds: [],
  integrationIds: [],
  botId: undefined,
  integrationId: undefined,
  sources: new Set(logSources),
  levels: new Set(logLevels),
  userId: undefined,
  workflowId: undefined,
  conversationId: undefined,
}
const period = { since: '0000', before: '9999' }
/** The readers of these tests read no database. */
const db = {} as Db

const lineOf = (botId: string, second: number, number: number): WorkspaceLogLine => ({
  id: `report_${String(number).padStart(4, '0')}`,
  source: 'bot',
  level: 'info',
  message: '',
  botId,
  integrationId: null,
  integrationAlias: null,
  deliveryId: null,
  userId: null,
  workflowId: null,
  conversationId: null,
  createdAt: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
})

const newestFirst = (one: WorkspaceLogLine, other: WorkspaceLogLine) =>
  comparePositions(positionOf(other), positionOf(one))

/** A log in memory. */
function memoryReader(lines: readonly WorkspaceLogLine[]): LogReader & { read: Mock } {
  const sorted = lines.toSorted(newestFirst)
  return {
    weight: 1,
    read: vi.fn<LogReader['read']>(async (_, __, ___, after, limit) => {
      const behind = (line: WorkspaceLogLine) =>
        after === undefined || comparePositions(positionOf(line), after) < 0
      return sorted.filter(behind).slice(0, limit)
    }),
    count: async () => [],
  }
}

const someLines = fc
  .array(fc.record({ bot: fc.nat(5), second: fc.nat(40), source: fc.nat(2) }), { maxLength: 600 })
  .map((drafts) =>
    drafts.map(({ bot, second, source }, number) => ({
      source,
      line: lineOf(`bot-${bot}`, second, number),
    })),
  )

describe('a scan of logs', () => {
  it('returns every line once and in order, in scans of any length', async () => {
    await fc.assert(
      fc.asyncProperty(someLines, fc.integer({ min: 1, max: 200 }), async (drafts, budget) => {
        const readers = [0, 1, 2].map((own) =>
          memoryReader(drafts.filter(({ source }) => source === own).map(({ line }) => line)),
        )
        const seen: WorkspaceLogLine[] = []
        let after: LogPosition | undefined
        let scans = 0
        do {
          scans += 1
          const before = seen.length
          after = await scanLines(db, readers, {
            selection,
            period,
            after,
            budget,
            take: (line) => seen.push(line) > 0,
          })
          // Otherwise a caller would call for ever.
          if (after !== undefined) expect(seen.length).toBeGreaterThan(before)
        } while (after !== undefined && scans < 1000)
        expect(seen).toEqual(drafts.map(({ line }) => line).toSorted(newestFirst))
      }),
    )
  })

  it('reads no more than it has to for a page', async () => {
    const lines = Array.from({ length: 5000 }, (_, number) => lineOf('bot', number, number))
    const reader = memoryReader(lines)
    const seen: WorkspaceLogLine[] = []
    const take = (line: WorkspaceLogLine) => seen.push(line) < 51
    await scanLines(db, [reader], { selection, period, after: undefined, budget: 9999, take })
    expect(seen).toHaveLength(51)
    expect(reader.read).toHaveBeenCalledTimes(1)
    const read = await reader.read.mock.results[0]?.value
    expect(read.length).toBeLessThan(100)
  })
})
