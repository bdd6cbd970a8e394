import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'

const hour = 60 * 60 * 1000

/**
 * Receivers at one address that respond with the statuses in their paths and record the requests.
 */
async function startReceivers() {
  const calls: { path: string; operation: unknown; status: number }[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const statuses = path.split('/').filter(Boolean).map(Number)
    const status = statuses[Math.min(of(path).length, statuses.length - 1)] ?? 200
    calls.push({ path, operation: request.headers['x-bp-operation'], status })
    request.resume()
    response.writeHead(status).end(JSON.stringify({ message: `said ${status}` }))
  })
  const of = (path: string) => calls.filter((call) => call.path === path)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('No port was given')
  return { url: `http://127.0.0.1:${address.port}`, of }
}

describe('a bot that gets an address', () => {
  const server = useServer()

  it('is called with register up to four times, until it accepts or refuses', async () => {
    const { url, of } = await startReceivers()
    const admin = server().client()
    const make = async (path: string) => (await admin.createBot({ url: `${url}${path}` })).bot.id
    const taken = await make('/429/503/302/200')
    const refused = await make('/408/404')
    const given = await make('/500')
    const logOf = async (id: string) => {
      const { logs } = await admin.getBotLogs({ id, timeStart: '2000-01-01T00:00:00Z' })
      return logs.map(({ level, message }) => [level, message])
    }
    const statuses = (path: string) => of(path).map(({ status }) => status)
    await eventually(async () => {
      await server().pass(hour)
      // Workers read the clock when a job of their kind is enqueued.
      await make('/200')
      expect(statuses('/429/503/302/200')).toEqual([429, 503, 302, 200])
      expect(statuses('/408/404')).toEqual([408, 404])
      expect(await logOf(given)).toEqual([['warn', expect.stringContaining('said 500')]])
    })
    expect(statuses('/500')).toEqual([500, 500, 500, 500])
    // A bot that is not there yet is no failure of the server.
    expect((await admin.listJobs({ state: 'dead' })).jobs).toEqual([])
    expect(new Set(of('/500').map(({ operation }) => operation))).toEqual(new Set(['register']))
    expect(await logOf(taken)).toEqual([])
    expect(await logOf(refused)).toEqual([['warn', expect.stringContaining('said 404')]])
  })
})
