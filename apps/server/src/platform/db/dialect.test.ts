import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { dialectOf } from './dialect.js'

describeEachEngine('the dialect', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it('is found by any handle', async () => {
    const { db, run } = notesOf(database())
    expect(dialectOf(db)).toBe(database().dialect)
    expect(await run(async (tx) => dialectOf(tx))).toBe(database().dialect)
    expect(database().dialect.name).toBe(engine.name)
  })

  it('knows which tables there are', async () => {
    const { dialect, db } = database()
    expect(await dialect.hasTable(db, 'notes')).toBe(true)
    expect(await dialect.hasTable(db, 'novels')).toBe(false)
  })

  it('finds text without regard to case, in any script, and takes wildcards as they are', async () => {
    const { db, run } = notesOf(database())
    const texts = ['Große ÄRZTE', '100% sure', '1000 sure', 'a_b', 'aXb', 'back\\slash', 'ΑΘΗΝΑ']
    await run((tx) =>
      tx
        .insertInto('notes')
        .values(texts.map((text) => note(`contains-${text}`, text)))
        .execute(),
    )
    const find = async (part: string) => {
      const rows = await db
        .selectFrom('notes')
        .select('text')
        .where('id', 'like', 'contains-%')
        .where(({ ref }) => database().dialect.contains(ref('text'), part))
        .execute()
      return rows.map((row) => row.text)
    }
    expect(await find('ärzte')).toEqual(['Große ÄRZTE'])
    expect(await find('αθηνα')).toEqual(['ΑΘΗΝΑ'])
    expect(await find('0% S')).toEqual(['100% sure'])
    expect(await find('A_B')).toEqual(['a_b'])
    expect(await find('K\\S')).toEqual(['back\\slash'])
    expect(await find('')).toHaveLength(texts.length)
  })

  it('finds the position of a text in characters, not in bytes', async () => {
    const { db, run } = notesOf(database())
    await run((tx) => tx.insertInto('notes').values(note('position', 'Ä🙂/b/c')).execute())
    const found = await db
      .selectFrom('notes')
      .select(({ ref }) => [
        database().dialect.positionOf(ref('text'), '/').as('first'),
        database().dialect.positionOf(ref('text'), 'x').as('none'),
      ])
      .where('id', '=', 'position')
      .executeTakeFirst()
    expect(found).toEqual({ first: 3, none: 0 })
  })

  it.each(['plain', 'with "quotes"', "it's", 'a.b[0].$', '', 'ключ', '10'])(
    'reads the text under the key %j of JSON',
    async (key) => {
      const { db, run } = notesOf(database())
      const id = `json-${key}`
      const text = JSON.stringify({ other: 'no', [key]: 'välue "x"' })
      await run((tx) => tx.insertInto('notes').values(note(id, text)).execute())
      const read = (name: string) =>
        db
          .selectFrom('notes')
          .select(({ ref }) => database().dialect.jsonText(ref('text'), name).as('value'))
          .where('id', '=', id)
          .executeTakeFirst()
      expect(await read(key)).toEqual({ value: 'välue "x"' })
      expect(await read(`${key}?`)).toEqual({ value: null })
    },
  )

  it('takes the greater of two values', async () => {
    const { db } = database()
    const { dialect } = database()
    const greater = await db
      .selectNoFrom(({ lit }) => [
        dialect.greater(lit(3), lit(20)).as('number'),
        dialect.greater(sql<string>`'b'`, sql<string>`'a'`).as('text'),
      ])
      .executeTakeFirst()
    expect(greater).toEqual({ number: 20, text: 'b' })
  })

  it('orders text by its bytes', async () => {
    const { db, run } = notesOf(database())
    const texts = ['a', 'B', 'Z', 'b', '_', 'ä', '🙂', '�']
    await run((tx) =>
      tx
        .insertInto('notes')
        .values(texts.map((text) => note(`order-${text}`, text)))
        .execute(),
    )
    const rows = await db
      .selectFrom('notes')
      .select('text')
      .where('id', 'like', 'order-%')
      .orderBy('text')
      .execute()
    const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(rows.map((row) => row.text)).toEqual(byBytes)
  })

  it('names the reason why a row was refused, with and without a returning clause', async () => {
    const { run } = notesOf(database())
    const { dialect } = database()
    await run((tx) => tx.insertInto('notes').values(note('unique')).execute())
    const orphan = { ...note('orphan'), notebook_id: 'nobody' }
    const failures = await Promise.all(
      [note('unique'), orphan].flatMap((row) => [
        run((tx) => tx.insertInto('notes').values(row).execute()).catch((error) => error),
        run((tx) => tx.insertInto('notes').values(row).returning('id').execute()).catch(
          (error) => error,
        ),
      ]),
    )
    expect(failures.map(dialect.isUniqueViolation)).toEqual([true, true, false, false])
    expect(failures.map(dialect.isForeignKeyViolation)).toEqual([false, false, true, true])
    expect(failures.map(dialect.isTransient)).toEqual([false, false, false, false])
    expect(dialect.isUniqueViolation(undefined)).toBe(false)
  })

  it('gives each claimed row to one of many that claim at once', async () => {
    const { run } = notesOf(database())
    const { dialect } = database()
    const ids = Array.from({ length: 40 }, (_, index) => `claim-${index}`)
    await run((tx) =>
      tx
        .insertInto('notes')
        .values(ids.map((id) => note(id)))
        .execute(),
    )
    const claim = () =>
      run((tx) =>
        tx
          .updateTable('notes')
          .set({ size: 1 })
          .where('id', 'in', (eb) =>
            dialect.lockFreeRows(
              eb
                .selectFrom('notes')
                .select('id')
                .where('id', 'like', 'claim-%')
                .where('size', '=', 0)
                .limit(5),
            ),
          )
          .returning('id')
          .execute(),
      )
    const claims = await Promise.all(Array.from({ length: 8 }, claim))
    const claimed = claims.flat().map((row) => row.id)
    expect(new Set(claimed).size).toBe(claimed.length)
    expect(claimed.toSorted()).toEqual(ids.toSorted())
  })

  it('locks the selected rows', async () => {
    const { run } = notesOf(database())
    const { dialect } = database()
    await run((tx) => tx.insertInto('notes').values(note('locked')).execute())
    const increment = () =>
      run(async (tx) => {
        const { size } = await dialect
          .lockRows(tx.selectFrom('notes').select('size').where('id', '=', 'locked'))
          .executeTakeFirstOrThrow()
        await tx
          .updateTable('notes')
          .set({ size: size + 1 })
          .where('id', '=', 'locked')
          .execute()
        return size + 1
      })
    const sizes = await Promise.all(Array.from({ length: 20 }, increment))
    expect(Math.max(...sizes)).toBe(20)
  })
})
