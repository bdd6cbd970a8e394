import { expect, it } from 'vitest'
import { engines } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { startTestServer } from '../../../../test/harness.js'
import { createLog } from '../../../platform/telemetry/log.js'

const [engine] = engines

it('logs each pattern of a stored definition that is not checked, with its owner', async () => {
  if (engine === undefined) throw new Error('There is no engine to test on')
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const log = await createLog({ level: 'warn', destination })
  const server = await startTestServer(engine, {}, log)
  const message = 'a pattern of a JSON schema is not checked'
  const warnings = () =>
    lines
      .splice(0)
      .flatMap(({ msg, botId, integrationId, field, pattern }) =>
        msg === message ? [{ botId, integrationId, field, pattern }] : [],
      )
  const schema = { type: 'object', properties: { word: { pattern: '^(?!no)' } } }
  try {
    const { bot } = await server.client().createBot({ events: { said: { schema } } })
    const ofEvent = { field: 'events.said.schema', pattern: '^(?!no)' }
    expect(warnings()).toEqual([{ botId: bot.id, integrationId: undefined, ...ofEvent }])

    const states = { seen: { type: 'bot', schema } } as const
    await server.client().updateBot({ id: bot.id, events: { said: null }, states })
    const ofState = { field: 'states.seen.schema', pattern: '^(?!no)' }
    expect(warnings()).toEqual([{ botId: bot.id, integrationId: undefined, ...ofState }])

    const { integration } = await existingClient(server).createIntegration({
      name: 'mail',
      version: '1.0.0',
      title: 'Mail',
      url: 'http://localhost:9/',
      actions: { send: { input: { schema }, output: { schema: {} } } },
    })
    const ofAction = { field: 'actions.send.input.schema', pattern: '^(?!no)' }
    const expected = [{ botId: undefined, integrationId: integration.id, ...ofAction }]
    expect(warnings()).toEqual(expected)

    await existingClient(server).updateIntegration({ id: integration.id, title: 'Post' })
    expect(warnings()).toEqual(expected)

    // A definition may have thousands of them, and each update would log them all.
    const patterns = Array.from({ length: 30 }, (_, at) => ({ pattern: `^(?!no${at})` }))
    const many = { type: 'object', properties: { word: { allOf: patterns } } }
    await server.client().updateBot({ id: bot.id, states: { seen: { type: 'bot', schema: many } } })
    const logged = lines.splice(0)
    expect(logged.filter(({ msg }) => msg === message)).toHaveLength(20)
    expect(logged).toContainEqual(expect.objectContaining({ botId: bot.id, patterns: 30 }))

    // A refused definition is not stored, and so not logged.
    const refused = { ...states, seen2: { type: 'bot', schema: { type: 'nothing' } } } as const
    await expect(server.client().updateBot({ id: bot.id, states: refused })).rejects.toThrow()
    expect(lines.filter(({ msg }) => msg === message)).toEqual([])
  } finally {
    await server.close()
  }
})
