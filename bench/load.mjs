// A load on one address: requests per second and latencies.
// By wrk where it is installed; autocannon, which is among the dependencies, is slower than a fast server.
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { outputOf, tryProgram } from './programs.mjs'
import { isSmallest, sized } from './size.mjs'

const hasWrk = tryProgram('wrk', ['--version']) !== undefined

/** To be shown with figures of servers that are faster than the client. */
export const limitOfClient = hasWrk ? '' : ' (limited by the client: install wrk)'

/**
 * @typedef {{ method: 'GET' | 'POST' | 'PUT', headers?: Record<string, string>, body?: string, isKeyed?: boolean }} Request a keyed one
 * has a different `Idempotency-Key` each time that it is sent
 * @typedef {{ requests: number, perSecond: number, p50: number, p99: number, failed: number }} Figures latencies in milliseconds
 */

/**
 * Sends a number of requests, by autocannon.
 * @param {string} url
 * @param {{ amount: number, connections?: number, requests: Request[] }} load
 * @returns {Promise<Figures>}
 */
export async function load(url, { connections = 64, requests, amount }) {
  return toFigures(await autocannon({ url, connections, requests, amount }))
}

/**
 * Measures a path, after warming it up, so that only compiled code is compared.
 * @param {string} url
 * @param {{ seconds?: number, connections?: number, requests: Request[], pid?: number }} options
 * `pid` is the process whose processor time is measured
 * @returns {Promise<Figures & { processor?: number }>} with its microseconds of processor time per request
 */
export async function measure(url, { seconds = sized(6, 1), connections = 64, requests, pid }) {
  const run = hasWrk && !isSmallest ? byWrk : byAutocannon
  if (!isSmallest) await run(url, { seconds: 2, connections, requests })
  const before = pid === undefined ? 0 : await processorTime(pid)
  const figures = await run(url, { seconds, connections, requests })
  if (figures.failed > 0) throw new Error(`${figures.failed} requests to ${url} failed`)
  if (pid === undefined) return figures
  const used = (await processorTime(pid)) - before
  return { ...figures, processor: used / figures.requests }
}

/** Microseconds of processor time that all threads of a process have used. */
export async function processorTime(pid) {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = await Promise.all(
    threads.map(async (thread) => {
      const facts = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')
      return Number(facts.split(' ', 1)[0]) / 1000
    }),
  )
  return times.reduce((sum, time) => sum + time, 0)
}

/**
 * Measures several kinds of work in turn, so that whatever else the machine does affects all of them.
 * @template {string} Name
 * @param {Record<Name, () => Promise<Figures>>} works
 * @param {number} rounds odd
 * @returns {Promise<Record<Name, number>>} medians of the requests per second
 */
export async function medians(works, rounds = sized(5, 1)) {
  const names = /** @type {Name[]} */ (Object.keys(works))
  const found = names.map((name) => ({ name, figures: /** @type {number[]} */ ([]) }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, figures } of found) figures.push((await works[name]()).perSecond)
  }
  return /** @type {Record<Name, number>} */ (
    Object.fromEntries(
      found.map(({ name, figures }) => [name, figures.toSorted((a, b) => a - b)[(rounds - 1) / 2]]),
    )
  )
}

/** @param {Request} request */
function withKey(request) {
  return { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } }
}

async function byAutocannon(url, { seconds, connections, requests }) {
  const each = requests.map(({ isKeyed, ...request }) =>
    isKeyed ? { ...request, setupRequest: withKey } : request,
  )
  // So small a time may end on a busy machine before the first response; a number of requests is reached on any.
  const extent = isSmallest ? { amount: 2 * connections } : { duration: seconds }
  return toFigures(await autocannon({ url, connections, requests: each, ...extent }))
}

function toFigures(result) {
  return {
    requests: result['2xx'] ?? 0,
    perSecond: (result['2xx'] ?? 0) / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

async function byWrk(url, { seconds, connections, requests }) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-wrk-'))
  try {
    const script = join(folder, 'requests.lua')
    await writeFile(script, toLua(new URL(url).pathname, requests))
    // On a busy machine, requests wait for longer than the two seconds after which wrk counts them as failed.
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout=20s', '-s', script, url]
    const [, json] = /FIGURES (.*)/.exec(await outputOf('wrk', options)) ?? []
    const { count, failed, duration, p50, p99 } = JSON.parse(json ?? '{}')
    return {
      requests: count - failed,
      perSecond: ((count - failed) / duration) * 1e6,
      p50: p50 / 1000,
      p99: p99 / 1000,
      failed,
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A script that sends the requests in turn, and prints times in microseconds. */
function toLua(path, requests) {
  const quoted = (text) => `"${[...Buffer.from(text)].map((byte) => `\\${byte}`).join('')}"`
  const key = quoted(`${randomUUID()}-`)
  const formatted = requests.map(({ method, headers = {}, body, isKeyed }) => {
    const fields = Object.entries(headers).map(
      ([name, value]) => `[${quoted(name)}]=${quoted(value)}`,
    )
    if (isKeyed) fields.push(`["idempotency-key"]=${key}..sent`)
    const content = body === undefined ? 'nil' : quoted(body)
    const request = `wrk.format(${quoted(method)}, ${quoted(path)}, {${fields.join(',')}}, ${content})`
    return isKeyed ? `function() return ${request} end` : request
  })
  return `
local all, next, sent = {}, 0, 0
init = function() all = {${formatted.join(',\n')}} end
request = function()
  next = next % #all + 1
  sent = sent + 1
  local found = all[next]
  return type(found) == "function" and found() or found
end
done = function(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local form = 'FIGURES {"count":%d,"failed":%d,"duration":%d,"p50":%d,"p99":%d}\\n'
  io.write(form:format(summary.requests, failed, summary.duration, latency:percentile(50), latency:percentile(99)))
end
`
}
