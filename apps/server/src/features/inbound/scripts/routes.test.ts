import { describe, expect, it } from 'vitest'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

describe('scripts in VRL', () => {
  const server = useServer()
  const admin = () => existingClient(server())

  it('change their data, and return the value of the last expression', async () => {
    const script = '.seen = true\nparse_json!(.body).team'
    const data = { body: '{"team": "T1"}', half: '\ud800' }
    expect(await admin().runVrl({ data, script })).toEqual({
      data: { ...data, half: '\ufffd', seen: true },
      result: 'T1',
    })
    expect(await admin().runVrl({ data: {}, script: '. = "text"; null' })).toEqual({
      data: {},
      result: null,
    })
  })

  it.each([
    ['a fault of grammar', 'foo(', /^body\.script: .*syntax error/s],
    ['an expression that may fail', 'get_env_var("HOME")', /unhandled error/],
    ['a failure', 'parse_json!("nope")', /unable to parse json/],
    ['a request to the network', 'dns_lookup!("localhost")', /not supported/],
    ['its own end', 'abort', /aborted/],
  ])('report %s', async (_, script, message) => {
    await expect(admin().runVrl({ data: {}, script })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringMatching(message),
    })
  })

  const loop = (depth: number): string =>
    depth === 0
      ? '.count = 1'
      : `for_each(numbers) -> |_i${depth}, v${depth}| { ${loop(depth - 1)}\n.last = v${depth} }`

  it.each([
    ['takes too long', `numbers = [${Array(100).fill(1)}]\n${loop(8)}`],
    ['uses too much memory', `x = "${'a'.repeat(64)}"\n${'x = x + x\n'.repeat(30)}`],
    ['is nested too deeply', `${'['.repeat(9000)}${']'.repeat(9000)}`],
  ])('are ended when one %s, and suspend its workspace for a while', async (_, script) => {
    const other = existingClient(server(), await addAccount(server()))
    // A busy machine may spend the time before the memory.
    await expect(other.runVrl({ data: {}, script })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringMatching(/takes longer than|too much memory|nested too deeply/),
    })
    await expect(other.runVrl({ data: {}, script: '1' })).rejects.toMatchObject({
      message: expect.stringContaining('a moment ago'),
    })
    expect((await admin().runVrl({ data: {}, script: '1' })).result).toBe(1)
    server().clock.advance(15_000)
    expect((await other.runVrl({ data: {}, script: '1' })).result).toBe(1)
  })

  it('do not keep the server from responding', async () => {
    const slow = admin().runVrl({
      data: {},
      script: `numbers = [${Array(100).fill(1)}]\n${loop(8)}`,
    })
    const ended = expect(slow).rejects.toMatchObject({ type: 'InvalidPayload' })
    await admin().getAccount({})
    await ended
    server().clock.advance(15_000)
  })
})
