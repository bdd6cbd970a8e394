import { Writable } from 'node:stream'
import { createClient } from '@botstead/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLog } from '../../src/platform/telemetry/log.js'
import { describeSlow } from '../engines.js'
import { startTestServer } from '../harness.js'
import { programEntry } from '../programs.js'
import { untilIndexed } from '../tenant.js'
import { claimUnknownPlatform } from '../unknown-platform.js'

// On SQLite the extension has no build for the platform, here and in the search thread; the PostgreSQL
// of the tests has no pgvector.
let restore: () => void
beforeAll(() => {
  restore = claimUnknownPlatform()
})
afterAll(() => {
  restore()
})
const findEntry = programEntry('find-worker-without-vectors')

describeSlow('a database that cannot compare vectors', (engine) => {
  it('is searched by words, and reports it in the header, the log and the probe', async () => {
    const lines: string[] = []
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk))
        done()
      },
    })
    const log = await createLog({ level: 'warn', destination })
    const server = await startTestServer(engine, {}, log, { findEntry })
    try {
      const reason = engine.name === 'sqlite' ? 'sqlite-vec has no build' : 'has no pgvector'
      expect(lines.filter((line) => line.includes('search goes by words alone'))).toHaveLength(1)
      expect(lines.join('')).toContain(reason)
      const ready = await server.fetch('/readyz')
      expect(ready.status).toBe(200)
      expect(await ready.text()).toContain(reason)

      const { bot } = await server.client().createBot({})
      const bots = createClient({ baseUrl: server.url, token: server.token, botId: bot.id })
      // Enough passages for vectors.
      const content = Array.from({ length: 60 }, (_, at) => `# Pump ${at}\n\nValve v${at}z leaks.`)
      const text = content.join('\n\n')
      const { file } = await bots.upsertFile({ key: 'a.md', size: text.length, index: true })
      await fetch(file.uploadUrl, { method: 'PUT', body: text })
      expect((await untilIndexed(bots, file.id)).status).toBe('indexing_completed')

      const response = await server.fetch(
        '/v1/files/search?query=valve+v7z&contextDepth=0&limit=1',
        {
          headers: { authorization: `Bearer ${server.token}`, 'x-bot-id': bot.id },
        },
      )
      expect(response.headers.get('x-search-degraded')).toBe('semantic-unavailable')
      const { degraded } = await bots.explainSearch({ query: 'valve v7z' })
      expect(degraded).toEqual(['semantic-unavailable'])
      expect(await response.json()).toMatchObject({
        passages: [{ content: expect.stringContaining('v7z') }],
      })
    } finally {
      await server.close()
    }
    // Neither the job that would make vectors nor the search fails.
    expect(lines.filter((line) => line.includes('failed'))).toEqual([])
  })
})
