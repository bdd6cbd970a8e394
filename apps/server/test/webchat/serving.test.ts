import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync } from 'node:zlib'
import { WebchatSettings } from '@botstead/contract'
import type Ajv from 'ajv'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'

const { Ajv: Validator } = createRequire(import.meta.url)('ajv') as { Ajv: typeof Ajv.default }

/** Bytes of a response with brotli, as they are sent. */
async function sizeOf(url: string): Promise<number> {
  const sent = request(url, { headers: { 'accept-encoding': 'br' } }).end()
  const [response]: IncomingMessage[] = await once(sent, 'response')
  expect(response?.headers['content-encoding']).toBe('br')
  return response === undefined ? 0 : (await buffer(response)).length
}

describe('the addresses below a web chat', () => {
  const server = useServer()
  let path: string

  beforeAll(async () => {
    const { bot } = await server().client().createBot({ name: 'Helper </script>' })
    path = `/webchat/${Object.values(bot.integrations)[0]?.webhookId}`
  })

  const get = (below: string, init?: RequestInit) => server().fetch(`${path}${below}`, init)

  it('return settings that follow from the bot', async () => {
    const response = await get('/config')
    const settings = await response.json()
    expect(settings).toMatchObject({ botName: 'Helper </script>', suggestedQuestions: [] })
    const isValid = new Validator({ strict: false }).compile(WebchatSettings)
    expect([isValid(settings), isValid.errors]).toEqual([true, null])
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })

  it('return a small script that caches keep for minutes, and that pages of any origin may load', async () => {
    const response = await get('/inject.js', { headers: { origin: 'https://shop.example' } })
    const script = await response.text()
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(brotliCompressSync(script).length).toBeLessThan(5000)
    const etag = response.headers.get('etag') ?? ''
    expect((await get('/inject.js', { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await get('/inject.js', { method: 'HEAD' })).status).toBe(200)

    const [name = ''] = /widget-[\w-]+\.js/.exec(script) ?? []
    const widget = await get(`/assets/${name}`, { headers: { origin: 'https://shop.example' } })
    expect(widget.status).toBe(200)
    expect(widget.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(widget.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(widget.headers.get('vary')).toContain('Origin')

    // Compressed by the build, and so smaller than on the fly.
    const compressed = await sizeOf(`${server().url}${path}/assets/${name}`)
    expect(compressed).toBeLessThan(90_000)
    expect(await widget.text()).toContain('export')

    // A cached script requests the chat of an earlier version.
    const earlier = await get('/assets/widget-earlier.js', { redirect: 'manual' })
    expect([earlier.status, earlier.headers.get('location')]).toEqual([302, name])
    expect(earlier.headers.get('cache-control')).toBe('no-cache')
    expect((await get('/assets/other.js')).status).toBe(404)
    expect((await get('/assets/..%2Finject.js')).status).toBe(404)
  })

  it('return a page with a strict policy, whatever the name of the bot is', async () => {
    const response = await get('')
    const html = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(html).not.toContain('Helper </script>')
    expect(html).toContain('<title>Helper &lt;/script&gt;</title>')
    expect(html).toContain(`src="${path}/inject.js"`)
    expect((await get('/')).status).toBe(200)
  })

  it('return 404 for an unknown webhook id', async () => {
    const page = await server().fetch('/webchat/unknown')
    expect(page.status).toBe(404)
    expect(await page.text()).toContain('There is no chat at this address')
    for (const below of ['/inject.js', '/config']) {
      const response = await server().fetch(`/webchat/unknown${below}`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ type: 'ResourceNotFound' })
    }
  })
})
