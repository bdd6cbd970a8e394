import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { DatabaseOptions } from '../../src/platform/db/open.js'
import { createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'

/** Keeps others from creating tables; returns how to end that. */
async function holdTables({ url, file = '' }: DatabaseOptions): Promise<() => Promise<void>> {
  if (url === undefined) {
    const database = new DatabaseSync(file)
    database.exec('begin immediate')
    return async () => database.close()
  }
  const client = new pg.Client(url)
  await client.connect()
  await client.query('begin')
  await client.query('create table migrations (name text primary key)')
  return () => client.end()
}

describeSlow('a start that takes long', (engine) => {
  it('responds with 503 and the reason at /readyz, with 200 at /healthz, and recovers', async () => {
    await using place = await createCommandPlace(engine, { isEmpty: true })
    const PORT = String(await freePort())
    const release = await holdTables(place.options)
    const starting = startServerProcess({ ...place.environment, PORT })
    // If the start fails, the wait below reports it.
    starting.catch(() => {})
    const get = (path: string) => fetch(`http://127.0.0.1:${PORT}${path}`)
    const early = await vi
      .waitFor(() => get('/readyz'), { timeout: 10_000, interval: 20 })
      .finally(release)
    const server = await starting
    onTestFinished(() => server.kill())
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await early.json()).toMatchObject({
      code: 503,
      type: 'Internal',
      message: 'The server is not ready: it opens its database and brings the tables up to date.',
    })
    expect((await get('/readyz')).status).toBe(200)
  })
})
