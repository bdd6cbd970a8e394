import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { addAccount, addViewer } from '../tenant.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the audit log ${title}`, () => {
  const server = useServer()
  const openAs = async (login: { token: string; workspaceId: string }, width = 1400) =>
    await openDashboard({ ...server(), ...login }, { width })

  it.each([1400, 390])(
    'shows who changed what, narrows and exports, at a width of %i',
    async (width) => {
      const ann = await addAccount(server())
      const client = server().client(ann)
      const { bot } = await client.createBot({ name: 'First' })
      await client.updateBot({ id: bot.id, name: 'Second' })
      const { page, open, faults, expectAccessible } = await openAs(ann, width)
      await open('workspace?tab=audit')
      const rows = page.getByRole('main').getByRole('listitem')
      await page.getByText('name: from "First" to "Second"').waitFor()
      await page.getByText('from 127.0.0.1').first().waitFor()
      await expectAccessible()

      await page.keyboard.press('/')
      await page.getByRole('menuitem', { name: 'Act' }).click()
      await page.getByLabel('Act', { exact: true }).selectOption('createBot')
      await page.getByText('update bot First').waitFor({ state: 'detached' })
      await page.getByText('create bot First').waitFor()
      expect(new URL(page.url()).searchParams.get('operation')).toBe('createBot')
      expect(await rows.filter({ hasText: 'create bot' }).count()).toBe(1)

      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export as CSV' }).click()
      expect((await saved).suggestedFilename()).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/)
      expect(faults).toEqual([])
    },
  )

  it('is absent for those who may not read it', async () => {
    const ann = await addAccount(server())
    const viewer = await addViewer(server(), ann.workspaceId)
    const { page, open, faults } = await openAs(viewer)
    await open('workspace?tab=audit')
    await page
      .getByRole('tab', { name: 'General' })
      .or(page.getByRole('link', { name: 'General' }))
      .first()
      .waitFor()
    expect(await page.getByText('Audit', { exact: true }).count()).toBe(0)
    expect(faults).toEqual([])
  })
})
