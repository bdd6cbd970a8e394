import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { decodeBoolean, decodeJson, encodeBoolean, encodeJson } from './columns.js'

describeEachEngine('a column', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it('brings back JSON, numbers, flags and bytes as they were stored', async () => {
    const { run } = notesOf(database())
    const value = fc.record({
      json: fc.jsonValue(),
      size: fc.maxSafeInteger(),
      // The driver of SQLite binds what is closer to zero than this as zero.
      ratio: fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((ratio) => Math.abs(ratio) >= Number.EPSILON),
      data: fc.uint8Array(),
    })
    await fc.assert(
      fc.asyncProperty(value, fc.boolean(), async ({ json, size, ratio, data }, flag) => {
        const stored = await run(async (tx) => {
          await tx.deleteFrom('notes').execute()
          await tx.deleteFrom('notebooks').execute()
          await tx
            .insertInto('notebooks')
            .values({ id: 'flag', last_seq: encodeBoolean(flag) })
            .execute()
          await tx
            .insertInto('notes')
            .values({ ...note('value', encodeJson(json), size), ratio, data })
            .execute()
          const { last_seq } = await tx
            .selectFrom('notebooks')
            .select('last_seq')
            .executeTakeFirstOrThrow()
          const row = await tx.selectFrom('notes').selectAll().executeTakeFirstOrThrow()
          return { ...row, flag: decodeBoolean(last_seq) }
        })
        expect(decodeJson(stored.text)).toEqual(JSON.parse(JSON.stringify(json)))
        expect(stored.flag).toBe(flag)
        expect(stored.size).toBe(size)
        expect(stored.ratio).toBe(ratio)
        expect([...(stored.data ?? [])]).toEqual([...data])
      }),
      { numRuns: 100 },
    )
  })

  it('holds no numbers that JavaScript cannot', async () => {
    const { db, run } = notesOf(database())
    await run(async (tx) => {
      await tx
        .insertInto('notes')
        .values(note('huge', '', Number.MAX_SAFE_INTEGER))
        .execute()
      await tx
        .updateTable('notes')
        .set((eb) => ({ size: eb('size', '+', 2) }))
        .where('id', '=', 'huge')
        .execute()
    })
    const read = db.selectFrom('notes').select('size').where('id', '=', 'huge').execute()
    await expect(read).rejects.toThrow(/too large/)
  })
})

it.each([undefined, () => 1, Symbol('x')])('%s has no JSON', (value) => {
  expect(() => encodeJson(value)).toThrow(TypeError)
})
