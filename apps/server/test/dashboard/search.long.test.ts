import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = `"><img src=x onerror=alert(1)>`

const contents = {
  'handbook/travel.md':
    '# Travel\n\n## Booking\n\nTrips are booked by the office, two weeks ahead.\n\n## Hotels\n\nA hotel may cost 120 euros a night.',
  'handbook/pumps.md': '# Pumps\n\nThe pump needs oil every month. Order the oil at the office.',
  [`${hostile}.md`]: `# ${hostile}\n\nA trip with ${hostile} <script>alert(2)</script> inside.`,
  'stored.txt': 'Trips that nobody indexed.',
}

async function seed(server: TestServer) {
  const { bot } = await server.client().createBot({ name: 'Librarian' })
  const client = server.client({ botId: bot.id })
  const ids: Record<string, string> = {}
  for (const [key, content] of Object.entries(contents)) {
    const { file } = await client.upsertFile({
      key,
      size: Buffer.byteLength(content),
      index: key !== 'stored.txt',
      tags: { place: key.split('/')[0] ?? '' },
    })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
    ids[key] = file.id
  }
  for (const id of Object.values(ids)) await client.getFile({ id, waitFor: 'indexing_completed' })
  return { botId: bot.id, client, ids }
}

describe.skipIf(browserPath === undefined)(`the search playground ${title}`, () => {
  const server = useServer()

  it('finds passages, marks what matched, and says why', async () => {
    const { botId, client } = await seed(server())
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('search', botId)
    await page.getByText('Type a question').waitFor()
    await page.getByText('Begin with 0.40').waitFor()
    await expectAccessible()
    await page.getByLabel('Question').fill('Who books my trip?')
    const first = page.getByRole('article', { name: /^Passage 1/ })
    await first.locator('mark', { hasText: 'Trips' }).waitFor()
    const { passages } = await client.searchFiles({ query: 'Who books my trip?' })
    expect(await page.getByRole('article').count()).toBe(passages.length)
    expect(
      await first.getByText(passages[0]?.score.toFixed(2) ?? '', { exact: true }).count(),
    ).toBe(1)
    await first.getByText('Why this one').click()
    await first.getByRole('row', { name: /words 1/ }).waitFor()
    await expectAccessible()
    expect(page.url()).toContain('q=Who+books+my+trip')

    await page.reload()
    await first.locator('mark', { hasText: 'Trips' }).waitFor()
    await first.getByRole('link', { name: 'handbook/travel.md' }).click()
    await page.locator('li[aria-current=true]', { hasText: 'Trips are booked' }).waitFor()
    expect(faults).toEqual([])
  })

  it('compares two settings, and keeps them in the address', async () => {
    const { botId } = await seed(server())
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('search?q=oil+at+the+office', botId)
    const left = page.getByRole('region', { name: 'With the settings' })
    const right = page.getByRole('region', { name: 'With the other settings' })
    await page.getByRole('button', { name: 'Compare with other settings' }).click()
    await right.getByText('there 1').waitFor()
    await page.getByRole('group', { name: 'Other settings' }).getByLabel('Limit').fill('1')
    await right.getByText('1 found of').waitFor()
    await left.getByText('only here').first().waitFor()
    await expectAccessible()
    await page.getByRole('group', { name: 'Settings', exact: true }).getByLabel('Limit').fill('7')
    await page.waitForURL(/[?&]limit=7/)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied').first().waitFor({ state: 'attached' })
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toContain('/v1/files/search?query=oil%20at%20the%20office&limit=7')
    expect(copied).toContain(`x-bot-id: ${botId}`)
    await page.reload()
    await left.getByText('only here').first().waitFor()
    expect(page.url()).toContain('b-limit=1')
    expect(faults).toEqual([])
  })

  it('says why a file was not found, and searches in one file only', async () => {
    const { botId, ids } = await seed(server())
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('search?q=hotel+with+a+pool&minScore=0.99', botId)
    await page.getByText('No passage has the lowest score').waitFor()
    await page.getByLabel('Why not this file?').fill('handbook/travel.md')
    const why = page.getByRole('region', { name: 'Why not handbook/travel.md' })
    await why.getByText('Its score is too low').waitFor()
    await why.getByText(/has rank 1 and the score 0\.\d\d/).waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Ask about no file' }).click()
    await page.getByLabel('Why not this file?').fill('stored.txt')
    await page
      .getByRole('region', { name: 'Why not stored.txt' })
      .getByText('It is not indexed')
      .waitFor()

    await open(`search?in=${ids['handbook/pumps.md']}&q=office`, botId)
    await page.getByText('Only in handbook/pumps.md').waitFor()
    await page
      .getByRole('article', { name: /handbook\/pumps/ })
      .first()
      .waitFor()
    expect(await page.getByRole('article', { name: /handbook\/travel/ }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const { botId } = await seed(server())
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    await open(`search?q=trip+img&compare=yes`, botId)
    await page.locator('mark').first().waitFor()
    await page.getByText('there 1').first().waitFor()
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
