// Uploads and downloads, compared with nginx on the same disk in the same run.
import http from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { processorTime } from './load.mjs'
import { hasNginx, startNginx } from './nginx.mjs'
import { peakMegabytes, startBenchServer } from './processes.mjs'
import { request } from './request.mjs'
import { sized } from './size.mjs'
import { skipped } from './table.mjs'

const megabyte = 1024 * 1024
const largeMegabytes = sized(100, 1)
const large = Buffer.alloc(largeMegabytes * megabyte, 'The pump stands in the cellar. ')
const smallSize = 10 * 1024
const smallCount = sized(1000, 20)
const connections = 16
/**
 * Odd numbers of rounds, which alternate between both servers. The median of each counts: the best ones are chance, and
 * their ratio too.
 */
const rounds = sized(11, 1)
const smallRounds = sized(5, 1)

const agent = new http.Agent({ keepAlive: true, maxSockets: connections })

/**
 * Makes a request; returns its status after discarding the body.
 * @param {string} url
 * @param {{ method?: string, body?: Buffer, headers?: Record<string, string> }} options
 */
function transfer(url, { method = 'GET', body, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, {
      method,
      agent,
      headers: { ...headers, ...(body && { 'content-length': body.length }) },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode))
      response.resume()
    })
    sent.end(body)
  })
}

async function succeed(url, options) {
  const status = await transfer(url, options)
  if (status < 200 || status > 299) throw new Error(`${options?.method ?? 'GET'} ${url}: ${status}`)
}

/** Does all of the work with limited concurrency. */
async function inParallel(items, work) {
  const left = items.values()
  const next = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: connections }, next))
}

async function makeBot({ address, token, workspaceId }) {
  const call = (path, method, headers, body) =>
    request(`${address}${path}`, method, { authorization: `Bearer ${token}`, ...headers }, body)
  const { bot } = await call('/v1/admin/bots', 'POST', { 'x-workspace-id': workspaceId }, {})
  const own = { 'x-bot-id': bot.id }
  return {
    upsert: async (key, size) => (await call('/v1/files', 'PUT', own, { key, size })).file,
    get: async (id) => (await call(`/v1/files/${id}`, 'GET', own)).file,
  }
}

/** Small contents that differ, so that the bot has none of them already. */
const smallContent = (number) => {
  const content = Buffer.alloc(smallSize, 'The pump stands in the cellar. ')
  content.writeUInt32LE(number)
  return content
}

/**
 * Notes elapsed milliseconds and milliseconds of the processor that a server takes for work of a name.
 * @param {Record<string, { wall: number, cpu: number }[]>} noted
 */
function createStopwatch(noted) {
  /**
   * @param {string} name
   * @param {{ pid: number }} server
   * @param {() => Promise<void>} work
   */
  return async (name, { pid }, work) => {
    const before = await processorTime(pid)
    const begin = performance.now()
    await work()
    const wall = performance.now() - begin
    const cpu = ((await processorTime(pid)) - before) / 1000
    noted[name] = [...(noted[name] ?? []), { wall, cpu }]
  }
}

/** Measures each kind of work on each server in alternation, once per round. */
async function takeTurns(server, nginx) {
  const bot = await makeBot(server)
  const noted = {}
  const note = createStopwatch(noted)
  for (let round = 0; round < rounds; round++) {
    const content = Buffer.from(large)
    content.writeUInt32LE(round)
    const file = await bot.upsert(`large-${round}`, large.length)
    const put = { method: 'PUT', body: content }
    await note('nginxPut', nginx, () => succeed(`${nginx.address}/large-${round}`, put))
    await note('put', server, () => succeed(file.uploadUrl, put))
    const { url } = await bot.get(file.id)
    await note('nginxGet', nginx, () => succeed(`${nginx.address}/large-${round}`))
    await note('get', server, () => succeed(url))
  }
  for (let round = 0; round < smallRounds; round++) {
    const files = []
    for (let i = 0; i < smallCount; i++) {
      const number = round * smallCount + i
      const { id, uploadUrl } = await bot.upsert(`small-${number}`, smallSize)
      files.push({ id, uploadUrl, number, body: smallContent(number), url: '' })
    }
    const small = (number) => `${nginx.address}/small-${number}`
    const putAll = (urlOf) =>
      inParallel(files, (file) => succeed(urlOf(file), { method: 'PUT', body: file.body }))
    await note('nginxSmallPut', nginx, () => putAll(({ number }) => small(number)))
    await note('smallPut', server, () => putAll(({ uploadUrl }) => uploadUrl))
    for (const file of files) file.url = (await bot.get(file.id)).url
    const getAll = (urlOf) => inParallel(files, (file) => succeed(urlOf(file)))
    await note('nginxSmallGet', nginx, () => getAll(({ number }) => small(number)))
    await note('smallGet', server, () => getAll(({ url }) => url))
  }
  return noted
}

const median = (figures) => figures.toSorted((a, b) => a - b)[figures.length >> 1]

/** Contents of 100 MB and of 10 KB, in both directions. */
export async function measureFiles(folder) {
  if (!hasNginx()) {
    return [skipped('files', 'there is no nginx with its dav module (Debian: nginx-light)')]
  }
  const nginx = await startNginx(join(folder, 'nginx'))
  try {
    const server = await startBenchServer(join(folder, 'files'))
    try {
      const rows = toRows(await takeTurns(server, nginx))
      const peak = await peakMegabytes(server.pid)
      return [...rows, { work: 'memory at its peak meanwhile', figure: `${peak} MB` }]
    } finally {
      agent.destroy()
      await server.stop()
    }
  } finally {
    await nginx.stop()
  }
}

function toRows(noted) {
  const wall = (name) => median(noted[name].map((each) => each.wall))
  const cpu = (name) => median(noted[name].map((each) => each.cpu))
  const large = (name) =>
    `${Math.round((largeMegabytes * 1000) / wall(name))} MB/s, ${Math.round(cpu(name))} ms of processor time`
  const small = (name) => {
    const perSecond = Math.round((smallCount * 1000) / wall(name)).toLocaleString('en')
    return `${perSecond} /s, ${Math.round((cpu(name) * 1000) / smallCount)} µs of processor time each`
  }
  const row = (work, against, own, other, figure, budget) => ({
    work,
    figure: figure(own),
    against: `${against}, ${figure(other)}`,
    ratio: wall(other) / wall(own),
    ...(budget && { budget }),
  })
  const size = `${largeMegabytes} MB`
  return [
    row(`upload ${size}, durable`, 'nginx PUT', 'put', 'nginxPut', large, 0.6),
    row(`download ${size}`, 'nginx GET', 'get', 'nginxGet', large, 0.6),
    row('upload 10 KB, durable', 'nginx PUT, not durable', 'smallPut', 'nginxSmallPut', small),
    row('download 10 KB', 'nginx GET', 'smallGet', 'nginxSmallGet', small),
  ]
}
