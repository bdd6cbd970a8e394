import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { scanOf } from '../scans.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = `"><img src=x onerror=alert(1)>.md`

/** The smallest picture. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

interface Given {
  name: string
  content: string | Buffer
  type?: string
}

const payloadOf = ({ name, content, type = 'text/plain' }: Given) => ({
  name,
  mimeType: type,
  buffer: Buffer.from(content),
})

async function choose(page: Page, ...files: Given[]): Promise<void> {
  await page.locator('input[type=file][multiple]').setInputFiles(files.map(payloadOf))
}

/** A new bot with files; waits until those that are indexed can be found. */
async function seed(
  server: TestServer,
  files: {
    key: string
    content: string | Buffer
    index?: boolean
    tags?: Record<string, string>
  }[],
) {
  const { bot } = await server.client().createBot({ name: 'Librarian' })
  const client = server.client({ botId: bot.id })
  const ids: Record<string, string> = {}
  for (const { content, ...described } of files) {
    const { file } = await client.upsertFile({ ...described, size: Buffer.byteLength(content) })
    await fetch(file.uploadUrl, { method: 'PUT', body: Buffer.from(content) })
    ids[described.key] = file.id
  }
  for (const id of Object.values(ids)) await client.getFile({ id, waitFor: 'indexing_completed' })
  return { botId: bot.id, client, ids }
}

describe.skipIf(browserPath === undefined)(`the screen of files ${title}`, () => {
  const server = useServer()

  it('asks for a bot, and says how its first file is uploaded', async () => {
    await server().client().createBot({ name: 'Second' })
    const { botId } = await seed(server(), [])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files')
    await page.getByText('Files belong to a bot.').waitFor()
    await expectAccessible()
    await page.getByRole('main').getByRole('link', { name: 'Librarian' }).first().click()
    await page.getByText('This bot has no files yet.').waitFor()
    expect(await page.getByText(`x-bot-id: ${botId}`).count()).toBe(1)
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('uploads several at once, says why one failed, and mends it', async () => {
    const { botId, client } = await seed(server(), [])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    await choose(
      page,
      { name: hostile, content: '# Pumps\n\nA pump needs oil.', type: 'text/markdown' },
      { name: 'valves.md', content: '# Valves\n\nA valve needs care.', type: 'text/markdown' },
      { name: 'empty.txt', content: '' },
      { name: 'broken.pdf', content: 'not a PDF', type: 'application/pdf' },
    )
    const dialog = page.getByRole('dialog', { name: /Upload 4 files/ })
    await expectAccessible()
    await dialog.getByLabel('Folder').fill('manuals')
    await dialog.getByLabel('Tags').fill('kind: manual')
    await dialog.getByRole('button', { name: 'Upload 4 files' }).click()
    await page.getByText('4 of 4 done').waitFor()
    const failed = page.getByRole('row', { name: /manuals\/broken\.pdf/ })
    await failed.getByText('Indexing failed').waitFor()
    await page
      .getByRole('row', { name: /manuals\/valves\.md/ })
      .getByText('Searchable', { exact: true })
      .waitFor()
    await expectAccessible()
    const { files } = await client.listFiles({ prefix: 'manuals/' })
    expect(files).toHaveLength(4)
    expect(files.every(({ tags }) => tags.kind === 'manual')).toBe(true)

    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('menuitem', { name: 'Status' }).click()
    await page.getByLabel('Status', { exact: true }).selectOption('failed')
    await page.getByRole('row', { name: /valves/ }).waitFor({ state: 'detached' })
    await page.reload()
    await failed.getByRole('link').click()
    await page.getByRole('heading', { name: 'manuals/broken.pdf' }).waitFor()
    const { file } = await client.getFile({ id: 'manuals/broken.pdf' })
    await page
      .getByText(file.failedStatusReason ?? 'no reason')
      .first()
      .waitFor()
    await expectAccessible()

    await choose(page, { name: 'broken.pdf', content: '# Mended', type: 'text/markdown' })
    await page.getByLabel('Folder', { exact: true }).fill('manuals/')
    await page.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('1 of 1 done').waitFor()
    expect(faults).toEqual([])
  })

  it('replaces the content of a file that failed, and keeps what is said about it', async () => {
    const { botId, client, ids } = await seed(server(), [
      { key: 'manual.pdf', content: 'no PDF', index: true, tags: { team: 'office' } },
    ])
    await client.updateFileMetadata({ id: 'manual.pdf', metadata: { author: 'Ada' } })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files?status=failed', botId)
    await page.getByRole('columnheader', { name: 'Reason' }).waitFor()
    await open(`files/${ids['manual.pdf']}`, botId)
    await page.getByRole('article').getByText('Indexing failed').waitFor()
    await page.getByRole('button', { name: 'Replace' }).waitFor()
    await expectAccessible()
    await page
      .getByLabel('New content of manual.pdf')
      .setInputFiles([payloadOf({ name: 'manual.md', content: '# Mended', type: 'text/markdown' })])
    await page.getByRole('article').getByText('Searchable', { exact: true }).waitFor()
    const { file } = await client.getFile({ id: 'manual.pdf' })
    expect(file).toMatchObject({
      contentType: 'text/markdown',
      tags: { team: 'office' },
      metadata: { author: 'Ada' },
    })
    expect(await (await fetch(file.url)).text()).toBe('# Mended')
    expect(faults).toEqual([])
  })

  it('says what was not read of a file, beside its status and in a tab, also on a phone', async () => {
    const { botId, ids, client } = await seed(server(), [
      {
        key: 'harbour.html',
        content: `<h1>Harbour</h1><p>Two piers.</p>${'<p><img src="pier.png"></p>'.repeat(3)}`,
        index: true,
      },
      { key: 'whole.md', content: '# Whole', index: true },
      { key: 'stored.md', content: '# Stored' },
    ])
    for (const width of [1400, 360]) {
      const { page, open, faults, expectAccessible } = await openDashboard(server(), { width })
      await open('files', botId)
      const row = page.getByRole('row', { name: /harbour\.html/ })
      await row.getByText('Searchable', { exact: true }).waitFor()
      await expectAccessible()
      expect(await page.getByRole('link', { name: /not read/ }).count()).toBe(1)
      await row.getByRole('link', { name: '3 not read of harbour.html' }).click()
      await page.getByText('3 pictures without a description').waitFor()
      await page.getByText(/Add alternative text/).waitFor()
      await page
        .getByText('The text in pictures is not read, and these have no description.')
        .waitFor()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
      await expectAccessible()
      const standing = page.getByRole('link', { name: '3 not read: what, why and what to do' })
      await standing.waitFor()
      await page.getByRole('link', { name: 'Details' }).click()
      await page.getByText('SHA-256').first().waitFor()
      await standing.click()
      await page.getByText('3 pictures without a description').waitFor()
      await open(`files/${ids['whole.md']}?tab=indexing-report`, botId)
      await page.getByText('All of the content was read.').waitFor()
      await open(`files/${ids['stored.md']}?tab=indexing-report`, botId)
      await page.getByText('The file is not indexed, so nothing of it was read.').waitFor()
      expect(faults).toEqual([])
    }

    const { page, open, faults } = await openDashboard(server())
    await open(`files/${ids['harbour.html']}?tab=indexing-report`, botId)
    await page.getByText('3 pictures without a description').waitFor()
    await page
      .getByLabel('New content of harbour.html')
      .setInputFiles([payloadOf({ name: 'harbour.html', content: '<p>No picture.</p>' })])
    await page.getByText('All of the content was read.').waitFor()
    expect((await client.getFile({ id: 'harbour.html' })).file.indexingOmissions).toBe(0)
    expect(faults).toEqual([])
  })

  it('indexes a document of which most cannot be read if its sender says so', async () => {
    const { botId, client } = await seed(server(), [])
    const content = await scanOf('Only this page has words.', undefined, undefined)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    const send = async (isAccepted: boolean) => {
      await choose(page, { name: 'scan.pdf', content, type: 'application/pdf' })
      if (isAccepted)
        await page.getByLabel('Index even if most of a document cannot be read').check()
      await expectAccessible()
      await page.getByRole('button', { name: 'Upload 1 file' }).click()
    }
    const row = page.getByRole('row', { name: /scan\.pdf/ })
    await send(false)
    await row.getByText('Indexing failed').waitFor()
    await row.getByRole('link', { name: '2 not read of scan.pdf' }).waitFor()
    await row.getByText('2 of 3 pages could not be read').waitFor()
    const uploads = page.getByRole('region', { name: 'Uploads' })
    await uploads.getByText('Uploaded, not searchable').waitFor()
    await uploads.getByText('2 of 3 pages could not be read').waitFor()
    await uploads.getByText('1 of 1 done, 1 need attention').waitFor()
    await row.getByRole('link', { name: 'scan.pdf', exact: true }).click()
    await page.getByRole('button', { name: 'Index what can be read' }).click()
    await page.getByRole('article').getByText('Searchable', { exact: true }).waitFor()
    await uploads.getByText('Uploaded', { exact: true }).waitFor()
    await uploads.getByText('1 of 1 done', { exact: true }).waitFor()
    await client.deleteFile({ id: 'scan.pdf' })
    await open('files', botId)
    await send(true)
    await row.getByText('Searchable', { exact: true }).waitFor()
    await uploads.getByText('Uploaded', { exact: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Reason' }).waitFor({ state: 'detached' })
    const { passages } = await client.searchFiles({ query: 'words' })
    expect(passages).toHaveLength(1)

    await row.getByRole('link', { name: 'scan.pdf', exact: true }).click()
    await page.getByLabel('New content of scan.pdf').setInputFiles([
      payloadOf({
        name: 'scan.pdf',
        content: await scanOf('Other words.', undefined, undefined),
      }),
    ])
    await eventually(async () => {
      const { passages } = await client.searchFiles({ query: 'other' })
      expect(passages).toHaveLength(1)
    })
    expect((await client.getFile({ id: 'scan.pdf' })).file.status).toBe('indexing_completed')
    expect(faults).toEqual([])
  })

  it('takes 1,000 files at once, chosen or dropped, and says so only if there were more', async () => {
    const { botId } = await seed(server(), [])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    const note = page.getByText('Only 1,000 files are taken at once.')
    const dialog = page.getByRole('dialog', { name: 'Upload 1,000 files' })
    for (const [way, count] of [
      ['choose', 1000],
      ['choose', 1001],
      ['drop', 1001],
    ] as const) {
      await page.evaluate(`{
        const data = new DataTransfer()
        for (let at = 0; at < ${count}; at += 1) data.items.add(new File(['x'], at + '.txt'))
        if (${way === 'choose'}) {
          const input = document.querySelector('input[type=file][multiple]')
          input.files = data.files
          input.dispatchEvent(new Event('change', { bubbles: true }))
        } else {
          document.body.dispatchEvent(
            new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
          )
        }
      }`)
      await dialog.getByText('and 992 more').waitFor()
      expect(await note.count()).toBe(count > 1000 ? 1 : 0)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('takes what is dropped, pauses and goes on, also after the connection broke', async () => {
    const { botId, client } = await seed(server(), [])
    const { page, open } = await openDashboard(server())
    let isBroken = true
    await page.route('**/uploads/**', async (route) => {
      if (route.request().method() === 'PATCH' && isBroken) await route.abort('connectionfailed')
      else await route.continue()
    })
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['dropped'], 'dropped.txt', { lastModified: 1 }))
      for (const type of ['dragover', 'drop']) {
        document.body.dispatchEvent(
          new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }),
        )
      }
    }`)
    await page.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('Trying again', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause dropped.txt' }).click()
    await page.getByText('Paused').waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Resume dropped.txt' }).click()
    await page.getByText('1 of 1 done').waitFor()
    const { file } = await client.getFile({ id: 'dropped.txt' })
    expect(await (await fetch(file.url)).text()).toBe('dropped')
  })

  it('continues an upload after the page was loaded anew, with the bytes that the server has', async () => {
    const { botId, client } = await seed(server(), [])
    const { page, open, expectAccessible } = await openDashboard(server())
    const sent: (string | undefined)[] = []
    let first = true
    await page.route('**/uploads/**', async (route) => {
      const request = route.request()
      if (request.method() !== 'PATCH') return await route.continue()
      sent.push(request.headers()['upload-offset'])
      if (!first) return await route.continue()
      first = false
      // The connection breaks after four bytes.
      await fetch(request.url(), {
        method: 'PATCH',
        headers: {
          'tus-resumable': '1.0.0',
          'upload-offset': '0',
          'content-type': 'application/offset+octet-stream',
        },
        body: 'four',
      })
      await route.abort('connectionfailed')
    })
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    const add = (from: string) =>
      page.evaluate(`{
        const data = new DataTransfer()
        data.items.add(new File(['four and more'], 'long.txt', { lastModified: 5 }))
        const input = document.querySelector('${from}')
        input.files = data.files
        input.dispatchEvent(new Event('change', { bubbles: true }))
      }`)
    await add('input[type=file][multiple]')
    await page.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('Trying again', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause long.txt' }).click()
    await page.reload()
    await page.getByText('Interrupted').waitFor()
    await expectAccessible()
    await add('input[type=file]:not([multiple])')
    await page.getByText('1 of 1 done').waitFor()
    expect(sent).toEqual(['0', '4'])
    const { file } = await client.getFile({ id: 'long.txt', waitFor: 'indexing_completed' })
    expect(file.status).toBe('indexing_completed')
    expect(await (await fetch(file.url)).text()).toBe('four and more')
  })

  it('knows after a reload that the server had received all of it', async () => {
    const { botId, client } = await seed(server(), [])
    const { page, open } = await openDashboard(server())
    await page.route('**/uploads/**', async (route) => {
      if (route.request().method() !== 'PATCH') return await route.continue()
      // Only the answer is lost.
      await route.fetch()
      await route.abort('connectionfailed')
    })
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    await choose(page, { name: 'whole.txt', content: 'all of it' })
    await page.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('Trying again', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause whole.txt' }).click()
    await page.reload()
    await page.getByText('1 of 1 done').waitFor()
    const { file } = await client.getFile({ id: 'whole.txt' })
    expect(await (await fetch(file.url)).text()).toBe('all of it')
  })

  it('leaves nothing of an upload that is cancelled', async () => {
    const { botId, client } = await seed(server(), [])
    const { page, open } = await openDashboard(server())
    await page.route('**/uploads/**', async (route) => {
      if (route.request().method() === 'PATCH') await route.abort('connectionfailed')
      else await route.continue()
    })
    await open('files', botId)
    await page.getByText('This bot has no files yet.').waitFor()
    await choose(page, { name: 'unwanted.txt', content: 'unwanted' })
    await page.getByRole('button', { name: 'Upload 1 file' }).click()
    await page.getByText('Trying again', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Cancel unwanted.txt' }).click()
    await page.getByText('This bot has no files yet.').waitFor()
    expect((await client.listFiles()).files).toEqual([])
  })

  it('shows contents without running them, passages with their pages, and folders', async () => {
    const script = '<script>alert(1)</script><img src="https://example.com/x.png">'
    const { botId, ids } = await seed(server(), [
      {
        key: 'handbook/travel.md',
        content: `# Travel\n\nBook [here](javascript:alert(1)). ${script}\nA line of\nthe same paragraph.`,
        index: true,
      },
      { key: 'handbook/deep/page.html', content: `<p>Inert</p>${script}` },
      { key: 'pictures/dot.png', content: png },
      { key: 'paper.pdf', content: '%PDF-1.4 nothing' },
      { key: 'data.bin', content: Buffer.from([0, 1, 2]) },
    ])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`files/${ids['handbook/travel.md']}`, botId)
    await page.getByText('Book [here](javascript:alert(1))').waitFor()
    expect(await page.locator('article script, article img').count()).toBe(0)
    // As in a document, whose lines are not those of the pane.
    expect(await page.locator('article br').count()).toBe(0)
    await expectAccessible()
    await page.getByRole('button', { name: 'Show the source' }).click()
    await page.getByText('# Travel').waitFor()
    await page.getByRole('link', { name: 'Passages' }).click()
    await page.getByText('Passage 1').waitFor()
    await expectAccessible()

    await open(`files/${ids['handbook/deep/page.html']}`, botId)
    await page.getByText('<p>Inert</p>').waitFor()
    await open(`files/${ids['pictures/dot.png']}`, botId)
    const picture = page.getByRole('img', { name: 'Content of pictures/dot.png' })
    await picture.waitFor()
    const width = 'document.querySelector("article img")?.naturalWidth'
    await vi.waitFor(async () => expect(await page.evaluate(width)).toBe(1))
    await open(`files/${ids['paper.pdf']}`, botId)
    await page.getByText('It is not a readable PDF.').waitFor()
    await open(`files/${ids['data.bin']}`, botId)
    await page.getByRole('link', { name: 'Download it' }).waitFor()

    await open('files', botId)
    const folders = page.getByRole('navigation', { name: 'Folders' })
    await folders.getByRole('link', { name: /handbook 2/ }).click()
    await page.getByRole('row', { name: /dot\.png/ }).waitFor({ state: 'detached' })
    await folders.getByRole('link', { name: /deep 1/ }).click()
    await page.getByRole('row', { name: /travel\.md/ }).waitFor({ state: 'detached' })
    expect(page.url()).toContain('prefix=handbook%2Fdeep%2F')
    await page.reload()
    await page.getByRole('row', { name: /page\.html/ }).waitFor()
    await folders.getByRole('link', { name: 'All files' }).click()
    await page.getByRole('row', { name: /dot\.png/ }).waitFor()
    expect(faults).toEqual([])
  })

  it('changes what is said about a file, indexes it, and deletes it', async () => {
    const { botId, client, ids } = await seed(server(), [
      { key: 'a/plain.txt', content: 'Plain words', tags: { team: 'office', old: 'yes' } },
    ])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`files/${ids['a/plain.txt']}?tab=settings`, botId)
    await page.getByLabel('Tags', { exact: true }).fill('team: travel')
    await page.getByLabel('Metadata').fill('{"author": "Ada"}')
    await page.getByLabel('Shared with integrations').check()
    await expectAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The changes are saved.').waitFor()
    const { file } = await client.getFile({ id: 'a/plain.txt' })
    expect(file).toMatchObject({
      tags: { team: 'travel' },
      metadata: { author: 'Ada' },
      accessPolicies: ['integrations'],
    })

    await page.getByRole('link', { name: 'Passages' }).click()
    await page.getByText('The file is not indexed, so it has no passages.').waitFor()
    await page.getByRole('button', { name: 'Index', exact: true }).click()
    await page.getByRole('article').getByText('Searchable', { exact: true }).waitFor()
    await page.getByText('Passage 1').waitFor()
    const link = page.getByRole('link', { name: 'Search in here' })
    expect(await link.getAttribute('href')).toContain(`in=${ids['a/plain.txt']}`)

    await open(`files/${ids['a/plain.txt']}?tab=settings`, botId)
    await page.getByRole('button', { name: 'Delete the file' }).click()
    const remove = page.getByRole('button', { name: 'Delete for ever' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel('Type the name of the file').fill('plain.txt')
    await remove.click()
    await page.getByText('This bot has no files yet.').waitFor()
    expect(faults).toEqual([])
  })

  it('shows names so that they cannot pass for others, and those of right-to-left scripts as they read', async () => {
    const disguised = 'invoice_\u202efdp.exe'
    const hebrew = '\u05d7\u05e9\u05d1\u05d5\u05df (2)\u200f.pdf'
    const { botId, ids } = await seed(server(), [
      { key: disguised, content: 'A' },
      { key: hebrew, content: 'B' },
    ])
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files', botId)
    const shown = page.locator('bdi', { hasText: 'invoice_[U+202E]fdp.exe' })
    await shown.first().waitFor()
    const readings = await page.evaluate<[string, string, string][]>(
      `[...document.querySelectorAll('td a bdi')].map((name) => {
        const { direction, unicodeBidi } = getComputedStyle(name)
        return [name.textContent, direction, unicodeBidi]
      })`,
    )
    expect(readings).toEqual([
      [hebrew, 'rtl', 'isolate'],
      ['invoice_[U+202E]fdp.exe', 'ltr', 'isolate'],
    ])
    await expectAccessible()

    await open(`files/${ids[disguised]}?tab=settings`, botId)
    await page.getByRole('heading', { name: 'invoice_[U+202E]fdp.exe' }).waitFor()
    expect(await page.locator('#root').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    await page.getByRole('button', { name: 'Delete the file' }).click()
    await page.getByLabel('Type the name of the file').fill('invoice_[U+202E]fdp.exe')
    await page.getByRole('button', { name: 'Delete for ever' }).click()
    await page.getByText('invoice_[U+202E]fdp.exe is deleted.').waitFor()
    await page.getByRole('link', { name: 'invoice_' }).waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const key = `${'very-long-folder-name/'.repeat(8)}${hostile}`
    const { botId, ids } = await seed(server(), [
      { key, content: '# Title\n\nWords that are found.', index: true },
    ])
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    const isWide = async () =>
      (await page.evaluate<number>('document.documentElement.scrollWidth')) > width
    await open('files', botId)
    await page.getByText('Searchable', { exact: true }).waitFor()
    expect(await isWide()).toBe(false)
    await expectAccessible()
    await open(`files/${ids[key]}`, botId)
    await page.getByText('Words that are found.').waitFor()
    expect(await isWide()).toBe(false)
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
