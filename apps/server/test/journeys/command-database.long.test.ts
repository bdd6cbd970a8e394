import { readdir } from 'node:fs/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { describeEachEngine } from '../engines.js'
import { runCommand, startServerProcess } from '../processes.js'

const commands = [['check'], ['token', 'list'], ['token', 'create'], ['backup']]

describeEachEngine('commands that read the database themselves', (engine) => {
  /** The refusal, which must be the same in all commands. */
  async function refusalOf({ dataDir, environment }: CommandPlace): Promise<string> {
    const said = new Set<string>()
    for (const command of commands) {
      const target = command[0] === 'backup' ? [`${dataDir}-backups`, '--no-encryption'] : []
      const { status, stdout, stderr } = await runCommand([...command, ...target], environment)
      expect([command, status, stdout]).toEqual([command, 1, ''])
      said.add(stderr)
    }
    expect([...said]).toHaveLength(1)
    return [...said].join('')
  }

  it('refuse a place where no server has started, and make nothing there', async () => {
    await using place = await createCommandPlace(engine, { isEmpty: true })
    expect(await refusalOf(place)).toMatch(
      engine.name === 'sqlite'
        ? /^There is no database .* run this in the folder/
        : /has no tables/,
    )
    if (engine.name === 'sqlite') expect(await readdir(place.dataDir)).toEqual([])
  })

  it('leave a database of an earlier release to the start of the server', async () => {
    await using place = await createCommandPlace(engine)
    const names = async (change?: string) => {
      await using database = await openDatabase(place.options)
      if (change !== undefined) await database.run((tx) => sql.raw(change).execute(tx))
      return (await sql`select name from migrations`.execute(database.db)).rows.length
    }
    const server = await startServerProcess(place.environment)
    expect(await server.stop()).toBe(0)
    const before = await names(
      'delete from migrations where name = (select max(name) from migrations)',
    )
    expect(await refusalOf(place)).toContain('start this release first')
    expect(await names()).toBe(before)
  })
})
