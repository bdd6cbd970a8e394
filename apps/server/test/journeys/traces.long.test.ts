import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createClient } from '@botstead/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { createCommandPlace } from '../command-place.js'
import { describeEachEngine, sqliteEngine, type TestEngine } from '../engines.js'
import { startHttpBot } from '../http-bot.js'
import { listenRaw } from '../listening/raw-stream.js'
import { freePort } from '../ports.js'
import { runCommand, type ServerProcess, startServerProcess } from '../processes.js'
import { type ReceivedSpan, startTraceCollector, type TraceCollector } from '../trace-collector.js'

const token = 'a-token-for-tests-only'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const secretText = 'hello-7f3a-never-in-a-trace'

async function startTraced(engine: TestEngine, environment: Record<string, string>) {
  const place = await createCommandPlace(engine)
  onTestFinished(() => place[Symbol.asyncDispose]())
  const server = await startServerProcess({
    ...place.environment,
    BOTSTEAD_ADMIN_TOKEN: token,
    ...environment,
  })
  onTestFinished(() => server.kill())
  return server
}

/** A chat user of a bot with an address. */
async function meet(server: ServerProcess, url: string) {
  const { workspaces } = await createClient({ baseUrl: server.url, token }).listWorkspaces()
  const workspaceId = workspaces[0]?.id ?? ''
  const admin = createClient({ baseUrl: server.url, token, workspaceId })
  const { bot } = await admin.createBot({ url })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const address = { baseUrl: server.url, webhookId }
  const { key: userKey } = await createClient(address).chatCreateUser({})
  const chat = createClient({ ...address, userKey })
  const conversationId = (await chat.chatCreateConversation({})).conversation.id
  const texts = async () =>
    (await chat.chatListMessages({ conversationId })).messages.map(({ payload }) => payload.text)
  const say = async (headers: Record<string, string>) => {
    const response = await fetch(`${server.url}/chat/${webhookId}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user-key': userKey, ...headers },
      body: JSON.stringify({ conversationId, payload: { type: 'text', text: secretText } }),
    })
    expect(response.status).toBe(201)
  }
  return { bot, workspaceId, webhookId, userKey, conversationId, say, texts }
}

/** A bot that answers with the `traceparent` of the request. Returns its address. */
async function startPassingBot(server: ServerProcess): Promise<string> {
  const bot = createServer(async (request, response) => {
    const body = await text(request)
    if (request.headers['x-bp-operation'] === 'event_received') {
      const { conversationId, botId } = JSON.parse(body).event
      // The server may be stopping.
      await fetch(`${server.url}/v1/chat/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
          'x-bot-id': String(request.headers['x-bot-id'] ?? botId),
          traceparent: String(request.headers.traceparent),
        },
        body: JSON.stringify({
          conversationId,
          userId: request.headers['x-bot-id'],
          type: 'text',
          payload: { text: 'An answer' },
          tags: {},
        }),
      }).catch(() => undefined)
    }
    response.end('{}')
  })
  bot.listen(0, '127.0.0.1')
  await once(bot, 'listening')
  onTestFinished(() => {
    bot.closeAllConnections()
    bot.close()
  })
  return `http://127.0.0.1:${(bot.address() as AddressInfo).port}`
}

/** The names from from the oldest ancestor to the span. */
function pathTo(span: ReceivedSpan | undefined, spans: readonly ReceivedSpan[]): string[] {
  if (span === undefined) return []
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return [...pathTo(parent, spans), span.name]
}

const until = <T>(assertion: () => T | Promise<T>) =>
  vi.waitFor(assertion, { timeout: 15_000, interval: 50 })

const ofTrace = ({ spans }: TraceCollector, id: string) =>
  spans.filter((span) => span.traceId === id)

describeEachEngine('a trace', (engine) => {
  it('goes from a message through commit, signal and delivery to the answer of a bot', async () => {
    await using collector = await startTraceCollector()
    const server = await startTraced(engine, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=very%20secret',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'bots of the test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    })
    const url = await startPassingBot(server)
    const { say, texts, webhookId, userKey, conversationId } = await meet(server, url)
    const listener = await listenRaw({ url: server.url, webhookId, userKey, conversationId })
    onTestFinished(() => listener.close())
    await say({ traceparent: `00-${traceId}-b7ad6b7169203331-01` })
    await until(async () => expect((await texts()).length).toBeGreaterThan(1))

    const route = 'POST /chat/{webhookId}/messages'
    const spans = await until(() => {
      const found = ofTrace(collector, traceId)
      const names = found.map(({ name }) => name)
      expect(names.filter((name) => name === 'process signals').length).toBeGreaterThan(1)
      expect(names).toContain('POST /v1/chat/messages')
      expect(names).toContain('process deliveries')
      expect(names).toContain(route)
      return found
    })
    const named = (name: string) => spans.find((span) => span.name === name)
    expect(named(route)).toMatchObject({
      kind: 'server',
      parentSpanId: 'b7ad6b7169203331',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/chat/{webhookId}/messages',
        'http.response.status_code': 201,
        'botstead.request.id': expect.stringMatching(/^req_/),
      },
      resource: {
        'service.name': 'bots of the test',
        'deployment.environment.name': 'test',
        'service.version': expect.any(String),
      },
    })
    expect(pathTo(named('COMMIT'), spans)).toEqual([route, 'transaction', 'COMMIT'])
    const answer = named('POST /v1/chat/messages')
    const toAnswer = [
      route,
      'transaction',
      'send deliveries',
      'process deliveries',
      'POST',
      'POST /v1/chat/messages',
    ]
    expect(pathTo(answer, spans)).toEqual(toAnswer)
    const signals = spans.filter(({ name }) => name === 'process signals')
    expect(pathTo(signals[0], spans)).toEqual([
      route,
      'transaction',
      'send signals',
      'process signals',
    ])
    expect(pathTo(signals[1], spans)).toEqual([
      ...toAnswer,
      'transaction',
      'send signals',
      'process signals',
    ])
    expect(signals[0]).toMatchObject({
      kind: 'consumer',
      attributes: { 'messaging.destination.name': 'signals', 'botstead.listeners': 1 },
    })
    expect(named('send deliveries')).toMatchObject({ kind: 'producer' })
    expect(named('process deliveries')).toMatchObject({
      kind: 'consumer',
      attributes: {
        'messaging.system': 'botstead',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'deliveries',
        'messaging.message.id': expect.any(String),
        'messaging.message.conversation_id': expect.any(String),
        'botstead.delivery.attempt': 1,
      },
    })
    expect(named('POST')).toMatchObject({
      kind: 'client',
      attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': 200 },
    })

    // Texts of messages and credentials stay on this server.
    for (const secret of [secretText, token, userKey, webhookId, 'very secret']) {
      expect(collector.text()).not.toContain(secret)
    }
    expect(collector.requests[0]).toMatchObject({
      ':path': '/v1/traces',
      'x-collector-key': 'very secret',
      'content-encoding': 'gzip',
    })
    // The last traces are sent before the process ends.
    await say({ traceparent: `00-${traceId.replace('0af', '1af')}-b7ad6b7169203331-01` })
    expect(await server.stop()).toBe(0)
    expect(ofTrace(collector, traceId.replace('0af', '1af')).map(({ name }) => name)).toContain(
      route,
    )
  })

  it('survives a delivery that waits, a restart of the server, and hostile headers', async () => {
    await using collector = await startTraceCollector()
    const place = await createCommandPlace(engine)
    onTestFinished(() => place[Symbol.asyncDispose]())
    const environment = {
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    }
    const port = await freePort()
    const first = await startServerProcess(environment)
    const { say, bot, workspaceId } = await meet(first, `http://127.0.0.1:${port}/bot`)
    await say({ traceparent: `00-${traceId}-b7ad6b7169203331-01` })
    for (const hostile of [
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `ff-${traceId}-b7ad6b7169203331-01`,
      `00-${traceId}-b7ad6b7169203331-01-${'x'.repeat(4000)}`,
      `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
      "'; drop table deliveries; --",
    ]) {
      await say({ traceparent: hostile })
    }
    await until(() =>
      expect(ofTrace(collector, traceId).filter(({ isError }) => isError)).not.toEqual([]),
    )
    await first.kill()
    const late = await startHttpBot('echo', port)
    const second = await startServerProcess(environment)
    onTestFinished(() => second.kill())
    const admin = createClient({ baseUrl: second.url, token, workspaceId })
    await admin.updateBot({ id: bot.id })
    const calls = await until(async () => {
      const all = await late.calls()
      expect(all.filter(({ body }) => body.includes(secretText))).toHaveLength(6)
      return all
    })
    const delivered = calls.filter(({ headers }) => headers.traceparent?.includes(traceId))
    expect(delivered).toHaveLength(1)
    expect(delivered[0]?.headers.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)

    // A bot that does not pass the trace on: its call refers to the delivery.
    const native = JSON.parse(calls.at(-1)?.body ?? '{}').event.conversationId
    const users = createClient({ baseUrl: second.url, token, botId: bot.id })
    await users.createMessage({
      conversationId: native,
      userId: bot.id,
      type: 'text',
      payload: { text: 'An answer' },
      tags: {},
    })
    const linked = await until(() => {
      const found = collector.spans.find(
        ({ name, links }) => name === 'POST /v1/chat/messages' && links.length > 0,
      )
      expect(found).toBeDefined()
      return found
    })
    const [link] = linked?.links ?? []
    await until(() => {
      const about = collector.spans.find(({ spanId }) => spanId === link?.spanId)
      expect(about).toMatchObject({ name: 'process deliveries', traceId: link?.traceId })
    })
  })
})

describe('a trace', () => {
  it('of a bot made with the SDK, which does not pass it on, refers to the delivery', async () => {
    await using collector = await startTraceCollector()
    const server = await startTraced(sqliteEngine, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    await using bot = await startBotProcess(
      { url: server.url, token },
      ['apps/server/test/processes/sdk-bot.mjs', '@botpress/sdk'],
      /^ready .+\n/m,
      { BP_API_URL: server.url, BP_TOKEN: token },
    )
    const { say } = await meet(server, /^ready (.+)$/m.exec(bot.output())?.[1] ?? '')
    await say({ traceparent: `00-${traceId}-b7ad6b7169203331-01` })
    await until(() => {
      const delivery = ofTrace(collector, traceId).find(({ name }) => name === 'process deliveries')
      const answer = collector.spans.find(({ name }) => name === 'POST /v1/chat/messages')
      expect(answer?.links).toEqual([{ traceId, spanId: delivery?.spanId }])
    })
  })
})

describe('log lines', () => {
  it('carry the ids of the trace and the span', async () => {
    await using collector = await startTraceCollector()
    const server = await startTraced(sqliteEngine, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    const response = await fetch(`${server.url}/v1/admin/bots`, {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    })
    expect(response.status).toBe(401)
    const { id } = (await response.json()) as { id: string }
    // The output of a process arrives a moment later.
    const line = await until(() => {
      const found = server
        .output()
        .split('\n')
        .find((each) => each.includes(id))
      return JSON.parse(found ?? '')
    })
    await until(() => expect(ofTrace(collector, traceId)).toHaveLength(1))
    expect(line).toMatchObject({
      trace_id: traceId,
      span_id: ofTrace(collector, traceId)[0]?.spanId,
    })
    expect(server.output()).toContain('"traces are sent"')
    expect(JSON.parse(server.output().split('\n')[0] ?? '{}')).not.toHaveProperty('trace_id')
  })
})

describe('a collector', () => {
  /** Messages are written and delivered, and the server stops in time, whatever the collector does. */
  async function works(endpoint: string, options: { isReported: boolean }) {
    const server = await startTraced(sqliteEngine, {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      // Longer than all of this takes on a busy machine, so that what waits for the collector takes longer.
      OTEL_EXPORTER_OTLP_TIMEOUT: '200000',
    })
    const bot = await startHttpBot('echo')
    const { say } = await meet(server, bot.url)
    const begun = performance.now()
    for (let count = 0; count < 20; count++) await say({})
    await until(async () => expect(await bot.received()).toHaveLength(20))
    expect(performance.now() - begun).toBeLessThan(150_000)
    const complaint = 'the collector does not take traces'
    if (options.isReported) {
      await vi.waitFor(() => expect(server.output()).toContain(complaint), { timeout: 30_000 })
    }
    const stopping = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - stopping).toBeLessThan(100_000)
    expect(server.output().split(complaint).length - 1).toBeLessThanOrEqual(1)
  }

  it('that refuses connections slows nothing', async () => {
    await works(`http://127.0.0.1:${await freePort()}`, { isReported: true })
  })

  it('that responds with errors slows nothing', async () => {
    await using collector = await startTraceCollector((response) =>
      response.writeHead(500).end('broken'),
    )
    await works(collector.url, { isReported: false })
    expect(collector.requests.length).toBeGreaterThan(0)
  })

  it('that never responds slows nothing', async () => {
    await using collector = await startTraceCollector(() => {})
    await works(collector.url, { isReported: false })
    expect(collector.requests.length).toBeGreaterThan(0)
  })
})

describe('the settings of traces', () => {
  const start = async (environment: Record<string, string>) => {
    await using place = await createCommandPlace(sqliteEngine)
    return await runCommand(['config'], { ...place.environment, ...environment })
  }

  it('are refused with the name and what is accepted, where traces are on', async () => {
    const { status, stderr } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '2',
      OTEL_RESOURCE_ATTRIBUTES: 'no pairs',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret%',
    })
    expect(status).not.toBe(0)
    for (const name of [
      'OTEL_EXPORTER_OTLP_ENDPOINT accepts an address',
      'OTEL_EXPORTER_OTLP_PROTOCOL accepts one of http/protobuf, not "grpc"',
      'OTEL_TRACES_SAMPLER accepts one of always_on',
      'OTEL_TRACES_SAMPLER_ARG accepts a number from 0 to 1, not "2"',
      'OTEL_RESOURCE_ATTRIBUTES accepts pairs',
      'OTEL_EXPORTER_OTLP_HEADERS accepts pairs such as',
    ]) {
      expect(stderr).toContain(name)
    }
    expect(stderr).not.toContain('secret%')
  })

  it('are no problem where traces are off', async () => {
    const wrong = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'sometimes' }
    for (const environment of [
      wrong,
      { ...wrong, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:1', OTEL_SDK_DISABLED: 'true' },
      { ...wrong, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:1', OTEL_TRACES_EXPORTER: 'none' },
    ]) {
      expect(await start(environment)).toMatchObject({ status: 0, stderr: '' })
    }
  })
})
