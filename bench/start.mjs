// The start of the command on a large data folder, and its memory at rest.
import { join } from 'node:path'
import { load } from './load.mjs'
import { timeStart, withBenchServer } from './processes.mjs'
import { adminHeadersOf, json, request } from './request.mjs'
import { sized } from './size.mjs'

const megabyte = 1024 * 1024
const startFiles = 10
/** Bytes of each file, and conversations, in the data folder of which a server starts. */
const startBytes = sized(100, 1) * megabyte
const startConversations = sized(50_000, 128)

/** Start of the real command on a data folder of about 1 GB, and its idle memory. */
export async function measureStart(folder) {
  const dataDir = join(folder, 'start')
  await withBenchServer(dataDir, async (server) => {
    const { bot } = await request(
      `${server.address}/v1/admin/bots`,
      'POST',
      adminHeadersOf(server),
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
  await timeStart(dataDir)
  const { milliseconds, megabytes } = await timeStart(dataDir)
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
