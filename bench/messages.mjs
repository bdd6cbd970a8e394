// Chat messages through the interface, beside the bare framework.
import { join } from 'node:path'
import { limitOfClient, measure, medians } from './load.mjs'
import { startBareServer, withBenchServer } from './processes.mjs'
import { adminHeadersOf, chatOf, json, request } from './request.mjs'
import { sized } from './size.mjs'
import { rate, waits } from './table.mjs'

/** Chat messages, each durable before its response, over 64 connections in 64 conversations. */
export async function measureMessages(folder) {
  return await withBenchServer(join(folder, 'messages'), async (server) => {
    const { address } = server
    const { bot } = await request(`${address}/v1/admin/bots`, 'POST', adminHeadersOf(server), {})
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
