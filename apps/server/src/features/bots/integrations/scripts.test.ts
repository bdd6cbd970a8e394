import { describe, expect, it, vi } from 'vitest'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

describe('scripts of an integration', () => {
  const server = useServer()
  const admin = () => existingClient(server())
  let count = 0
  const named = () => ({ name: `scripted-${++count}`, version: '1.0.0' })

  const good = { extractScript: 'parse_json!(.body).page', fallbackHandlerScript: '{ "body": "" }' }
  const refused = (field: string, message: string) => ({
    type: 'InvalidPayload',
    message: expect.stringContaining(`body.${field} does not compile: ${message}`),
    metadata: { in: 'body', field },
  })

  it.each([
    ['a fault of grammar', 'foo(', 'line 1, column 5: syntax error, unexpected end of program'],
    ['an unhandled error', '# ü\nx = "ü" + .b', 'line 2, column 5: unhandled fallible assignment'],
    ['an unknown function', '.a = "ä"; fly()', 'line 1, column 11: call to undefined function'],
  ])('are refused with the place of %s', async (_, script, message) => {
    const patch = { identifier: { ...good, fallbackHandlerScript: script } }
    const error = refused('identifier.fallbackHandlerScript', message)
    await expect(admin().createIntegration({ ...named(), ...patch })).rejects.toMatchObject(error)
    const validated = admin().validateIntegrationCreation({ ...named(), ...patch })
    await expect(validated).rejects.toMatchObject(error)
    const { integration } = await admin().createIntegration({ ...named(), identifier: good })
    const { id } = integration
    await expect(admin().updateIntegration({ id, ...patch })).rejects.toMatchObject(error)
    await expect(admin().validateIntegrationUpdate({ id, ...patch })).rejects.toMatchObject(error)
    const { integration: now } = await admin().getIntegration({ id })
    expect(now.identifier).toEqual(good)
  })

  it('are checked in every configuration too, and not run', async () => {
    const link = (linkTemplateScript: string) => ({
      schema: {},
      identifier: { linkTemplateScript },
    })
    const make = (configuration: string, other: string) =>
      admin().createIntegration({
        ...named(),
        configuration: link(configuration),
        configurations: { other: link(other) },
      })
    await expect(make('a b', 'null')).rejects.toMatchObject(
      refused('configuration.identifier.linkTemplateScript', 'line 1'),
    )
    await expect(make('null', '\n b')).rejects.toMatchObject(
      refused('configurations.other.identifier.linkTemplateScript', 'line 2, column 2'),
    )
    const { integration } = await make('assert!(false, "It is run")', 'abort')
    await admin().updateIntegration({
      id: integration.id,
      identifier: { extractScript: null },
    } as never)
  })

  it('that cost the compiler too much are refused, and those of others are not', async () => {
    const other = existingClient(server(), await addAccount(server()))
    const nested = { extractScript: `${'['.repeat(9000)}${']'.repeat(9000)}` }
    // On a busy machine the suspension would end before it is seen.
    await server().clock.hold(async () => {
      const costly = other.createIntegration({ ...named(), identifier: nested })
      await expect(costly).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: expect.stringMatching(
          /^body\.identifier\.extractScript .*(too much memory|longer)/,
        ),
      })
      const made = other.createIntegration({ ...named(), identifier: good })
      await expect(made).rejects.toMatchObject({ type: 'RateLimited' })
    })
    await admin().createIntegration({ ...named(), identifier: good })
    server().clock.advance(15_000)
    await other.createIntegration({ ...named(), identifier: good })
  })

  it('may be names of files in development, which its log says', async () => {
    const linkTemplateScript = 'linkTemplate.vrl'
    const { integration } = await admin().createIntegration({
      ...named(),
      dev: true,
      identifier: { extractScript: 'extract.vrl', fallbackHandlerScript: 'foo(' },
      configuration: { schema: {}, identifier: { linkTemplateScript } },
    })
    const lines = async () => {
      const from = { id: integration.id, timeStart: '2000-01-01T00:00:00Z' }
      const { logs } = await admin().getIntegrationLogs(from)
      return logs.map(({ message }) => message).toSorted()
    }
    await vi.waitFor(async () =>
      expect(await lines()).toEqual([
        expect.stringMatching(
          /^configuration\.identifier\.linkTemplateScript is the name of a file/,
        ),
        expect.stringMatching(/^identifier\.extractScript is the name of a file, extract\.vrl/),
        expect.stringContaining(
          'identifier.fallbackHandlerScript does not compile: line 1, column 5',
        ),
      ]),
    )
    // Tools send the same again after every change of the code.
    await admin().updateIntegration({
      id: integration.id,
      identifier: { extractScript: 'extract.vrl', fallbackHandlerScript: 'bar(' },
    })
    await vi.waitFor(async () => expect(await lines()).toHaveLength(4))
  })
})
