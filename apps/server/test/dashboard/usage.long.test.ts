import { readFile } from 'node:fs/promises'
import { noQuota, type UsageType } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { addAccount, addViewer, type Login, settle, uploadText } from '../tenant.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)>'

describe.skipIf(browserPath === undefined)(`usage and quotas ${title}`, () => {
  const server = useServer()
  const openAs = async (login: Login, width = 1400) =>
    await openDashboard({ ...server(), ...login }, { width })

  /** A workspace with a bot to which people said something, and with a file. */
  async function useBusyWorkspace() {
    const ann = await addAccount(server())
    const tenant = await settle(server(), ann, hostile)
    const { webhookId, userKey, conversationId, botId } = tenant
    const chat = server().client({ webhookId, userKey })
    for (let said = 0; said < 20; said++) {
      await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: 'Hello' } })
    }
    const client = server().client(ann)
    await uploadText(server().client({ ...ann, botId }), 'long.txt', 'words '.repeat(500))
    const usedOf = async (id: string, type: UsageType) =>
      (await client.getUsage({ id, type })).usage.value
    return { ann, client, botId, usedOf }
  }

  it('shows the figures, warns of a quota here and at home, and exports', async () => {
    const { ann, client, botId, usedOf } = await useBusyWorkspace()
    const { workspaceId: id } = ann
    const used = await usedOf(id, 'invocation_calls')
    expect(used).toBeGreaterThan(20)
    const { page, open, faults, expectAccessible } = await openAs(ann)
    await open('workspace?tab=usage')
    const calls = page.getByRole('listitem').filter({ hasText: 'Messages and events' }).first()
    await calls.getByText(`${used}, no quota`).waitFor()
    await page.getByRole('img', { name: `Messages and events by day: Total ${used}` }).waitFor()
    const bots = page.getByRole('listitem').filter({ has: page.getByRole('link') })
    await bots.filter({ hasText: hostile }).getByText(String(used)).waitFor()

    const quota = Math.floor(used / 0.85)
    await page.getByRole('button', { name: 'Set a quota: Messages and events' }).click()
    await page.getByLabel('Maximum per month').fill(String(quota))
    await expectAccessible()
    await page.keyboard.press('Enter')
    await calls.getByText(`${used} of ${quota}`).waitFor()
    await calls.getByText(/^Nearly used up: 8\d %$/).waitFor()
    await calls.getByRole('meter').waitFor()
    await expectAccessible()

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    const download = await saved
    expect(download.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d\.csv$/)
    const [header, ...rows] = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/)
    expect(header).toBe('date,botId,botName,type,value')
    expect(rows.some((row) => row.includes(botId) && row.includes('message_count'))).toBe(true)

    await open('home')
    const notice = page.getByRole('status', { name: 'Quotas' })
    await notice.getByText(/^Nearly used up: 8\d %$/).waitFor()
    await expectAccessible()
    await client.setWorkspaceQuota({ id, type: 'invocation_calls', value: used })
    await page.reload()
    await page.getByRole('heading', { name: 'The quota of the workspace is used up' }).waitFor()
    await notice.getByText('Used up: 100 %').waitFor()
    await notice.getByRole('link', { name: `${used} of ${used}` }).click()
    await calls.getByText('Used up: 100 %').waitFor()

    await page.getByRole('button', { name: 'Change the quota: Messages and events' }).click()
    await page.getByLabel('Maximum per month').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await calls.getByText(`${used}, no quota`).waitFor()
    const { quota: none } = await client.getWorkspaceQuota({ id, type: 'invocation_calls' })
    expect(none.value).toBe(noQuota)

    await page.getByRole('button', { name: 'Set a quota: Storage', exact: true }).click()
    await page.getByText('The server allows at most 10 GB.').waitFor()
    await page.getByLabel('Maximum').fill('20')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByText('The quota is saved, but the smaller one of the server applies: 10 GB.')
      .waitFor()
    await page.getByText('of 10 GB', { exact: false }).first().waitFor()
    expect(faults).toEqual([])
  })

  it('names a bot at home that has used up a quota of its own', async () => {
    const { ann, client, botId, usedOf } = await useBusyWorkspace()
    const used = await usedOf(botId, 'invocation_calls')
    await client.createBot({ name: 'Without a quota' })
    await client.setBotQuota({ id: botId, type: 'invocation_calls', value: used })
    const { page, open, faults, expectAccessible } = await openAs(ann, 360)
    await open('home')
    await page.getByRole('heading', { name: `The quota of ${hostile} is used up` }).waitFor()
    const notice = page.getByRole('status', { name: 'Quotas' })
    await notice.getByText('Used up: 100 %').waitFor()
    expect(await notice.getByRole('listitem').count()).toBe(1)
    await expectAccessible()
    await notice.getByRole('link', { name: `of ${hostile}: ${used} of ${used}` }).click()
    await page.getByText('Used up: 100 %').waitFor()
    expect(new URL(page.url()).pathname).toContain(botId)
    expect(faults).toEqual([])
  })

  it('takes a size with its unit, by keyboard and on a phone', async () => {
    const { ann, client, botId, usedOf } = await useBusyWorkspace()
    const used = await usedOf(botId, 'storage_count')
    expect(used).toBeGreaterThanOrEqual(3000)
    const { page, open, faults, expectAccessible } = await openAs(ann, 360)
    await open(`bots/${botId}?tab=usage&type=storage_count`)
    await page.getByRole('button', { name: 'Set a quota: Storage', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Maximum').waitFor()
    await page.keyboard.type('2.5')
    await page.keyboard.press('Tab')
    await page.keyboard.type('kB')
    await page.getByLabel('Maximum').press('Enter')
    await page.getByText(/^Used up: 1\d\d %$/).waitFor()
    await page.getByText('of 2.5 kB').waitFor()
    const { quotas } = await client.listBotQuotas({ id: botId })
    expect(quotas.find(({ type }) => type === 'storage_count')?.value).toBe(2500)
    await expectAccessible()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)

    await page.getByRole('button', { name: 'Change the quota: Storage' }).click()
    expect(await page.getByLabel('Maximum').inputValue()).toBe('2.5')
    expect(await page.getByLabel('Unit').inputValue()).toBe('kB')
    await page.keyboard.press('Escape')
    expect(faults).toEqual([])
  })

  it('has the days as a table, earlier months, and bots that were deleted', async () => {
    const { ann, client, botId, usedOf } = await useBusyWorkspace()
    const messages = await usedOf(ann.workspaceId, 'message_count')
    await client.deleteBot({ id: botId })
    const { page, open, faults, expectAccessible } = await openAs(ann, 360)
    await open('workspace?tab=usage')
    await page.getByLabel('Type').selectOption('message_count')
    await page.getByText('Deleted or moved bot', { exact: true }).waitFor()
    await page.getByText(botId).waitFor()
    await page.getByText('As a table').focus()
    await page.keyboard.press('Enter')
    const table = page.getByRole('table', { name: 'Messages by day' })
    await table.getByRole('cell', { name: String(messages), exact: true }).waitFor()
    await expectAccessible()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)

    const months = await page.getByLabel('Month').locator('option').allTextContents()
    expect(months).toHaveLength(12)
    await page.getByLabel('Month').selectOption({ index: 1 })
    await page.getByRole('heading', { name: `Usage in ${months[1]}` }).waitFor()
    await page.getByText('Nothing was used in this month.').waitFor()
    expect(await page.getByRole('button', { name: /quota: / }).count()).toBe(0)
    expect(new URL(page.url()).searchParams.get('month')).toMatch(/^\d{4}-\d\d$/)
    expect(faults).toEqual([])
  })

  it('shows a viewer the figures and no form', async () => {
    const { ann, client, botId, usedOf } = await useBusyWorkspace()
    const used = await usedOf(ann.workspaceId, 'invocation_calls')
    await client.setBotQuota({ id: botId, type: 'invocation_calls', value: 1000 })
    const { page, open, faults } = await openAs(await addViewer(server(), ann.workspaceId))
    await open('workspace?tab=usage')
    await page.getByText(`${used}, no quota`).waitFor()
    expect(await page.getByRole('button', { name: /quota: / }).count()).toBe(0)
    await page.getByRole('link', { name: hostile }).click()
    await page.getByText(`${used} of 1,000`).waitFor()
    expect(await page.getByRole('button', { name: /quota: / }).count()).toBe(0)

    // Those who pay see the workspace, and of its bots no names.
    const { members } = await client.listWorkspaceMembers()
    const viewer = members.find(({ userId, role }) => userId !== undefined && role === 'viewer')
    await client.updateWorkspaceMember({ id: viewer?.id ?? '', role: 'billing' })
    await open('workspace?tab=usage')
    await page.getByText(botId).waitFor()
    expect(await page.getByText('Deleted or moved bot').count()).toBe(0)
    expect(await page.getByText(hostile).count()).toBe(0)
    expect(faults).toEqual([])
  })
})
