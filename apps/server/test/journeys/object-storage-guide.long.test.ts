import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { fiveMinutes, runAsPasted, tourOf } from '../documents.js'
import { engines } from '../engines.js'
import { startTestServer } from '../harness.js'
import { startTestS3, type TestS3 } from '../s3/server.js'

const guide = 'docs/guides/object-storage.md'

/** The settings after pasting the commands before the start. */
async function settingsAsPasted(s3: TestS3): Promise<Record<string, string>> {
  const setup = await tourOf(guide, 'setup')
  expect(setup.endsWith('npx botstead start\n')).toBe(true)
  const commands = setup
    .replace('http://localhost:9000', s3.endpoint)
    .replace("='key'", `='${s3.accessKeyId}'`)
    .replace("='secret'", `='${s3.secretAccessKey}'`)
    .replace('npx botstead start', 'env -0')
  const { stdout } = await promisify(execFile)('sh', ['-c', commands], { env: {} })
  const pairs = stdout.split('\0').map((line) => line.split(/=(.*)/s).slice(0, 2))
  return Object.fromEntries(pairs.filter(([name = '']) => /^(AWS|BOTSTEAD)_/.test(name)))
}

it('the commands of the guide store contents in an object store and bypass the server', async () => {
  const [engine] = engines
  if (engine === undefined) throw new Error('There is no engine to test on')
  const s3 = await startTestS3()
  try {
    const server = await startTestServer(engine, await settingsAsPasted(s3))
    try {
      const commands = `${await fiveMinutes()}${await tourOf(guide)}`
      const written = await runAsPasted(commands, server)
      const [content, address] = written.trim().split('\n').slice(-2)
      expect(content).toBe('Sent straight to the store.')
      expect(address).toMatch(/^1 http/)
      expect(address?.slice(2).startsWith(`${s3.endpoint}/contents/botstead/`)).toBe(true)
      // Contents that the five minutes and the guide uploaded, under the prefix of this server.
      expect(s3.keys().filter((key) => key.startsWith('botstead/')).length).toBeGreaterThan(2)
    } finally {
      await server.close()
    }
  } finally {
    await s3.close()
  }
})
