import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'

/** Names that would end a literal of an object, or a string in it, if they were not escaped. */
const names = ['plain', "it's", 'a "quote"', '}; throw 1; ({', '\\', '$`{1}`', 'zeile\nzwei', 'ü']

describeEachEngine('rows', (engine) => {
  const database = useDatabase(engine, [])

  it('are the same before and after their maker was compiled, whatever columns are named', async () => {
    const columns = names.map((name, at) => sql`${sql.lit(at)} + n as ${sql.ref(name)}`)
    const query = sql`with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 299)
      select ${sql.join(columns)} from numbers order by n`
    const expected = Array.from({ length: 300 }, (_, n) =>
      Object.fromEntries(names.map((name, at) => [name, at + n])),
    )
    // On SQLite the maker is compiled when a statement has returned 500 rows: in the second of these runs.
    for (let run = 0; run < 4; run += 1) {
      const { rows } = await query.execute(database().db)
      expect(rows).toEqual(expected)
      for (const row of rows) expect(Object.keys(row as object)).toEqual(names)
    }
  })
})
