// A page of the bots of a workspace, beside an empty response.
import { join } from 'node:path'
import { load, measure } from './load.mjs'
import { withBenchServer } from './processes.mjs'
import { adminHeadersOf } from './request.mjs'
import { sized } from './size.mjs'
import { waits } from './table.mjs'

const botCount = sized(10_000, 128)

/** A page of 20 bots of a workspace that has many. */
export async function measureBots(folder) {
  return await withBenchServer(join(folder, 'bots'), async (server) => {
    const { address } = server
    const headers = adminHeadersOf(server)
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
