import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { allOperations } from '@botstead/contract'
import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'

const documentPath = '/openapi.json'

describe('the reference', () => {
  const server = useServer(undefined, { BOTSTEAD_DASHBOARD: 'off' })

  it('has every operation in its document', async () => {
    const response = await server().fetch(documentPath)
    const { paths }: { paths: Record<string, object> } = JSON.parse(await response.text())
    expect(Object.keys(paths).toSorted()).toEqual(
      [...new Set(allOperations.map(({ path }) => path))].toSorted(),
    )
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('has its document at one address', async () => {
    expect((await server().fetch('/docs/json')).status).toBe(404)
    expect((await server().fetch('/docs/yaml')).status).toBe(404)
  })

  it.each([
    ['br', brotliDecompressSync],
    ['gzip, deflate', gunzipSync],
    ['identity', (bytes: Buffer) => bytes],
    ['br;q=0', (bytes: Buffer) => bytes],
  ])('is sent to clients that accept %s, and not again', async (accepted, unpack) => {
    const get = (headers: Record<string, string>, method = 'GET') =>
      getBytes(`${server().url}${documentPath}`, method, {
        'accept-encoding': accepted,
        ...headers,
      })
    const { status, headers, bytes } = await get({})
    expect(status).toBe(200)
    expect(JSON.parse(unpack(bytes).toString())).toMatchObject({ openapi: '3.1.0' })
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      vary: expect.stringContaining('accept-encoding'),
      'content-length': String(bytes.length),
      'ratelimit-limit': '100',
    })

    const known = await get({ 'if-none-match': `"other", W/${headers.etag}` })
    expect([known.status, known.bytes.length, known.headers.etag]).toEqual([304, 0, headers.etag])
    const other = await get({ 'if-none-match': '"other"' })
    expect([other.status, other.bytes.length]).toEqual([200, bytes.length])
    const head = await get({}, 'HEAD')
    expect([head.status, head.headers['content-length'], head.headers.etag]).toEqual([
      200,
      headers['content-length'],
      headers.etag,
    ])
  })

  it('is a page without external resources that also works without https', async () => {
    const response = await server().fetch('/docs')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|upgrade-insecure-requests/)
    const withSlash = await server().fetch('/docs/', { redirect: 'manual' })
    expect([withSlash.status, withSlash.headers.get('location')]).toEqual([308, '../docs'])
  })

  it('is linked from the root address, which shows that the server is running', async () => {
    const page = await server().fetch('/', { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('vary')).toContain('accept')
    expect(await page.text()).toMatch(/Botstead is running.*botstead bots create.*href="docs"/s)
    const response = await server().fetch('/')
    expect(await response.json()).toMatchObject({
      name: 'Botstead',
      status: 'running',
      reference: '/docs',
      openapi: documentPath,
    })
  })
})

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the reference ${title}`, () => {
  const server = useServer(undefined, { BOTSTEAD_DASHBOARD: 'off' })

  async function openPage(path: string, options = {}): Promise<{ page: Page; faults: string[] }> {
    const page = await newPage(options)
    const faults: string[] = []
    page.on('console', (line) => {
      if (line.type() === 'error') faults.push(line.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (sent) => {
      const url = new URL(sent.url())
      if (url.protocol !== 'data:' && url.origin !== server().url) faults.push(sent.url())
    })
    await page.goto(`${server().url}${path}`)
    return { page, faults }
  }

  it('is folded, is searched, and calls an operation', async () => {
    const { page, faults } = await openPage('/docs')
    await vi.waitFor(async () =>
      expect(await page.locator('.opblock-tag').count()).toBeGreaterThan(10),
    )
    expect(await page.locator('.opblock').count()).toBe(0)

    const search = page.getByRole('searchbox', { name: 'Search operations' })
    await search.fill('get ALIVE')
    await vi.waitFor(async () => expect(await page.locator('.opblock').count()).toBe(1))
    await search.fill('no such operation')
    await vi.waitFor(async () => expect(await page.locator('.opblock').count()).toBe(0))
    await search.fill('/healthz')
    await vi.waitFor(async () => expect(await page.locator('.opblock').count()).toBe(1))

    // With the keyboard alone.
    const operation = page.locator('.opblock-summary-control')
    await operation.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Try it out' }).press('Enter')
    await page.getByRole('button', { name: 'Execute' }).press('Enter')
    const liveResponse = page.locator('.live-responses-table .response-col_description').last()
    await vi.waitFor(async () =>
      expect(await liveResponse.textContent()).toContain('"status": "ok"'),
    )

    await search.fill('')
    await vi.waitFor(async () =>
      expect(await page.locator('.opblock-tag').count()).toBeGreaterThan(10),
    )
    expect(faults).toEqual([])
  })

  it.each(['/', '/docs'])('has no line of %s wider than a phone', async (path) => {
    const { page, faults } = await openPage(path, { viewport: { width: 360, height: 640 } })
    if (path === '/docs') {
      await page.getByRole('searchbox').fill('conversations')
      await vi.waitFor(async () =>
        expect(await page.locator('.opblock').count()).toBeGreaterThan(5),
      )
    }
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })
})

interface Received {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** The bytes as they were sent: `fetch` would decompress them. */
async function getBytes(
  url: string,
  method: string,
  headers: Record<string, string>,
): Promise<Received> {
  return await new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      )
    })
      .on('error', reject)
      .end()
  })
}
