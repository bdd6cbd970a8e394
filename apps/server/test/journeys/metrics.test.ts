import { request as plainRequest } from 'node:http'
import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeInUsual, describeSlow, engines } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { readMetrics, type Series } from '../prometheus.js'
import { untilIndexed } from '../tenant.js'

const token = 'a-token-for-metrics-only'

/** Without the headers that `fetch` adds to look like a browser. */
function scrape(server: TestServer, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    plainRequest(`${server.url}/metrics`, { headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text,
        }),
      )
    })
      .on('error', reject)
      .end()
  })
}

describeSlow('metrics', (engine) => {
  let server: TestServer
  let series: Series
  let contentType: string
  const value = (name: string) => series.get(name)

  /** Indexes a file and fails another, searches, listens, and sends to an unreachable bot. */
  async function use(): Promise<AbortController> {
    const { bot } = await server.client().createBot({ url: 'http://127.0.0.1:9' })
    const client = server.client({ botId: bot.id })
    const put = async (key: string, content: string, contentType: string) => {
      const size = Buffer.byteLength(content)
      const { file } = await client.upsertFile({ key, size, contentType, index: true })
      await fetch(file.uploadUrl, { method: 'PUT', body: content })
      await untilIndexed(client, file.id)
    }
    await put('pump.md', '# Pump\n\nTurn the red valve.', 'text/markdown')
    await put('noise.pdf', 'no PDF', 'application/pdf')
    await client.searchFiles({ query: 'red valve' })
    await client.searchFiles({ query: '   ' }).catch(() => {})
    await server.fetch('/nowhere')
    return await listen(bot.id)
  }

  interface ChatResponse {
    key: string
    conversation: { id: string }
  }

  async function listen(botId: string): Promise<AbortController> {
    const { bot } = await server.client().getBot({ id: botId })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId
    const post = async (path: string, body: object, key = '') => {
      const response = await server.fetch(`/chat/${webhookId}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { 'x-user-key': key }) },
        body: JSON.stringify(body),
      })
      return (await response.json()) as ChatResponse
    }
    const { key } = await post('users', {})
    const { conversation } = await post('conversations', {}, key)
    const payload = { type: 'text', text: 'Hello' }
    await post('messages', { payload, conversationId: conversation.id }, key)
    const stop = new AbortController()
    await server.fetch(`/chat/${webhookId}/conversations/${conversation.id}/listen`, {
      headers: { 'x-user-key': key },
      signal: stop.signal,
    })
    return stop
  }

  beforeAll(async () => {
    server = await startTestServer(engine, { BOTSTEAD_METRICS_TOKEN: token })
    const listener = await use()
    const response = await scrape(server)
    expect(response.status).toBe(200)
    contentType = response.type
    series = readMetrics(response.text)
    listener.abort()
  })
  afterAll(() => server.close())

  it('use the format of Prometheus', () => {
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
    const build = [...series.keys()].filter((name) => name.startsWith('botstead_build_info'))
    expect(build).toEqual([expect.stringContaining(`database="${engine.name}"`)])
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(value('botstead_event_loop_seconds_total{state="active"}')).toBeGreaterThan(0)
  })

  it('count requests by operation and status, and time them apart from contents', () => {
    const of = (operation: string, status: string) =>
      value(`botstead_http_requests_total{operation="${operation}",status="${status}"}`)
    expect(of('upsertFile', '2xx')).toBe(2)
    expect(of('searchFiles', '2xx')).toBe(1)
    expect(of('searchFiles', '4xx')).toBe(1)
    expect(of('unknown', '4xx')).toBe(1)
    const total = [...series].filter(([name]) => name.startsWith('botstead_http_requests_total'))
    const requests = total.reduce((sum, [, count]) => sum + count, 0)
    const calls = value('botstead_http_request_duration_seconds_count{kind="call"}')
    const contents = value('botstead_http_request_duration_seconds_count{kind="content"}')
    expect(contents).toBe(2)
    // The unknown address is counted and not timed.
    expect(calls).toBe(requests - 2 - 1)
    expect(value('botstead_http_request_duration_seconds_bucket{kind="call",le="+Inf"}')).toBe(
      calls,
    )
  })

  it('count the outcomes of files and searches', () => {
    expect(value('botstead_indexing_total{outcome="indexed"}')).toBe(1)
    expect(value('botstead_indexing_total{outcome="failed"}')).toBe(1)
    // Without pgvector, and until vectors are made, searches use words alone and are marked as degraded.
    const answered = ['ok', 'degraded'].map((o) => value(`botstead_searches_total{outcome="${o}"}`))
    expect(answered.toSorted()).toEqual([0, 1])
    expect(value('botstead_searches_total{outcome="refused"}')).toBe(1)
    expect(value('botstead_searches_total{outcome="failed"}')).toBe(0)
    expect(value('botstead_search_duration_seconds_count')).toBe(1)
    expect(value('botstead_searches{state="waiting"}')).toBe(0)
    expect(value('botstead_document_readers{state="running"}')).toBe(0)
  })

  it('time commits, all of which are in the last bucket', async () => {
    const name = 'botstead_database_commit_duration_seconds'
    const count = value(`${name}_count`) ?? 0
    expect(count).toBeGreaterThan(0)
    expect(value(`${name}_bucket{le="+Inf"}`)).toBe(count)
    expect(value(`${name}_sum`)).toBeGreaterThan(0)
    await server.client().createBot({})
    // Values may be a second old.
    await vi.waitFor(async () => {
      const later = readMetrics((await scrape(server)).text)
      expect(later.get(`${name}_count`)).toBeGreaterThan(count)
    })
  })

  it('count jobs, waiting deliveries, and listeners', () => {
    expect(value('botstead_jobs{kind="server.housekeeping",state="waiting"}')).toBe(1)
    expect(value('botstead_job_oldest_waiting_seconds{kind="server.housekeeping"}')).toBe(0)
    expect(value('botstead_deliveries{state="waiting"}')).toBeGreaterThanOrEqual(1)
    expect(value('botstead_delivery_oldest_waiting_seconds')).toBeGreaterThan(0)
    expect(value('botstead_delivery_receivers_paused{by="failures"}')).toBe(0)
    expect(value('botstead_chat_listeners')).toBe(1)
  })

  it.each([
    ['came through a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['came through another proxy', { via: '1.1 proxy' }],
    ['came through a proxy that adds only the name', { host: 'bots.example.com' }],
    ['are sent by a web page whose name leads here', { host: '127.0.0.1.example.com:8787' }],
    ['are sent by a web page', { origin: 'https://www.example.com' }],
    ['have another token', { 'x-forwarded-for': '203.0.113.7', authorization: 'Bearer no' }],
  ])('are refused to requests that %s', async (_, headers: Record<string, string>) => {
    const { status, text } = await scrape(server, headers)
    expect(status).toBe(403)
    expect(JSON.parse(text)).toMatchObject({
      type: 'Forbidden',
      message: expect.stringContaining('BOTSTEAD_METRICS_TOKEN'),
    })
  })

  it.each([hostname(), 'localhost', 'LOCALHOST:1', '127.0.0.1:8787', '[::1]:8787'])(
    'are available to callers on the machine that ask for %s',
    async (host) => {
      expect((await scrape(server, { host })).status).toBe(200)
    },
  )

  it('are available to callers with the token', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${token}` }
    expect((await scrape(server, headers)).status).toBe(200)
  })
})

describeInUsual('metrics of an operator', () => {
  const start = (access: string) =>
    startTestServer(engines[0] as NonNullable<(typeof engines)[0]>, {
      BOTSTEAD_METRICS: access,
      BOTSTEAD_METRICS_TOKEN: token,
    })

  it('are missing when they are off', async () => {
    const server = await start('off')
    const { status } = await scrape(server, { authorization: `Bearer ${token}` })
    await server.close()
    expect(status).toBe(404)
  })

  it('are public when the operator allows it', async () => {
    const server = await start('public')
    const { status } = await scrape(server, { 'x-forwarded-for': '203.0.113.7' })
    await server.close()
    expect(status).toBe(200)
  })
})
