// The parts of the benchmark. Every part returns rows for the table.
import { join } from 'node:path'
import { measureAnalytics } from './analytics.mjs'
import { measureListeners, measureWidgets } from './chat.mjs'
import { measureDashboard } from './dashboard.mjs'
import { measureDelivery } from './delivery.mjs'
import { files } from './files.mjs'
import { measureGroupCommit } from './group-commit.mjs'
import { measureManyHosted, measureNoisyHosted, measureOneHosted } from './hosting.mjs'
import { measureHttp } from './http.mjs'
import { measureIndexing } from './index.mjs'
import { limitOfClient, load, measure, medians } from './load.mjs'
import { measureStart, startBareServer, startBenchServer } from './processes.mjs'
import { chatOf, request } from './request.mjs'
import { measureSchemas } from './schemas.mjs'
import { searchBySize } from './search.mjs'
import { measureIndexingImpact, searchThread, timeToSearchable } from './search-impact.mjs'
import { sized } from './size.mjs'
import { measureVectors } from './vectors.mjs'

const json = { 'content-type': 'application/json' }
const rate = (figures) => `${Math.round(figures.perSecond).toLocaleString('en')} /s`
const waits = (figures) => `${rate(figures)}, p50 ${figures.p50} ms, p99 ${figures.p99} ms`

async function withServer(folder, name, work) {
  const server = await startBenchServer(join(folder, name))
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

function adminHeaders({ token, workspaceId }) {
  return {
    ...json,
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    'x-multiple-integrations': 'true',
  }
}

/** Chat messages, each durable before its response, over 64 connections in 64 conversations. */
async function messages(folder) {
  return await withServer(folder, 'messages', async (server) => {
    const { address } = server
    const { bot } = await request(`${address}/v1/admin/bots`, 'POST', adminHeaders(server), {})
    const chat = chatOf(bot)
    const { key } = await request(`${chat}/users`, 'POST', json, {})
    const headers = { ...json, 'x-user-key': key }
    const body = []
    for (let i = 0; i < 64; i++) {
      const { conversation } = await request(`${chat}/conversations`, 'POST', headers, {})
      const payload = { type: 'text', text: 'Is the station open on Sunday?' }
      body.push(JSON.stringify({ conversationId: conversation.id, payload }))
    }
    const bare = await startBareServer()
    let created
    const createMessages = (isKeyed) =>
      measure(`${chat}/messages`, {
        seconds: sized(3, 1),
        requests: body.map((text) => ({ method: 'POST', headers, body: text, isKeyed })),
      })
    try {
      const found = await medians({
        bare: () =>
          measure(`${bare.address}/bench/empty`, {
            seconds: sized(3, 1),
            requests: [{ method: 'POST', headers: json, body: body[0] }],
          }),
        created: async () => {
          created = await createMessages(false)
          return created
        },
        keyed: () => createMessages(true),
      })
      return [
        {
          work: 'POST, bare framework with the schema of a message',
          figure: `${rate({ perSecond: found.bare })}${limitOfClient}`,
        },
        {
          work: 'create a chat message, durable',
          // Latencies of the last round.
          figure: waits({ ...created, perSecond: found.created }),
          against: 'bare framework',
          ratio: found.created / found.bare,
          budget: 0.25,
        },
        {
          work: 'the same, each with an Idempotency-Key',
          figure: rate({ perSecond: found.keyed }),
          against: 'bare framework',
          ratio: found.keyed / found.bare,
        },
      ]
    } finally {
      await bare.stop()
    }
  })
}

const botCount = sized(10_000, 128)

/** A page of 20 bots of a workspace that has many. */
async function bots(folder) {
  return await withServer(folder, 'bots', async (server) => {
    const { address } = server
    const headers = adminHeaders(server)
    await load(`${address}/v1/admin/bots`, {
      amount: botCount,
      requests: [{ method: 'POST', headers, body: JSON.stringify({ tags: { team: 'north' } }) }],
    })
    const empty = await measure(`${address}/bench/empty`, { requests: [{ method: 'GET' }] })
    const listed = await measure(`${address}/v1/admin/bots`, {
      requests: [{ method: 'GET', headers }],
    })
    return [
      { work: 'empty GET', figure: waits(empty) },
      {
        work: `list 20 of ${botCount.toLocaleString('en')} bots`,
        figure: waits(listed),
        against: 'empty GET',
        ratio: listed.perSecond / empty.perSecond,
        budget: 0.5,
      },
    ]
  })
}

/** Durable transactions without HTTP: the limit of the storage with 64 concurrent callers. */
async function commits() {
  const best = await measureGroupCommit({ rounds: 1 })
  const perSecond = (count) => `${count.toLocaleString('en')} /s`
  return [
    { work: 'durable insert, group commit, no HTTP', figure: perSecond(best.oneInsert) },
    { work: 'the statements of a message, no HTTP', figure: perSecond(best.messageByPrepared) },
  ]
}

const megabyte = 1024 * 1024
const startFiles = 10
/** Bytes of each file, and conversations, in the data folder of which a server starts. */
const startBytes = sized(100, 1) * megabyte
const startConversations = sized(50_000, 128)

/** Start of the real command on a data folder of about 1 GB, and its idle memory. */
async function start(folder) {
  const dataDir = join(folder, 'start')
  await withServer(folder, 'start', async (server) => {
    const { bot } = await request(
      `${server.address}/v1/admin/bots`,
      'POST',
      adminHeaders(server),
      {},
    )
    const headers = { ...json, authorization: `Bearer ${server.token}`, 'x-bot-id': bot.id }
    for (let i = 0; i < startFiles; i++) {
      const content = Buffer.alloc(startBytes, i)
      const { file } = await request(`${server.address}/v1/files`, 'PUT', headers, {
        key: `large-${i}.bin`,
        size: content.length,
      })
      const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
      if (!response.ok) throw new Error(`upload: ${response.status}`)
    }
    await load(`${server.address}/v1/chat/conversations`, {
      amount: startConversations,
      requests: [{ method: 'POST', headers, body: '{"channel":"web","tags":{"a":"b"}}' }],
    })
  })
  await measureStart(dataDir)
  const { milliseconds, megabytes } = await measureStart(dataDir)
  return [
    {
      work: `start with a data folder of ${(startFiles * startBytes) / megabyte} MB`,
      figure: `${Math.round(milliseconds)} ms`,
      against: '1 s',
      ratio: 1000 / milliseconds,
      budget: 1,
    },
    {
      work: 'memory at rest',
      figure: `${Math.round(megabytes)} MB`,
      against: '120 MB',
      ratio: 120 / megabytes,
      budget: 1,
    },
  ]
}

/** @type {Readonly<Record<string, (folder: string) => Promise<import('./table.mjs').Row[]>>>} */
export const parts = {
  http: measureHttp,
  commits,
  messages,
  listeners: measureListeners,
  widgets: measureWidgets,
  delivery: measureDelivery,
  'hosting-one': (folder) => measureOneHosted(join(folder, 'hosting')),
  'hosting-many': (folder) => measureManyHosted(join(folder, 'hosting')),
  'hosting-noise': (folder) => measureNoisyHosted(join(folder, 'hosting')),
  bots,
  files,
  start,
  'search-size': searchBySize,
  'search-thread': searchThread,
  'search-put': timeToSearchable,
  'search-impact': measureIndexingImpact,
  index: measureIndexing,
  dashboard: measureDashboard,
  analytics: measureAnalytics,
  schemas: measureSchemas,
  vectors: (folder) => measureVectors(join(folder, 'vectors')),
}

/**
 * Parts that are measured together, by the name of all of them. Parts in no group run on request only.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const groups = {
  http: ['http'],
  commits: ['commits'],
  chat: ['messages', 'listeners', 'widgets'],
  delivery: ['delivery'],
  hosting: ['hosting-one', 'hosting-many', 'hosting-noise'],
  bots: ['bots'],
  files: ['files'],
  start: ['start'],
  search: ['search-size', 'search-thread', 'search-put', 'search-impact', 'index'],
  dashboard: ['dashboard'],
}
