import { expect, it, vi } from 'vitest'
import { ownerOf } from '../actors.js'
import { createCommandPlace } from '../command-place.js'
import { describeInLong, describeInUsual, describeSlow, engines } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { startTestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { startServerProcess } from '../processes.js'
import { inDatabase } from '../tenancy/seed.js'
import { deployBot, deployIntegration, program, untilRegistered } from './hosted.js'

const secret = 'the secret that all processes share'
/** Returns its key, and whether it works, after the user in its input is deleted. */
const telling = program(`
  const get = async (path) => {
    const headers = { authorization: 'Bearer ' + process.env.BP_TOKEN, 'x-bot-id': request.headers['x-bot-id'] }
    return (await fetch(process.env.BP_API_URL + '/v1/chat/' + path, { headers })).status
  }
  while (input.user && (await get('users/' + input.user)) === 200) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { key: process.env.BP_TOKEN, status: await get('conversations') }`)

/** The status of a call with a key. */
async function statusOf(url: string, key: unknown, botId = ''): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'x-bot-id': botId }
  const response = await fetch(`${url}/v1/chat/conversations`, { headers })
  await response.body?.cancel()
  return response.status
}

const keyIn = ({ key }: Record<string, unknown>) => {
  expect(key).toEqual(expect.any(String))
  return String(key)
}

describeSlow('the key of deployed code', (engine) => {
  const server = useServer(engine)

  it('the key ends with the program that the next deployment has replaced', async () => {
    const { bot, call, redeploy } = await deployBot(server(), telling)
    const output = await call()
    const key = keyIn(output)
    expect(output.status).toBe(200)
    await redeploy(`${telling}//`)
    await server().clock.hold(() =>
      eventually(async () => expect(await statusOf(server().url, key, bot.id)).toBe(401)),
    )
    const next = await call()
    expect(next.status).toBe(200)
    expect(keyIn(next)).not.toBe(key)
  })

  it('the key ends when the owner gets an address, and when code does not come into force', async () => {
    const { bot, admin, call } = await deployBot(server(), telling)
    const key = keyIn(await call())
    const refused = program('', 'throw new Error("never")')
    await expect(admin.updateBot({ id: bot.id, code: refused })).rejects.toThrow('never')
    expect(keyIn(await call())).toBe(key)
    await admin.updateBot({ id: bot.id, url: 'http://127.0.0.1:9' })
    await eventually(async () => expect(await statusOf(server().url, key, bot.id)).toBe(401))
  })

  it('the key of an integration ends with its program', async () => {
    const { installed, redeploy } = await deployIntegration(server(), telling)
    const [inBot] = installed
    const key = keyIn({ ...(await inBot?.call()) })
    expect(await statusOf(server().url, key, inBot?.botId)).toBe(200)
    await redeploy(`${telling}//`)
    await eventually(async () => expect(await statusOf(server().url, key, inBot?.botId)).toBe(401))
  })

  it('the key shows that its program runs, also while the code does nothing', async () => {
    const { bot } = await deployBot(server(), program(''), { alwaysAlive: true })
    const uses = () =>
      inDatabase(server(), ({ db }) =>
        db
          .selectFrom('access_tokens')
          .select('last_used_at')
          .where('bot_id', '=', bot.id)
          .where('deployment_id', 'is not', null)
          .execute(),
      )
    expect(await uses()).toEqual([{ last_used_at: null }])
    server().clock.advance(11 * 60_000)
    await eventually(async () => {
      server().clock.advance(1000)
      expect(await uses()).toEqual([{ last_used_at: expect.any(String) }])
    })
  })

  it('the key is not in the list of keys of the bot', async () => {
    const { bot, call } = await deployBot(server(), telling)
    await call()
    expect((await server().client().listBotApiKeys({ botId: bot.id })).baks).toEqual([])
  })
})

describeSlow('a bot that was deleted at another process', (engine) => {
  // One program ends for the other, so that the deleted one has to start.
  const server = useServer(engine, { BOTSTEAD_HOSTING_PROCESSES: '1' })

  it('the process makes no key for it, even if it has missed the deletion', async () => {
    // A call in progress would keep the only place for a program.
    const deployed = async () => {
      const made = await deployBot(server(), telling)
      await untilRegistered(server())
      return made
    }
    const gone = await deployed()
    const other = await deployed()
    const { workspaceId } = server()
    await server().clock.hold(async () => {
      await gone.call()
      await other.call()
      await inDatabase(server(), ({ bots }) => bots.remove(ownerOf(workspaceId), gone.bot.id))
      // It knows the address, unless it was reading it when a hint about the other bot came: then it reads again.
      await expect(gone.call()).rejects.toThrow(/The bot was deleted\.|the bot has no address/)
    })
    const keys = await inDatabase(server(), ({ db }) =>
      db.selectFrom('access_tokens').select('id').where('bot_id', '=', gone.bot.id).execute(),
    )
    expect(keys).toEqual([])
  })
})

const postgres = engines.find(({ name }) => name === 'postgres')

describeInLong('the key of replaced code that still has a request', () => {
  it.skipIf(!postgres)(
    'the key works until the end of the request, and ends when its server is killed',
    async () => {
      if (postgres === undefined) throw new Error('There is no PostgreSQL')
      const first = await startTestServer(postgres, { BOTSTEAD_SECRET: secret })
      await using place = await createCommandPlace(undefined)
      await using other = await startServerProcess({
        ...place.environment,
        DATABASE_URL: first.server.config.databaseUrl ?? '',
        BOTSTEAD_SECRET: secret,
        LOG_LEVEL: 'error',
      })
      try {
        const { bot, redeploy } = await deployBot(first, telling)
        const at = (url: string) => existingClient({ ...first, url }, { botId: bot.id })
        const callAt = async (url: string, input = {}) =>
          (await at(url).callAction({ type: 'act', input })).output
        const [here, there] = [keyIn(await callAt(first.url)), keyIn(await callAt(other.url))]
        expect(here).not.toBe(there)
        const { user } = await at(first.url).createUser({ tags: {} })
        const waiting = callAt(other.url, { user: user.id }).catch(() => 'killed')
        await eventually(async () => {
          const text = await (await fetch(`${other.url}/metrics`)).text()
          expect(text).toMatch(/^botstead_hosting_requests 1$/m)
        })
        await redeploy(`${telling}//`)
        await eventually(async () => expect(await statusOf(other.url, here, bot.id)).toBe(401))
        for (const { url } of [first, other]) expect(await statusOf(url, there, bot.id)).toBe(200)
        await other.kill()
        expect(await waiting).toBe('killed')
        expect(await statusOf(first.url, there, bot.id)).toBe(200)
        first.clock.advance(16 * 60_000)
        expect(await statusOf(first.url, there, bot.id)).toBe(401)
      } finally {
        await first.close()
      }
    },
  )
})

describeInLong('a program that has run for long', () => {
  it.skipIf(!postgres)(
    'the key works however often other servers with the same code are killed',
    async () => {
      if (postgres === undefined) throw new Error('There is no PostgreSQL')
      const first = await startTestServer(postgres, { BOTSTEAD_SECRET: secret })
      await using place = await createCommandPlace(undefined)
      try {
        const { bot } = await deployBot(first, telling)
        const callAt = async (url: string) => {
          const client = existingClient({ ...first, url }, { botId: bot.id })
          return (await client.callAction({ type: 'act', input: {} })).output
        }
        const key = keyIn(await callAt(first.url))
        const hour = 60 * 60_000
        const before = (hours: number) => new Date(Date.now() - hours * hour).toISOString()
        const left = await inDatabase(first, ({ run }) =>
          run(async (tx) => {
            const own = await tx
              .updateTable('access_tokens')
              .set({ created_at: before(3), last_used_at: before(0.2) })
              .where('bot_id', '=', bot.id)
              .returningAll()
              .executeTakeFirstOrThrow()
            // The keys that killed servers left.
            const dead = Array.from({ length: 150 }, (_, at) => ({
              ...own,
              id: `${own.id}${at}`,
              hash: `${own.hash}${at}`,
              created_at: before(2),
              last_used_at: null,
            }))
            await tx.insertInto('access_tokens').values(dead).execute()
            return dead.length
          }),
        )
        // Started now, because a process may start the code for a job of its own: it makes its key beside the others.
        await using other = await startServerProcess({
          ...place.environment,
          DATABASE_URL: first.server.config.databaseUrl ?? '',
          BOTSTEAD_SECRET: secret,
          LOG_LEVEL: 'error',
        })
        const another = keyIn(await callAt(other.url))
        for (const { url } of [first, other]) {
          expect(await statusOf(url, key, bot.id)).toBe(200)
          expect(await statusOf(url, another, bot.id)).toBe(200)
        }
        const kept = await inDatabase(first, ({ db }) =>
          db.selectFrom('access_tokens').select('id').where('bot_id', '=', bot.id).execute(),
        )
        expect(kept.length).toBeLessThan(left)
      } finally {
        await first.close()
      }
    },
  )
})

describeInUsual('a deployed program that is replaced', () => {
  const server = useServer()

  it('a replaced program uses its key until its last request has ended', async () => {
    const { bot, client, redeploy, call } = await deployBot(server(), telling)
    const key = keyIn(await call())
    const { user } = await client.createUser({ tags: {} })
    const slow = call({ user: user.id })
    await vi.waitFor(async () => {
      const text = await (await server().fetch('/metrics')).text()
      expect(text).toMatch(/^botstead_hosting_requests 1$/m)
    })
    await redeploy(`${telling}//`)
    expect(await statusOf(server().url, key, bot.id)).toBe(200)
    await client.deleteUser({ id: user.id })
    expect(await slow).toEqual({ key, status: 200 })
    await eventually(async () => expect(await statusOf(server().url, key, bot.id)).toBe(401))
  })
})
