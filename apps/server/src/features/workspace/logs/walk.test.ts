import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  comparePositions,
  type LogPosition,
  type LogSelection,
  type LogSource,
  logLevels,
  positionOf,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import type { Db } from '../../../platform/db/schema.js'
import { walkLines } from './walk.js'

const selection: LogSelection = {
  botIds: [],
  integrationIds: [],
  hasBot: false,
  hasIntegration: false,
  levels: new Set(logLevels),
  userId: undefined,
  workflowId: undefined,
  conversationId: undefined,
}
const period = { since: '0000', before: '9999' }
/** The sources of these tests read no database. */
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

/** A log in memory with one range for each bot. */
function memorySource(lines: readonly WorkspaceLogLine[]): LogSource & { queries: number } {
  const sorted = lines.toSorted(newestFirst)
  const source = {
    queries: 0,
    weight: 1,
    async findRanges(_: Db, __: LogSelection, { before }: { before: string }) {
      const bots = new Map<string, string>()
      for (const { botId, createdAt } of sorted) {
        if (createdAt < before && !bots.has(botId)) bots.set(botId, createdAt)
      }
      return [...bots].map(([bot_id, newest]) => ({
        source: 'bot' as const,
        key: { bot_id },
        newest,
      }))
    },
    async read(
      _: Db,
      { key }: { key: Readonly<Record<string, string>> },
      __: object,
      after: LogPosition | undefined,
      limit: number,
    ) {
      source.queries += 1
      const behind = (line: WorkspaceLogLine) =>
        after === undefined || comparePositions(positionOf(line), after) < 0
      return sorted.filter((line) => line.botId === key.bot_id && behind(line)).slice(0, limit)
    },
    count: async () => [],
  }
  return source
}

const someLines = fc
  .array(fc.record({ bot: fc.nat(5), second: fc.nat(40), source: fc.nat(2) }), { maxLength: 300 })
  .map((drafts) =>
    drafts.map(({ bot, second, source }, number) => ({
      source,
      line: lineOf(`bot-${bot}`, second, number),
    })),
  )

describe('a walk through logs', () => {
  it('returns every line once and in order, in walks of any length', async () => {
    await fc.assert(
      fc.asyncProperty(someLines, fc.integer({ min: 1, max: 200 }), async (drafts, budget) => {
        const sources = [0, 1, 2].map((own) =>
          memorySource(drafts.filter(({ source }) => source === own).map(({ line }) => line)),
        )
        const seen: WorkspaceLogLine[] = []
        let after: LogPosition | undefined
        let walks = 0
        do {
          walks += 1
          const before = seen.length
          after = await walkLines(db, sources, {
            selection,
            period,
            after,
            budget,
            take: (line) => seen.push(line) > 0,
          })
          // Otherwise a caller would call for ever.
          if (after !== undefined) expect(seen.length).toBeGreaterThan(before)
        } while (after !== undefined && walks < 1000)
        expect(seen).toEqual(drafts.map(({ line }) => line).toSorted(newestFirst))
      }),
    )
  })

  it('reads only the ranges whose turn comes', async () => {
    const lines = Array.from({ length: 500 }, (_, bot) => lineOf(`bot-${bot}`, bot, bot))
    const source = memorySource(lines)
    const seen: WorkspaceLogLine[] = []
    const take = (line: WorkspaceLogLine) => seen.push(line) < 50
    await walkLines(db, [source], { selection, period, after: undefined, budget: 9999, take })
    expect(seen).toHaveLength(50)
    expect(source.queries).toBe(50)
  })
})
