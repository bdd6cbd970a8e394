import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = `"><img src=x onerror=alert(1)>`

const contents = {
  'handbook/travel.md': '# Travel\n\nTrips are booked by the office, two weeks ahead.',
  'handbook/pumps.md': '# Pumps\n\nThe pump needs oil every month. Order the oil at the office.',
}

async function seed(server: TestServer) {
  const { bot } = await server.client().createBot({ name: 'Librarian' })
  const client = server.client({ botId: bot.id })
  const ids: Record<string, string> = {}
  for (const [key, content] of Object.entries(contents)) {
    const { file } = await client.upsertFile({
      key,
      size: Buffer.byteLength(content),
      index: true,
    })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
    ids[key] = file.id
  }
  for (const id of Object.values(ids)) await client.getFile({ id, waitFor: 'indexing_completed' })
  return { botId: bot.id, client, ids }
}

/** A figure of the open run: in the list of runs, and in the run itself. */
async function figureOf(page: Page, name: string): Promise<string[]> {
  const table = page.getByRole('table', { name: 'Runs' })
  const at = (await table.locator('th').allInnerTexts()).indexOf(name)
  const row = table.locator('tr[aria-current=true] td').nth(at)
  const label = page.getByText(name, { exact: true })
  const figure = page
    .getByRole('article', { name: 'Run' })
    .locator('dl > div')
    .filter({ has: label })
  const texts = await Promise.all([row.innerText(), figure.locator('dd').innerText()])
  return texts.map((text) => text.replaceAll(/\s+/g, ' '))
}

type Seeded = Awaited<ReturnType<typeof seed>>

/** A set with a question that has an answer, and one that has none. */
async function makeSet({ client, ids }: Seeded, name = 'Operators') {
  const { evaluationSet: set } = await client.createEvaluationSet({ name })
  await client.createEvaluationCase({
    id: set.id,
    question: 'Who books trips?',
    right: [{ fileId: ids['handbook/travel.md'] ?? '' }],
    wrong: [{ fileId: ids['handbook/pumps.md'] ?? '' }],
  })
  await client.createEvaluationCase({
    id: set.id,
    question: `Who won the match? ${hostile}`,
    right: [],
  })
  return set
}

describe.skipIf(browserPath === undefined)(`evaluation sets ${title}`, () => {
  const server = useServer()

  it('keeps a question as a case by thumbs, and changes it', async () => {
    const { botId, client } = await seed(server())
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('search?tab=sets', botId)
    await page.getByText('This bot has no evaluation sets yet.').waitFor()
    expect(await page.getByText(`x-bot-id: ${botId}`).count()).toBe(1)
    await expectAccessible()

    await open('search?q=When+does+the+pump+need+oil%3F', botId)
    const pumps = page.getByRole('article', { name: /handbook\/pumps/ }).first()
    await pumps.getByRole('button', { name: 'Right answer' }).click()
    await page.getByText('1 right, 0 wrong marked.').waitFor()
    await page.reload()
    await page.getByText('1 right, 0 wrong marked.').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Keep as a case' }).click()
    await page.getByLabel('Name of the set').fill(hostile)
    await expectAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The case is saved.').waitFor()
    const [set] = (await client.listEvaluationSets({})).evaluationSets
    expect(set).toMatchObject({ name: hostile, cases: 1 })
    const casesOf = async () =>
      (await client.listEvaluationCases({ id: set?.id ?? '' })).evaluationCases
    const [first] = await casesOf()
    expect(first?.question).toBe('When does the pump need oil?')
    expect(first?.right).toMatchObject([{ fileKey: 'handbook/pumps.md', state: 'present' }])
    expect(first?.right[0]?.passageId).toBeDefined()

    await page.getByRole('link', { name: 'Evaluation sets' }).click()
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('link', { name: 'Cases' }).click()
    await page.getByRole('link', { name: 'When does the pump need oil?' }).click()
    await pumps.getByRole('button', { name: 'Right answer', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Change the case' }).click()
    await page.getByLabel('Whole files').check()
    await page.getByLabel('Note').fill('asked often')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The case is saved.').last().waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const [changed] = await casesOf()
    expect(changed?.note).toBe('asked often')
    expect(changed?.right[0]?.passageId).toBeUndefined()

    await page.getByRole('link', { name: 'Back to its set' }).click()
    await page.getByRole('checkbox', { name: 'Select', exact: true }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete 1 case' }).click()
    await page.getByText('This set has no cases yet.').waitFor()
    expect(await casesOf()).toEqual([])
    expect(faults).toEqual([])
  })

  it('runs the cases, shows the misses, and compares with the run before', async () => {
    const seeded = await seed(server())
    const { botId, client } = seeded
    const set = await makeSet(seeded)
    const question = 'Who orders oil for the pump at the office?'
    await client.createEvaluationCase({ id: set.id, question, right: [] })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`search/${set.id}?tab=sets`, botId)
    await page.getByText('A run asks every question of the set').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Run the cases' }).click()
    await page.getByLabel('What is tried').fill('as it is')
    await expectAccessible()
    const start = page.getByRole('dialog').getByRole('button', { name: 'Run the cases' })
    await start.click()
    const run = page.getByRole('article', { name: 'Run', exact: true })
    await run.getByText('Completed').waitFor()
    await run.getByText('nDCG', { exact: true }).waitFor()
    // Questions with an answer and those without are never counted together.
    expect(await figureOf(page, 'Misses')).toEqual(['0 of 1', '0 of 1'])
    const [listed, shown] = await figureOf(page, 'False hits')
    expect(listed).toMatch(/^[12] of 2$/)
    expect(shown).toBe(listed)

    await page.getByRole('button', { name: 'Run the cases' }).click()
    await page.getByLabel('Lowest score').fill('0.99')
    await start.click()
    await run.getByText('lowest score 0.99').waitFor()
    await run.getByText('Completed').waitFor()
    await run.getByText('0 better and 1 worse of 1').waitFor()
    expect(await figureOf(page, 'Misses')).toEqual(['1 of 1', '1 of 1'])
    expect(await figureOf(page, 'False hits')).toEqual(['0 of 2', '0 of 2'])
    const [latest] = (await client.listEvaluationRuns({ id: set.id })).evaluationRuns
    expect(latest?.parameters).toMatchObject({ minScore: 0.99 })
    await run.getByText('Not found', { exact: true }).click()
    await run.getByText('Missing from the first ten').waitFor()
    await page.getByRole('img', { name: 'nDCG of 2 runs: 1.00, 0.00' }).waitFor()
    await expectAccessible()
    await run.getByRole('link', { name: 'Ask it again and see why' }).click()
    await page
      .getByRole('region', { name: 'Why not handbook/travel.md' })
      .getByText('Its score is too low')
      .waitFor()
    await page.goBack()
    await page.reload()
    await run.getByRole('link', { name: 'All' }).click()
    await run.getByText('Nothing found, as it should be').first().waitFor()

    await run.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the run' }).click()
    await run.waitFor({ state: 'detached' })
    expect((await client.listEvaluationRuns({ id: set.id })).evaluationRuns).toHaveLength(1)
    expect(faults).toEqual([])
  })

  it('keeps a question in any of many sets', async () => {
    const { botId, client } = await seed(server())
    const names = Array.from({ length: 101 }, (_, at) => `Set ${at}`)
    for (const name of names) await client.createEvaluationSet({ name })
    const { page, open, faults } = await openDashboard(server())
    await open('search?q=Who books trips?', botId)
    await page.getByRole('button', { name: 'Keep as a case' }).click()
    const choice = page.getByRole('dialog').getByLabel('Evaluation set')
    await choice.waitFor()
    const listed = await choice.locator('option').allInnerTexts()
    expect(listed.toSorted()).toEqual(['A new set', ...names].toSorted())
    expect(faults).toEqual([])
  })

  it('renames a set, takes its cases out and in, and deletes it', async () => {
    const seeded = await seed(server())
    const { botId, client } = seeded
    const set = await makeSet(seeded)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`search/${set.id}?tab=sets&part=settings`, botId)
    await page.getByLabel('Name', { exact: true }).fill('Travellers')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Travellers' }).waitFor()
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export 2 cases' }).click()
    expect((await waiting).suggestedFilename()).toBe('Travellers.jsonl')
    const lines = page.getByLabel('Lines of JSON')
    await lines.fill('{"_id":"new","text":"How much oil?","relevant":{"handbook/pumps.md":1}}')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('1 cases are new, 0 changed.').waitFor()
    await lines.fill('no JSON')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText(/line 1/i).waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Delete the set' }).click()
    await page.getByLabel('Type the name of the set').fill('Travellers')
    await page.getByRole('button', { name: 'Delete for ever' }).click()
    await page.getByText('This bot has no evaluation sets yet.').waitFor()
    expect((await client.listEvaluationSets({})).evaluationSets).toEqual([])
    // The refused import is noted by the browser.
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const seeded = await seed(server())
    const { client, botId } = seeded
    const set = await makeSet(seeded, hostile.repeat(3))
    const { evaluationRun } = await client.startEvaluationRun({ id: set.id })
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    const isWide = async () =>
      (await page.evaluate<number>('document.documentElement.scrollWidth')) > width
    await open('search?tab=sets', botId)
    await page.getByRole('link', { name: hostile }).waitFor()
    expect(await isWide()).toBe(false)
    await open(`search/${set.id}?tab=sets&part=cases`, botId)
    await page.getByText('Who won the match?').waitFor()
    expect(await isWide()).toBe(false)
    await expectAccessible()
    await open(`search/${set.id}?tab=sets&run=${evaluationRun.id}&only=all`, botId)
    await page.getByRole('article', { name: 'Run', exact: true }).getByText('Who won').waitFor()
    expect(await isWide()).toBe(false)
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
