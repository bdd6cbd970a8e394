// Measures the cost of each step of the HTTP layer, compared with the bare framework.
import { join } from 'node:path'
import { limitOfClient, measure, medians } from './load.mjs'
import { startBareServer, startBenchServer } from './processes.mjs'
import { sized } from './size.mjs'

const payload = { type: 'text', text: 'Is the station open on Sunday?' }
const body = JSON.stringify({ conversationId: 'conv_01JABCDEFGHJKMNPQRSTVWXYZ0', payload })
const seconds = sized(2, 1)

/** An empty POST with the body of a message, one step of the layer after the other. */
export async function measureHttp(folder) {
  const bare = await startBareServer()
  const server = await startBenchServer(join(folder, 'http'))
  const logging = await startBenchServer(join(folder, 'http-log'), { BENCH_LOG_LEVEL: 'debug' })
  /** Microseconds of processor time per request, by the name of the work. */
  const processor = {}
  const post = (name, { address, pid }, path, headers = {}) => {
    const json = { 'content-type': 'application/json', ...headers }
    const times = []
    processor[name] = times
    return async () => {
      const figures = await measure(`${address}${path}`, {
        seconds,
        requests: [{ method: 'POST', headers: json, body }],
        pid,
      })
      times.push(figures.processor)
      return figures
    }
  }
  try {
    const found = await medians({
      bare: post('bare', bare, '/bench/empty'),
      plain: post('plain', server, '/bench/plain'),
      validated: post('validated', server, '/bench/empty'),
      admitted: post('admitted', server, '/bench/admitted', {
        authorization: `Bearer ${server.token}`,
      }),
      logged: post('logged', logging, '/bench/empty'),
    })
    // Beside the rates, because these also depend on what else the machine does.
    const middle = (times) => times.toSorted((a, b) => a - b)[times.length >> 1]
    const row = (work, name) => ({
      work,
      figure: `${Math.round(found[name]).toLocaleString('en')} /s, ${middle(processor[name]).toFixed(1)} µs of processor time${limitOfClient}`,
      ...(name !== 'bare' && { against: 'bare framework', ratio: found[name] / found.bare }),
    })
    return [
      row('POST, bare framework with the schema of a message', 'bare'),
      row('POST without a schema: connections, ids, origins, limits by address', 'plain'),
      { ...row('POST, and the body validated', 'validated'), budget: 0.75 },
      row('POST, and the caller authenticated', 'admitted'),
      row('POST, validated, with a log line', 'logged'),
    ]
  } finally {
    for (const each of [bare, server, logging]) await each.stop()
  }
}
