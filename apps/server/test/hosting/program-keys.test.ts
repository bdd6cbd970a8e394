import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeEachEngine, engines } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { startTestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { startServerProcess } from '../processes.js'
import { deployBot, deployIntegration, program } from './hosted.js'

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

describeEachEngine('the key of deployed code', (engine) => {
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

  it('the key is not in the list of keys of the bot', async () => {
    const { bot, call } = await deployBot(server(), telling)
    await call()
    expect((await server().client().listBotApiKeys({ botId: bot.id })).baks).toEqual([])
  })
})

const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(!postgres)('the key of replaced code that still has a request', () => {
  it('the key works until the end of the request, and ends when its server is killed', async () => {
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
  }, 120_000)
})

describe('a deployed program that is replaced', () => {
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
