import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)>'
const act = { input: { schema: {} }, output: { schema: {} } }

const codeOf = (number: number, before = '') => `${before}
exports.handler = async (request) => {
  if (request.headers['x-bp-operation'] !== 'action_triggered') return { body: '{}' }
  const { fault } = JSON.parse(request.body).input
  if (fault) throw new Error(fault)
  return { body: JSON.stringify({ output: { number: ${number} } }) }
}`

describe.skipIf(browserPath === undefined)(`versions and issues of a bot ${title}`, () => {
  const server = useServer()

  async function deployed() {
    const admin = server().client()
    const { bot } = await admin.createBot({ name: 'Coded', code: codeOf(1), actions: { act } })
    const inside = server().client({ botId: bot.id })
    const call = async (input: Record<string, unknown> = {}) =>
      (await inside.callAction({ type: 'act', input })).output
    return { admin, id: bot.id, call }
  }

  it('keeps a version, and deploys it again by keys', async () => {
    const { admin, id, call } = await deployed()
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`bots/${id}?tab=versions`)
    await page.getByText('There is no version yet.').waitFor()
    await expectAccessible()
    await page.getByLabel('Name of the new version').fill(hostile)
    await page.getByLabel('What it is').fill('As it began')
    await page.getByRole('button', { name: 'Keep what runs now' }).click()
    await page.getByText('Its code runs').waitFor()
    await expectAccessible()

    await admin.updateBot({ id, code: codeOf(2) })
    expect(await call()).toEqual({ number: 2 })
    await page.reload()
    await page.getByRole('button', { name: /^Deploy again/ }).focus()
    expect(await page.getByText('Its code runs').count()).toBe(0)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Deploy it' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Its code runs').waitFor()
    expect(await call()).toEqual({ number: 1 })

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download the code/ }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^botver_.*\.cjs$/)
    await page.getByRole('button', { name: /^Delete/ }).click()
    await page.getByText('There is no version yet.').waitFor()
    expect(faults).toEqual([])
  })

  it('shows that the code of a bot runs here, and reaches it', async () => {
    const { id } = await deployed()
    const { page, open, expectAccessible } = await openDashboard(server())
    await open(`bots/${id}`)
    await page.getByText('None: its code runs here').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Ping' }).click()
    await page.getByText(/^Reached in \d+ ms$/).waitFor()
    await open('try')
    await page.getByRole('link', { name: 'Coded' }).first().click()
    await page.getByRole('heading', { name: 'Chat with Coded' }).waitFor()
    expect(await page.getByText('No address').count()).toBe(0)
  })

  it('says why a version is not deployed', async () => {
    const { admin, id } = await deployed()
    const starts = 'if (process.env.SECRET_KEY !== "one") throw new Error("wrong key")'
    await admin.updateBot({ id, code: codeOf(1, starts), secrets: { KEY: 'one' } })
    await admin.createBotVersion({ id, name: 'Needs a key' })
    await admin.updateBot({ id, code: codeOf(2), secrets: { KEY: null } })
    const { page, open, expectAccessible } = await openDashboard(server())
    await open(`bots/${id}?tab=versions`)
    await page.getByRole('button', { name: 'Deploy again: Needs a key' }).click()
    await page.getByRole('button', { name: 'Deploy it' }).click()
    await page.getByRole('alert').getByText('wrong key').waitFor()
    await expectAccessible()
  })

  it('lists issues with their events, also by keys, and deletes them', async () => {
    const { admin, id, call } = await deployed()
    for (const number of [1, 2]) {
      await expect(call({ fault: `${hostile} ${number}` })).rejects.toThrow()
    }
    await vi.waitFor(async () => {
      const { issues } = await admin.listBotIssues({ id })
      expect(issues).toMatchObject([{ eventsCount: 2 }])
    })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`bots/${id}`)
    await page.getByRole('link', { name: 'Issues' }).click()
    await page.getByText(`Error: ${hostile} 2`, { exact: true }).waitFor()
    await page.getByText(/Error of the code, 2 times/).waitFor()
    await expectAccessible()
    await page.getByText('Description and events').focus()
    await page.keyboard.press('Enter')
    await page.getByText(`Error: ${hostile} 1`).waitFor()
    await expectAccessible()
    // The number follows what happens while it is open, as the events do.
    await expect(call({ fault: `${hostile} 3` })).rejects.toThrow()
    await page.getByText(/Error of the code, 3 times/).waitFor({ timeout: 60_000 })
    await page.getByText(`Error: ${hostile} 3`).first().waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: /^Delete the issue/ }).click()
    await page.getByText('Nothing went wrong.').waitFor()
    expect(faults).toEqual([])
  })
})
