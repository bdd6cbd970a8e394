import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { describeEachEngine } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { expectRefusal, send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { mainCalls } from './calls.js'

const tables = ['access_tokens', 'bots', 'files', 'conversations', 'messages', 'passages']

describeEachEngine('a server whose tables are gone', (engine) => {
  const lines: string[] = []
  let server: TestServer
  let own: Tenant
  let stranger: string

  beforeAll(async () => {
    const destination = { write: (line: string) => lines.push(line) }
    server = await startTestServer(engine, {}, await createLog({ level: 'error', destination }))
    own = await settle(server, server)
    stranger = (await addAccount(server)).token
    // Callers are authenticated from a cache, so that the calls reach their own tables.
    for (const [, { operation, example }] of mainCalls) await send(server, operation, example(own))
    await hideTables(server)
  })
  afterAll(async () => await server.close())

  it.each(mainCalls)('responds to %s in general terms and logs the cause', async (_, call) => {
    lines.length = 0
    const response = await send(server, call.operation, call.example(own))
    const text = await response.clone().text()
    await expectRefusal(response, {
      status: 500,
      type: 'Internal',
      message: 'The server failed. Its log has the cause under this id.',
    })
    expect(text).not.toMatch(/metadata|stack|sql|select|table|relation|hidden/i)
    const { id } = JSON.parse(text)
    const line = lines.map((one) => JSON.parse(one)).find(({ requestId }) => requestId === id)
    expect(line).toMatchObject({ level: 'error', status: 500, method: call.operation.method })
    expect(line.err.message).toMatch(/no such table|does not exist/)
    expect(line.err.stack).toMatch(/\.m?[jt]s:\d/)
  })

  it('does not report a failed look-up as a wrong token', async () => {
    const response = await server.fetch('/v1/admin/account/me', {
      headers: { authorization: `Bearer ${stranger}` },
    })
    await expectRefusal(response, {
      status: 500,
      type: 'Internal',
      message: 'The server failed. Its log has the cause under this id.',
    })
  })

  it('is still alive', async () => {
    expect((await server.fetch('/healthz')).status).toBe(200)
  })
})

/** Renames the tables, as another process could. */
async function hideTables({ server }: TestServer): Promise<void> {
  const { databaseUrl, dataDir } = server.config
  await using database = await openDatabase(
    databaseUrl === undefined
      ? { file: `${dataDir}/botstead.db` }
      : { url: databaseUrl, poolSize: 1 },
  )
  await database.run(async (tx) => {
    for (const table of tables) {
      await tx.schema.alterTable(table).renameTo(`${table}_hidden`).execute()
    }
  })
}
