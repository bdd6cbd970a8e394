import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { createPager, type PageQuery } from './pager.js'
import { type PageRequest, paginate } from './paginate.js'

const pager = createPager(randomBytes(32))

const list = {
  operation: 'listNotes',
  scope: 'ws_1',
  sort: 'size',
  direction: 'asc',
} as const satisfies PageQuery<'size'>

const row = fc.record({
  id: fc.stringMatching(/^[a-zA-Z0-9_-]{1,8}$/),
  // Few values, so that most of them are equal.
  size: fc.integer({ min: -2, max: 2 }),
  text: fc.constantFrom('', 'a', 'B', 'b', 'ä', '🙂'),
})
const rows = fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 25 })

describeEachEngine('paging', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  async function fill(values: { id: string; size: number; text: string }[]): Promise<void> {
    await notesOf(database()).run(async (tx) => {
      await tx.deleteFrom('notes').execute()
      if (values.length === 0) return
      await tx
        .insertInto('notes')
        .values(values.map(({ id, size, text }) => note(id, text, size)))
        .execute()
    })
  }

  const read = (page: PageRequest<'size' | 'text'>) =>
    paginate(notesOf(database()).db.selectFrom('notes').select(['id', 'size', 'text']), page)

  /** Walks the list from its first page to its last; `between` may change the table on the way. */
  async function walk(
    query: PageQuery<'size' | 'text'>,
    between: () => Promise<void> = async () => {},
  ) {
    const seen: { id: string; size: number; text: string }[] = []
    for (let nextToken: string | undefined; ; ) {
      const page = await read(pager.page({ ...query, nextToken }))
      seen.push(...page.rows)
      if (page.nextToken === undefined) return seen
      expect(page.rows).toHaveLength(query.pageSize ?? 20)
      nextToken = page.nextToken
      await between()
    }
  }

  it('gives every row once and in order, however long the pages', async () => {
    const order = fc.record({
      sort: fc.constantFrom('size' as const, 'text' as const),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      pageSize: fc.integer({ min: 1, max: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(rows, order, async (values, { sort, direction, pageSize }) => {
        await fill(values)
        const sign = direction === 'asc' ? 1 : -1
        const expected = values.toSorted(
          (a, b) => sign * (compare(a[sort], b[sort]) || compare(a.id, b.id)),
        )
        expect(await walk({ ...list, sort, direction, pageSize })).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('shows no row twice and misses none that stays, while rows come and go', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        rows,
        fc.integer({ min: 1, max: 4 }),
        async (first, later, pageSize) => {
          const kept = first.filter(({ id }) => !later.some((other) => other.id === id))
          await fill(kept)
          const coming = [...later]
          const seen = await walk({ ...list, pageSize }, async () => {
            const next = coming.pop()
            if (!next) return
            const { run } = notesOf(database())
            const { id, size, text } = next
            await run((tx) =>
              tx
                .insertInto('notes')
                .values(note(id, text, size))
                .execute(),
            )
          })
          const ids = seen.map(({ id }) => id)
          expect(new Set(ids).size).toBe(ids.length)
          expect(kept.filter(({ id }) => !ids.includes(id))).toEqual([])
        },
      ),
      { numRuns: 40 },
    )
  })

  it('names the columns of a joined table', async () => {
    await fill([{ id: 'a', size: 1, text: 'x' }])
    const joined = notesOf(database())
      .db.selectFrom('notes')
      .leftJoin('notebooks', 'notebooks.id', 'notes.notebook_id')
      .select(['notes.id', 'notes.size'])
    const page = await paginate(joined, pager.page(list), 'notes')
    expect(page).toEqual({ rows: [{ id: 'a', size: 1 }], nextToken: undefined })
  })

  it('has no next page exactly when there is nothing on it', async () => {
    const values = Array.from({ length: 4 }, (_, size) => ({ id: `n${size}`, size, text: '' }))
    await fill(values)
    const full = await read(pager.page({ ...list, pageSize: 4 }))
    expect(full.nextToken).toBeUndefined()
    const short = await read(pager.page({ ...list, pageSize: 3 }))
    expect(short.nextToken).toBeTypeOf('string')
  })
})

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}
