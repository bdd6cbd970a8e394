import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { withoutProxies } from '../documents.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

const program = fileURLToPath(new URL('../processes/quiet-listener.mjs', import.meta.url))
const quietMs = 60_000

const server = useServer()

it('the existing chat client in Node still listens after a quiet minute', async () => {
  const { webhookId } = await makeBot(server())
  const command = [program, `${server().url}/chat/${webhookId}`, String(quietMs)]
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    env: withoutProxies(process.env),
  })
  expect(stdout).toBe('heard: Anybody there?\n')
})
