import { createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, inject, it, vi } from 'vitest'
import { engines, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { DatabaseBusyError, DatabaseUnavailableError } from './errors.js'
import { openDatabase } from './open.js'

const postgres = engines.find((engine) => engine.name === 'postgres')

describe.runIf(postgres)('PostgreSQL', () => {
  if (!postgres) return
  const database = useDatabase(postgres, [notesMigration])

  /** Opens it with a limit so short that on a busy machine even what is quick takes several attempts. */
  const openImpatient = (limits: { statementTimeout?: number; busyTimeout?: number }) =>
    vi.waitFor(() => openDatabase({ ...database().options, ...limits }))

  /** Ends connections as an administrator or a restart of the server does. */
  async function endConnections(which: string): Promise<void> {
    const client = new pg.Client(database().options.url)
    await client.connect()
    await client.query(
      `select pg_terminate_backend(pid, 30000) from pg_stat_activity
       where pid <> pg_backend_pid() and datname = current_database() and ${which}`,
    )
    await client.end()
  }

  const addNote = (id: string) =>
    notesOf(database()).run((tx) => tx.insertInto('notes').values(note(id)).execute())

  const ids = async (prefix: string) => {
    const { db } = notesOf(database())
    const query = db.selectFrom('notes').select('id').where('id', 'like', `${prefix}%`)
    return (await query.orderBy('id').execute()).map((row) => row.id)
  }

  it('recovers from connections that broke while idle', async () => {
    await Promise.all([addNote('idle-1'), addNote('idle-2'), addNote('idle-3')])
    await endConnections('true')
    await vi.waitFor(() => addNote('idle-4'))
    expect(await ids('idle-')).toEqual(['idle-1', 'idle-2', 'idle-3', 'idle-4'])
  })

  it('names the loss of a connection inside a transaction, and recovers', async () => {
    const lost = notesOf(database()).run(async (tx) => {
      await tx.insertInto('notes').values(note('lost-1')).execute()
      await endConnections("state = 'idle in transaction'")
      await tx.insertInto('notes').values(note('lost-2')).execute()
    })
    await expect(lost).rejects.toThrow(DatabaseUnavailableError)
    await addNote('lost-3')
    expect(await ids('lost-')).toEqual(['lost-3'])
  })

  it('reports that the outcome is unknown if the connection breaks in the commit', async () => {
    const lost = notesOf(database()).run(async (tx) => {
      await tx.insertInto('notes').values(note('unknown')).execute()
      await endConnections("state = 'idle in transaction'")
    })
    await expect(lost).rejects.toThrow('unknown whether it was stored')
  })

  it('runs both of two transactions that block each other', async () => {
    await Promise.all([addNote('dead-1'), addNote('dead-2')])
    let arrived = 0
    let meet = () => {}
    const both = new Promise<void>((resolve) => {
      meet = resolve
    })
    let attempts = 0
    const update = (first: string, second: string) =>
      notesOf(database()).run(async (tx) => {
        attempts += 1
        const grow = (id: string) =>
          tx
            .updateTable('notes')
            .set((eb) => ({ size: eb('size', '+', 1) }))
            .where('id', '=', id)
            .execute()
        await grow(first)
        arrived += 1
        if (arrived === 2) meet()
        await both
        await grow(second)
      })
    await Promise.all([update('dead-1', 'dead-2'), update('dead-2', 'dead-1')])
    expect(attempts).toBeGreaterThan(2)
    const rows = await notesOf(database())
      .db.selectFrom('notes')
      .select('size')
      .where('id', 'like', 'dead-%')
      .execute()
    expect(rows).toEqual([{ size: 2 }, { size: 2 }])
  })

  it('gives up a statement that takes too long', async () => {
    await using impatient = await openImpatient({ statementTimeout: 50 })
    const sleep = sql`select pg_sleep(30)`
    for (const slow of [
      () => impatient.run((tx) => sleep.execute(tx)),
      () => sleep.execute(impatient.db),
    ]) {
      await vi.waitFor(() => expect(slow()).rejects.toThrow('statement timeout'))
    }
    await vi.waitFor(() => impatient.check())
  })

  it('gives up waiting for a lock', async () => {
    await addNote('lock')
    await using impatient = await openImpatient({ busyTimeout: 50 })
    const change = sql`update notes set size = 1 where id = 'lock'`
    await notesOf(database()).run(async (tx) => {
      await change.execute(tx)
      const waits = () => impatient.run((other) => change.execute(other))
      await vi.waitFor(() => expect(waits()).rejects.toThrow(DatabaseBusyError))
    })
  })

  it('ends a transaction that does nothing for too long', async () => {
    await using impatient = await openImpatient({ statementTimeout: 50 })
    const idle = () =>
      notesOf(impatient).run(async (tx) => {
        await tx.insertInto('notes').values(note('asleep')).execute()
        await vi.waitUntil(isAlone)
        await tx.insertInto('notes').values(note('asleep-2')).execute()
      })
    await vi.waitFor(() => expect(idle()).rejects.toThrow(DatabaseUnavailableError))
    expect(await ids('asleep')).toEqual([])
    await vi.waitFor(() => impatient.check())
  })

  /** Whether the server has ended all transactions that waited for their next query. */
  async function isAlone(): Promise<boolean> {
    const client = new pg.Client(database().options.url)
    await client.connect()
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction'`,
    )
    await client.end()
    return rows.length === 0
  }

  it('reports when the server cannot be reached', async () => {
    await expect(openDatabase({ url: 'postgres://127.0.0.1:1/none' })).rejects.toThrow(
      DatabaseUnavailableError,
    )
    const wrong = new URL(inject('postgresUrl'))
    wrong.pathname = '/no_such_database'
    await expect(openDatabase({ url: wrong.href })).rejects.toThrow(DatabaseUnavailableError)
  })

  it('does not wait for ever for a server that sends nothing', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : 0
    const opening = openDatabase({ url: `postgres://127.0.0.1:${port}/none`, busyTimeout: 50 })
    await expect(opening).rejects.toThrow(DatabaseUnavailableError)
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
})
