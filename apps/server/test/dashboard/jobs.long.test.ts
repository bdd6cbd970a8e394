import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { jobRow } from '../job-rows.js'
import { inDatabase } from '../tenancy/seed.js'
import { addAccount } from '../tenant.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)>'

describe.skipIf(browserPath === undefined)(`the screen of jobs ${title}`, () => {
  const server = useServer()
  const store = (...rows: ReturnType<typeof jobRow>[]) =>
    inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        for (const row of rows) await tx.insertInto('jobs').values(row).execute()
      }),
    )
  const listDead = async () =>
    (await server().client({ workspaceId: undefined }).listJobs({ state: 'dead' })).jobs

  it('finds a dead job with its error, retries it, and drops another one', async () => {
    const retried = jobRow({ kind: 'test.retried', key: hostile, last_error: hostile })
    const dropped = jobRow({ kind: 'deliveries.replay', key: 'replay_none' })
    await store(retried, dropped)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('jobs?state=dead')
    await page.getByRole('row').getByText('test.retried').waitFor()
    await expectAccessible()
    await page.getByRole('link', { name: 'test.retried' }).click()
    await page.getByRole('heading', { name: 'test.retried' }).waitFor()
    expect(await page.getByText(hostile).count()).toBeGreaterThan(1)
    await expectAccessible()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByText('The job runs again now.').waitFor()
    expect((await listDead()).map(({ id }) => id)).toEqual([dropped.id])

    await open(`jobs/${dropped.id}?state=dead`)
    await page.getByRole('button', { name: 'Drop', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Drop the job?' })
    await expectAccessible()
    await dialog.getByRole('button', { name: 'Drop', exact: true }).click()
    await page.getByText('The job is dropped.').waitFor()
    expect(await listDead()).toEqual([])
    expect(faults).toEqual([])
  })

  it('says which of the selected jobs must not be dropped, and keeps it', async () => {
    const needed = jobRow({ kind: 'bots.purge', key: 'bot_none' })
    await store(needed)
    const { page, open } = await openDashboard(server())
    await open('jobs?kind=bots.purge')
    await page.getByRole('row').getByRole('checkbox').last().check()
    await page.getByRole('button', { name: 'Drop', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Drop the job?' })
    await dialog.getByRole('button', { name: 'Drop', exact: true }).click()
    await dialog.getByText(/nothing else would ever remove these rows/).waitFor()
    expect((await listDead()).map(({ id }) => id)).toEqual([needed.id])
  })

  it('retries all dead jobs of a kind', async () => {
    await store(...Array.from({ length: 3 }, () => jobRow({ kind: 'test.many' })))
    const { page, open, expectAccessible } = await openDashboard(server(), { width: 360 })
    await open('jobs?tab=kinds')
    const kind = page.getByRole('listitem').filter({ hasText: 'test.many' })
    await kind.getByText('3 dead').waitFor()
    await expectAccessible()
    await kind.getByRole('button', { name: 'Retry all dead' }).click()
    await page.getByText('3 run again now.').waitFor()
    await kind.getByText('3 waiting').waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
    // The list is longer than the window: it scrolls, and the tabs stay above it.
    const last = page.getByRole('listitem').last()
    await last.scrollIntoViewIfNeeded()
    const [list, end] = [await page.getByRole('main').boundingBox(), await last.boundingBox()]
    expect((end?.y ?? 0) + (end?.height ?? 0)).toBeLessThanOrEqual(
      (list?.y ?? 0) + (list?.height ?? 0),
    )
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  })

  it('shows when recurring work ran, and runs it now', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('jobs?tab=schedules')
    const row = page.getByRole('listitem').filter({ hasText: 'server.housekeeping' })
    await row.getByText(/last run/).waitFor()
    await expectAccessible()
    await row.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('It runs now.').waitFor()
    expect(faults).toEqual([])
  })

  it('tells members who do not operate the server that it is not for them', async () => {
    const { token, workspaceId } = await addAccount(server())
    const { page, open, expectAccessible } = await openDashboard({
      ...server(),
      token,
      workspaceId,
    })
    await open('jobs')
    await page.getByText(/Only the operator of the server/).waitFor()
    await expectAccessible()
  })
})
