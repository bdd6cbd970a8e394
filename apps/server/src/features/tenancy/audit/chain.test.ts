import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { createTestClock } from '../../../../test/harness.js'
import { openDatabase } from '../../../platform/db/open.js'
import { createPager } from '../../../platform/db/pager.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { createIds } from '../../../platform/ids.js'
import { checkAuditLogs, recordIn } from './index.js'
import { createAuditService } from './service.js'
import type { Link } from './table.js'

const day = 24 * 60 * 60 * 1000

describeEachEngine('the chain of an audit log', (engine) => {
  const database = useDatabase(engine)
  const clock = createTestClock()
  const deps = { clock, ids: createIds() }
  let places = 0

  /** Records an act in some workspaces; in one transaction, which fails if that is wanted. */
  async function act(run: Run, workspaces: readonly string[], fails = false): Promise<void> {
    await run(async (tx) => {
      const acting = { operation: 'updateBot', authority: 'token', accountId: 'a' } as const
      recordIn(deps, tx, async () => workspaces, acting, { changes: { name: { to: 'x' } } })
      if (fails) throw new Error('wanted')
    }).catch((error: unknown) => {
      if (!fails) throw error
    })
  }

  const newPlace = () => {
    places += 1
    return `workspace-${places}`
  }

  async function check(db: Db, only: string, known = new Map<string, readonly Link[]>()) {
    for await (const checked of checkAuditLogs(db, known)) {
      if (checked.workspaceId === only) return checked
    }
    throw new Error(`There is no log of ${only}`)
  }

  function service(retentionMs: number) {
    const { db, run } = database()
    return createAuditService({
      ...deps,
      db,
      run,
      pager: createPager(Buffer.alloc(32)),
      workspaces: { require: async () => undefined },
      accounts: { findMany: async () => new Map() },
      authorities: { guard: () => ({ watch: () => () => {} }) },
      standing: { groundsOf: () => [], untilOf: async () => [] },
      retentionMs,
    })
  }

  it('has no gap and no fork, whoever records at the same time, and whatever fails', async () => {
    await using second = await openDatabase(database().options)
    const runs = engine.name === 'postgres' ? [database().run, second.run] : [database().run]
    const acts = fc.array(
      fc.record({
        process: fc.nat(runs.length - 1),
        places: fc.uniqueArray(fc.nat(2), { minLength: 1 }),
        fails: fc.boolean(),
      }),
      { minLength: 1, maxLength: 25, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(acts, async (given) => {
        const names = [newPlace(), newPlace(), newPlace()]
        await Promise.all(
          given.map(({ process, places: numbers, fails }) => {
            const run = runs[process] ?? database().run
            return act(
              run,
              numbers.map((number) => names[number] ?? ''),
              fails,
            )
          }),
        )
        for (const [number, name] of names.entries()) {
          const expected = given.filter(({ places, fails }) => !fails && places.includes(number))
          if (expected.length === 0) continue
          expect(await check(database().db, name)).toMatchObject({
            fault: undefined,
            records: expected.length,
          })
        }
      }),
      { numRuns: 15 },
    )
  })

  it('shows a record that was changed, removed, added or cut off', async () => {
    const { db, run } = database()
    const tampered = async (
      change: (workspaceId: string) => Promise<unknown>,
    ): Promise<number | undefined> => {
      const name = newPlace()
      for (let count = 0; count < 5; count += 1) await act(run, [name])
      expect((await check(db, name)).fault).toBeUndefined()
      await change(name)
      return (await check(db, name)).fault?.sequence
    }
    const at = (name: string, sequence: number) =>
      [
        ['workspace_id', '=', name],
        ['sequence', '=', sequence],
      ] as const
    for (const patch of [
      { changes: '{"name":{"to":"y"}}' },
      { account_id: 'b' },
      { address: '192.0.2.1' },
      { recorded_at: '2020-01-01T00:00:00.000Z' },
      { hash: 'f'.repeat(64) },
    ]) {
      const found = await tampered((name) =>
        run(async (tx) => {
          const query = tx.updateTable('audit_records').set(patch)
          await query.where('workspace_id', '=', name).where('sequence', '=', 3).execute()
        }),
      )
      expect(found).toBe(3)
    }
    const remove = (sequence: number) => (name: string) =>
      run(async (tx) => {
        const [first, second] = at(name, sequence)
        await tx
          .deleteFrom('audit_records')
          .where(...first)
          .where(...second)
          .execute()
      })
    expect(await tampered(remove(1))).toBe(1)
    expect(await tampered(remove(3))).toBe(3)
    expect(await tampered(remove(5))).toBe(5)
    const beheaded = (name: string) =>
      run(async (tx) => {
        await tx.deleteFrom('audit_heads').where('workspace_id', '=', name).execute()
      })
    expect(await tampered(beheaded)).toBe(1)
  })

  it('can be checked from where retention deleted, again and again', async () => {
    const { db, run } = database()
    const name = newPlace()
    const { sweep } = service(10 * day)
    const retain = async () => {
      while ((await run(sweep)) > 0);
    }
    for (let days = 0; days < 40; days += 1) {
      await act(run, [name])
      clock.advance(day)
      if (days % 7 === 6) await retain()
    }
    await retain()
    const checked = await check(db, name)
    expect(checked.fault).toBeUndefined()
    expect(checked.records).toBeLessThan(20)
    clock.advance(100 * day)
    await retain()
    // The record of the deletion stays, and later ones go on behind it.
    expect(await check(db, name)).toMatchObject({ fault: undefined, records: 1 })
    await act(run, [name])
    expect(await check(db, name)).toMatchObject({ fault: undefined, records: 2 })
    await run(async (tx) => {
      const query = tx.deleteFrom('audit_records').where('workspace_id', '=', name)
      await query.where('operation', '=', 'audit.retention').execute()
    })
    expect((await check(db, name)).fault).toBeDefined()
  })

  it('does not hide records that are known behind a deletion that was forged, or cannot be read', async () => {
    const { db, run } = database()
    const name = newPlace()
    for (let count = 0; count < 3; count += 1) await act(run, [name])
    const { head } = await check(db, name)
    const known = { sequence: 3, hash: head?.hash ?? '' }
    clock.advance(20 * day)
    const { sweep } = service(10 * day)
    while ((await run(sweep)) > 0);
    const with3 = (hash: string) => check(db, name, new Map([[name, [{ sequence: 3, hash }]]]))
    expect((await with3(known.hash)).fault).toBeUndefined()
    expect((await with3('e'.repeat(64))).fault).toMatchObject({ sequence: 3 })
    const older = new Map([[name, [{ sequence: 2, hash: known.hash }]]])
    expect((await check(db, name, older)).fault?.difference).toContain('deleted by retention')
    for (const changes of ['{', 'null', '{"through":1}']) {
      await run(async (tx) => {
        const query = tx.updateTable('audit_records').set({ changes })
        await query.where('workspace_id', '=', name).execute()
      })
      expect((await check(db, name)).fault).toBeDefined()
    }
  })

  it('is not taken for broken while retention deletes from it', async () => {
    const { db, run } = database()
    const name = newPlace()
    for (let days = 0; days < 30; days += 1) {
      await act(run, [name])
      clock.advance(day)
    }
    const { sweep } = service(10 * day)
    let results = 0
    // Retention comes between the read of the last deletion and that of the records.
    const meanwhile = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        results += 1
        if (results === 2) while ((await run(sweep)) > 0);
        return result
      },
    })
    expect((await check(meanwhile, name)).fault).toBeUndefined()
    expect(results).toBeGreaterThan(4)
  })

  it('is compared with a record that is known from elsewhere', async () => {
    const { db, run } = database()
    const name = newPlace()
    for (let count = 0; count < 3; count += 1) await act(run, [name])
    const { head } = await check(db, name)
    if (head === undefined) throw new Error('no head')
    await act(run, [name])
    const known = { sequence: Number(head.sequence), hash: head.hash }
    expect((await check(db, name, new Map([[name, [known]]]))).fault).toBeUndefined()
    // As after all records were written anew, with right hashes.
    const forged = new Map([[name, [known, { ...known, hash: 'e'.repeat(64) }]]])
    expect((await check(db, name, forged)).fault).toMatchObject({ sequence: 3 })
    const missing = new Map([[name, [{ sequence: 9, hash: known.hash }, known]]])
    expect((await check(db, name, missing)).fault).toMatchObject({ sequence: 9 })
    const gone = new Map([['nowhere', [known]]])
    expect((await check(db, 'nowhere', gone)).fault).toMatchObject({ workspaceId: 'nowhere' })
  })
})
