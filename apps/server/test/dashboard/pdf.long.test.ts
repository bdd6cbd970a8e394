import { deflateSync } from 'node:zlib'
import type { Locator } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { pdfOf } from '../pdf.js'
import { type Dashboard, openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const it = test.skipIf(browserPath === undefined)

function streamOf(content: string, entries = ''): Buffer {
  const bytes = deflateSync(content)
  const head = `<< /Length ${bytes.length} /Filter /FlateDecode ${entries} >>\nstream\n`
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\nendstream')])
}

const page = (content: number, entries = '') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] /Contents ${content} 0 R
   /Resources << /Font << /F1 8 0 R >> >> ${entries} >>`

/** Two pages: the first is blue with a text, the second red. Everything that may run a script has one. */
function documentWithScripts(elsewhere: string): Buffer {
  const script = `<< /S /JavaScript /JS (app.alert\\('ran'\\); this.submitForm\\('${elsewhere}'\\); app.launchURL\\('${elsewhere}'\\)) >>`
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /OpenAction ${script} /AA << /WC ${script} >>
     /Names << /JavaScript << /Names [(a) ${script}] >> >> /AcroForm << /Fields [7 0 R] >> >>`,
    '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>',
    page(5, `/Annots [7 0 R] /AA << /O ${script} >>`),
    page(6, `/AA << /O << /S /URI /URI (${elsewhere}) >> >>`),
    streamOf('0 0 1 rg 0 0 300 300 re f BT /F1 24 Tf 20 340 Td (Valves of the north) Tj ET'),
    streamOf('1 0 0 rg 0 0 300 300 re f BT /F1 24 Tf 20 340 Td (Pumps of the south) Tj ET'),
    `<< /Type /Annot /Subtype /Widget /FT /Tx /T (field) /V (1) /Rect [20 310 90 330]
     /AA << /C ${script} /K ${script} /F ${script} >> /A ${script} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ])
}

const plainPage = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>']

async function seed(server: TestServer, files: Record<string, Buffer>) {
  const { bot } = await server.client().createBot({ name: 'Librarian' })
  const client = server.client({ botId: bot.id })
  const ids: Record<string, string> = {}
  for (const [key, content] of Object.entries(files)) {
    const { file } = await client.upsertFile({ key, size: content.length })
    await fetch(file.uploadUrl, { method: 'PUT', body: Uint8Array.from(content) })
    ids[key] = file.id
  }
  return { botId: bot.id, ids }
}

/** The colour in the lower half of the page that is shown. */
const colourOf = `(() => {
  const canvas = document.querySelector('article canvas')
  const { data } = canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height * 0.7, 1, 1)
  return [...data].slice(0, 3).join()
})()`

/**
 * Fails unless a page that is too large is not drawn in the end, while the dashboard goes on.
 * @param untilGivenUp waits for the reason, which the dashboard shows then
 */
async function expectGivenUp(
  server: TestServer,
  { page: shown, open, faults, expectAccessible }: Dashboard,
  untilGivenUp: (reason: Locator) => Promise<void>,
): Promise<void> {
  const { botId, ids } = await seed(server, {
    'bomb.pdf': pdfOf([
      ...plainPage,
      page(4),
      streamOf('0 0 1 1 re f\n'.repeat(1_500_000)),
      '<< >>',
      '<< >>',
      '<< >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]),
    'broken.pdf': Buffer.from('%PDF-1.4 nothing'),
  })
  await open(`files/${ids['bomb.pdf']}`, botId)
  // The page itself goes on: another tab opens at once, and the document with it again.
  await shown.getByRole('link', { name: 'Details' }).click()
  await shown.getByText('SHA-256').waitFor()
  await shown.goBack()
  // On a slow machine, the time that drawing may take ends first.
  await untilGivenUp(shown.getByText(/A page of it is too large|It took more than/))
  await vi.waitFor(() => expect(shown.workers()).toHaveLength(0))
  await shown.getByRole('link', { name: 'Download it' }).waitFor()
  await open(`files/${ids['broken.pdf']}`, botId)
  await shown.getByText('It is not a readable PDF.').waitFor()
  await expectAccessible()
  expect(faults).toEqual([])
}

describe(`the preview of a PDF ${title}`, () => {
  const server = useServer()

  it('shows its pages, and runs nothing that is in it', async () => {
    const { botId, ids } = await seed(server(), {
      'paper.pdf': documentWithScripts('https://example.com/taken'),
    })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`files/${ids['paper.pdf']}`, botId)
    const first = page.getByRole('region', { name: 'Content of paper.pdf, page 1 of 2' })
    await first.getByText('Valves of the north').waitFor()
    await vi.waitFor(async () => expect(await page.evaluate(colourOf)).toBe('0,0,255'))
    expect(await page.locator('article :is(iframe, object, embed)').count()).toBe(0)
    await expectAccessible()
    // The text over the picture can be selected, and does not cover it.
    await first.getByText('Valves of the north').selectText()
    expect(await page.evaluate('getSelection().toString()')).toBe('Valves of the north')

    await page.keyboard.press('ArrowRight')
    await page.getByText('Pumps of the south').waitFor()
    await vi.waitFor(async () => expect(await page.evaluate(colourOf)).toBe('255,0,0'))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Valves of the north').waitFor()
    await page.getByRole('textbox', { name: 'Page' }).fill('2')
    await page.keyboard.press('Enter')
    await page.getByText('Pumps of the south').waitFor()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByText('Valves of the north').waitFor()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    const isShort = `(() => {
      const view = document.querySelector('article section[tabindex]')
      return view.scrollHeight <= view.clientHeight
    })()`
    await vi.waitFor(async () => expect(await page.evaluate(isShort)).toBe(true))
    await page.locator('article section[tabindex]').focus()
    await page.keyboard.press('PageDown')
    await page.getByText('Pumps of the south').waitFor()
    await page.keyboard.press('PageUp')
    await page.getByText('Valves of the north').waitFor()
    expect(faults).toEqual([])
  })

  it('gives the workers that read and draw it no way to send a request', async () => {
    const { botId, ids } = await seed(server(), {
      'paper.pdf': documentWithScripts('https://a.example'),
    })
    const { page, open } = await openDashboard(server())
    await open(`files/${ids['paper.pdf']}`, botId)
    await page.getByText('Valves of the north').waitFor()
    const workers = page.workers()
    expect(workers).toHaveLength(2)
    for (const worker of workers) {
      const asked = `Promise.all(['/v1/health', '${server().url}/openapi.json', 'https://example.com'].map((url) =>
        fetch(url).then(() => 'sent', () => 'refused')))`
      expect(await worker.evaluate(asked)).toEqual(['refused', 'refused', 'refused'])
    }
    // They end with the preview.
    await page.getByRole('link', { name: 'Details' }).click()
    await page.getByText('SHA-256').waitFor()
    await vi.waitFor(() => expect(page.workers()).toHaveLength(0))
  })

  it('gives up a page that takes too long to be drawn, and goes on itself meanwhile', async () => {
    const dashboard = await openDashboard(server())
    const { page } = dashboard
    await page.clock.install()
    await expectGivenUp(server(), dashboard, async (reason) => {
      await page.getByRole('region', { name: 'Content of bomb.pdf, page 1 of 1' }).waitFor()
      // The time that drawing may take passes at once.
      await vi.waitFor(async () => {
        await page.clock.fastForward(30_000)
        await reason.waitFor({ timeout: 1000 })
      })
    })
  })

  it.each([
    [360, 640, 'dark'],
    [3840, 2160, 'light'],
  ] as const)('fits on a screen of %i by %i', async (width, height, colorScheme) => {
    const { botId, ids } = await seed(server(), {
      'paper.pdf': documentWithScripts('https://a.example'),
    })
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme,
    })
    await open(`files/${ids['paper.pdf']}`, botId)
    await page.getByText('Valves of the north').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await page.evaluate(colourOf)).toBe('0,0,255')
    await expectAccessible()
    expect(faults).toEqual([])
  })
})

// So many steps of drawing take half a minute.
describe(`the preview of a large page of a PDF ${title}`, () => {
  const server = useServer()

  it('gives up a page that is too large to be drawn, and goes on itself meanwhile', async () => {
    const dashboard = await openDashboard(server())
    await expectGivenUp(server(), dashboard, (reason) => reason.waitFor({ timeout: 60_000 }))
  })
})
