import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TestAuthenticator } from '../authenticator.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { describeEachEngine, engines } from '../engines.js'
import { PasskeyBrowser, password } from '../passkey-browser.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

/** Where people reach all processes. */
const publicUrl = 'https://bots.example.com'
const token = 'a-token-for-tests-only'
const settings = { BOTSTEAD_PUBLIC_URL: publicUrl, BOTSTEAD_ADMIN_TOKEN: token }
const newBrowser = ({ url }: ServerProcess) => new PasskeyBrowser(url, { origin: publicUrl })
const newDevice = () => new TestAuthenticator(publicUrl)

describe.runIf(engines.some(({ name }) => name === 'postgres'))(
  'passkeys, with two processes on postgres',
  () => {
    const started: AsyncDisposable[] = []
    let here: ServerProcess
    let there: ServerProcess
    let owner: PasskeyBrowser

    async function start(place: CommandPlace, more: Record<string, string> = {}) {
      const server = await startServerProcess({ ...place.environment, ...settings, ...more })
      started.push(server)
      return server
    }

    beforeAll(async () => {
      const place = await createCommandPlace(engines.find(({ name }) => name === 'postgres'))
      const folder = await createCommandPlace()
      started.push(place, folder)
      here = await start(place)
      there = await start(place, { BOTSTEAD_DATA_DIR: folder.dataDir, BOTSTEAD_ROLES: 'api' })
      owner = newBrowser(here)
      await owner.enter(token)
      expect((await owner.call('account/password', { password }, 'PUT')).status).toBe(200)
    })
    afterAll(async () => {
      for (const each of started.toReversed()) await each[Symbol.asyncDispose]()
    })

    async function addDevice() {
      const device = newDevice()
      const { status, said } = await owner.add(device)
      expect(status, said.message).toBe(200)
      return { device, id: String(said.passkey.id) }
    }

    it('finish at another process than they begin', async () => {
      const { device } = await addDevice()
      const browser = newBrowser(here)
      const { said } = await browser.begin()
      expect((await browser.at(there.url).finish(device.get(said.options))).status).toBe(201)
      expect(await browser.email()).toBeDefined()

      const added = newDevice()
      const begun = await owner.start()
      const stored = await owner.at(there.url).store('Phone', added.create(begun.said.options))
      expect(stored.status, stored.said.message).toBe(200)
      expect((await newBrowser(there).signIn(added)).status).toBe(201)
    })

    it('use a challenge once, also if both processes get it at the same time', async () => {
      const { device } = await addDevice()
      for (let round = 0; round < 5; round++) {
        const one = newBrowser(here)
        const { said } = await one.begin()
        const other = one.at(there.url)
        const proof = device.get(said.options)
        const both = await Promise.all([one.finish(proof), other.finish(proof)])
        expect(both.map(({ status }) => status).toSorted()).toEqual([201, 401])
      }
    })

    it('end everywhere when they are removed, with the sessions of others', async () => {
      const { device, id } = await addDevice()
      const other = newBrowser(there)
      expect((await other.signIn(device)).status).toBe(201)
      expect(await other.email()).toBeDefined()
      const removed = await owner.call(`account/passkeys/${id}/remove`, {
        currentPassword: password,
      })
      expect(removed.status, removed.said.message).toBe(200)
      await vi.waitFor(async () => expect(await other.email()).toBeUndefined())
      expect((await newBrowser(there).signIn(device)).status).toBe(401)
    })
  },
)

describeEachEngine('passkeys, when the process is killed', (engine) => {
  it('finish what was begun, and use nothing twice', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings }
    const device = newDevice()
    let server = await startServerProcess(environment)
    /** The same browser after kill -9 and a new start. */
    const again = async (browser: PasskeyBrowser) => {
      await server.kill()
      server = await startServerProcess(environment)
      return browser.at(server.url)
    }
    try {
      let owner = newBrowser(server)
      await owner.enter(token)
      const { said } = await owner.start({})
      owner = await again(owner)
      const stored = await owner.store('Laptop', device.create(said.options))
      expect(stored.status, stored.said.message).toBe(200)

      let browser = newBrowser(server)
      const begun = await browser.begin()
      browser = await again(browser)
      const proof = device.get(begun.said.options)
      expect((await browser.finish(proof)).status).toBe(201)
      browser = await again(browser)
      expect(await browser.email()).toBeDefined()
      expect((await browser.finish(proof)).status).toBe(401)
    } finally {
      await server.kill()
    }
  })
})
