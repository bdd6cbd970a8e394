// Uploads and downloads, compared with nginx on the same disk in the same run.
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { hasNginx, startNginx } from './nginx.mjs'
import { peakMegabytes, startBenchServer } from './processes.mjs'

const megabyte = 1024 * 1024
const large = Buffer.alloc(100 * megabyte, 'The pump stands in the cellar. ')
const smallSize = 10 * 1024
const smallCount = 1000
const connections = 16
/** Rounds of each measurement, alternating between both servers; the best of each counts. */
const rounds = 5

const agent = new Agent({ keepAlive: true, maxSockets: connections })

/** Makes a request; returns its status after discarding the body. */
function transfer(url, { method = 'GET', body, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
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

async function seconds(work) {
  const begin = performance.now()
  await work()
  return (performance.now() - begin) / 1000
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
  const json = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (path, method, headers, body) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return await response.json()
  }
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

/** The best time of each server for each kind of work. */
async function takeTurns(server, nginx) {
  const bot = await makeBot(server)
  const best = {}
  const note = (name, time) => {
    best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, time)
  }
  for (let round = 0; round < rounds; round++) {
    const content = Buffer.from(large)
    content.writeUInt32LE(round)
    const file = await bot.upsert(`large-${round}`, large.length)
    const put = { method: 'PUT', body: content }
    note('nginxPut', await seconds(() => succeed(`${nginx.address}/large-${round}`, put)))
    note('put', await seconds(() => succeed(file.uploadUrl, put)))
    const { url } = await bot.get(file.id)
    note('nginxGet', await seconds(() => succeed(`${nginx.address}/large-${round}`)))
    note('get', await seconds(() => succeed(url)))
  }
  for (let round = 0; round < 2; round++) {
    const files = []
    for (let i = 0; i < smallCount; i++) {
      const number = round * smallCount + i
      const { id, uploadUrl } = await bot.upsert(`small-${number}`, smallSize)
      files.push({ id, uploadUrl, number, body: smallContent(number) })
    }
    const small = (number) => `${nginx.address}/small-${number}`
    const putAll = (urlOf) =>
      seconds(() =>
        inParallel(files, (file) => succeed(urlOf(file), { method: 'PUT', body: file.body })),
      )
    note('nginxSmallPut', await putAll(({ number }) => small(number)))
    note('smallPut', await putAll(({ uploadUrl }) => uploadUrl))
    for (const file of files) file.url = (await bot.get(file.id)).url
    const getAll = (urlOf) => seconds(() => inParallel(files, (file) => succeed(urlOf(file))))
    note('nginxSmallGet', await getAll(({ number }) => small(number)))
    note('smallGet', await getAll(({ url }) => url))
  }
  return best
}

/** Contents of 100 MB and of 10 KB, in both directions. */
export async function files(folder) {
  if (!hasNginx()) {
    console.error('skipped files: there is no nginx with its dav module (Debian: nginx-light)')
    return []
  }
  const nginx = await startNginx(join(folder, 'nginx'))
  const server = await startBenchServer(join(folder, 'files'))
  try {
    const best = await takeTurns(server, nginx)
    const speed = (time) => `${Math.round(100 / time)} MB/s`
    const rate = (time) => `${Math.round(smallCount / time).toLocaleString('en')} /s`
    const row = (work, against, own, other, figure, budget) => ({
      work,
      figure: figure(best[own]),
      against: `${against}, ${figure(best[other])}`,
      ratio: best[other] / best[own],
      ...(budget && { budget }),
    })
    return [
      row('upload 100 MB, durable', 'nginx PUT', 'put', 'nginxPut', speed, 0.6),
      row('download 100 MB', 'nginx GET', 'get', 'nginxGet', speed, 0.6),
      row('upload 10 KB, durable', 'nginx PUT, not durable', 'smallPut', 'nginxSmallPut', rate),
      row('download 10 KB', 'nginx GET', 'smallGet', 'nginxSmallGet', rate),
      { work: 'memory at its peak meanwhile', figure: `${await peakMegabytes(server.pid)} MB` },
    ]
  } finally {
    agent.destroy()
    await server.stop()
    await nginx.stop()
  }
}
