import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { describe, expect, inject, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { type ServerProcess, startServerProcess } from '../processes.js'
import { receivedBy, request, untilClosed } from '../raw-http.js'

const token = 'a-token-for-tests-only'
const content = 'x'.repeat(1000)
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n'

async function startWith(environment: Record<string, string>): Promise<ServerProcess> {
  return await startServerProcess({ ...environment, BOTSTEAD_ADMIN_TOKEN: token })
}

/** A file whose content has begun to arrive at the server. */
async function beginUpload({ url: baseUrl }: ServerProcess) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const workspaceId = workspaces[0]?.id ?? ''
  const { bot } = await createClient({ baseUrl, token, workspaceId }).createBot({})
  const runtime = createClient({ baseUrl, token, botId: bot.id })
  const { file } = await runtime.upsertFile({ key: 'slow', size: content.length })
  const { port, pathname } = new URL(file.uploadUrl)
  const socket = connect(Number(port), '127.0.0.1')
  const received = receivedBy(socket)
  socket.write(
    `PUT ${pathname} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${content.length}\r\n\r\n`,
  )
  // The server's request for the content shows that it is processing.
  await vi.waitFor(() => expect(received()).toBe(proceed))
  socket.write(content.slice(0, 500))
  const response = untilClosed(socket).then(() => received().replace(proceed, ''))
  return { socket, response, botId: bot.id, fileId: file.id }
}

/** The settings that make the process fail when it gets a signal. */
const faulty = {
  NODE_OPTIONS: `--import ${new URL('../processes/fault.mjs', import.meta.url).href}`,
}

/** Sends a signal and waits until the process logs a message about it. */
async function signal(server: ServerProcess, message: string): Promise<void> {
  server.child.kill('SIGTERM')
  await vi.waitFor(() => expect(server.output()).toContain(`"msg":"${message}"`), {
    interval: 10,
  })
}

/**
 * Waits until nothing responds at an address. A promise is not given to `expect`, which would count an attempt that fails
 * as a failure of whichever concurrent test ends meanwhile.
 */
async function untilUnreachable(url: string): Promise<void> {
  await vi.waitFor(async () => {
    const isReached = await fetch(url).then(
      () => true,
      () => false,
    )
    expect(isReached).toBe(false)
  })
}

// In parallel, because most of the time is spent waiting.
describe.concurrent('a server that gets a signal to stop', () => {
  it('finishes an upload, accepts no new call, and exits with status 0', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '5m' }
    await using server = await startWith(environment)
    const { socket, response, botId, fileId } = await beginUpload(server)
    await signal(server, 'stopping')
    await untilUnreachable(`${server.url}/healthz`)
    socket.write(content.slice(500))
    expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(await server.exited).toBe(0)
    expect(server.output()).toContain('"msg":"stopped"')
    expect(server.output()).not.toMatch(/"level":"(warn|error)"/)

    await using again = await startWith(environment)
    const runtime = createClient({ baseUrl: again.url, token, botId })
    const { file } = await runtime.getFile({ id: fileId })
    expect(file).toMatchObject({ status: 'upload_completed', size: content.length })
  })

  it('says at /readyz that it is stopping, to who has a connection, while a request is open', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '5m' }
    await using server = await startWith(environment)
    const { socket, response } = await beginUpload(server)
    /** A probe whose last line is still to come: its response shows that the server has read the rest. */
    const beginProbe = async (path: string) => {
      const probe = connect(Number(new URL(server.url).port), '127.0.0.1')
      const received = receivedBy(probe)
      probe.write(`${request('GET /healthz')}GET ${path} HTTP/1.1\r\nHost: localhost\r\n`)
      await vi.waitFor(() => expect(received()).toContain('"status":"ok"'))
      const before = received().length
      return async () => {
        probe.write('\r\n')
        await untilClosed(probe)
        return received().slice(before)
      }
    }
    const endReadiness = await beginProbe('/readyz')
    const endHealth = await beginProbe('/healthz')
    await signal(server, 'stopping')
    await untilUnreachable(`${server.url}/readyz`)
    const readiness = await endReadiness()
    expect(readiness).toMatch(/^HTTP\/1\.1 503 /)
    expect(readiness).toMatch(/\r\nretry-after: 5\r\n/i)
    expect(readiness).toContain('The server is not ready: it is stopping.')
    expect(await endHealth()).toMatch(/^HTTP\/1\.1 200 .*"status":"ok"/s)
    socket.write(content.slice(500))
    expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(await server.exited).toBe(0)
  })

  it('cuts off an upload that takes too long, and exits with status 0', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '500ms' }
    await using server = await startWith(environment)
    const { response } = await beginUpload(server)
    await signal(server, 'stopping')
    expect(await response).toBe('')
    expect(await server.exited).toBe(0)
    expect(server.output()).toContain('"msg":"stopped"')
  })

  it('ends at once at a second signal', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '5m' }
    await using server = await startWith(environment)
    const { response } = await beginUpload(server)
    await signal(server, 'stopping')
    await signal(server, 'stopping at once')
    expect(await server.exited).toBe(1)
    expect(await response).toBe('')
  })

  it('ends without connections', async () => {
    await using place = await createCommandPlace()
    await using server = await startWith(place.environment)
    expect(await server.stop('SIGINT')).toBe(0)
  })

  it('ends in order also if it comes at the moment at which the server is ready', async () => {
    await using place = await createCommandPlace()
    const env = { ...process.env, ...place.environment, PORT: '0', BOTSTEAD_ADMIN_TOKEN: token }
    const child = spawn(process.execPath, [inject('command'), 'start'], { env })
    let written = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const wasReady = written.includes('"msg":"listening"')
      written += chunk
      if (!wasReady && written.includes('"msg":"listening"')) child.kill('SIGINT')
    })
    const [status] = await once(child, 'close')
    expect(status, written).toBe(0)
    expect(written).toContain('"msg":"stopped"')
  })
})

describe.concurrent('a server with an uncaught exception', () => {
  it.each([
    ['SIGUSR2', 'an unexpected error'],
    ['SIGWINCH', 'an unhandled rejection'],
  ] as const)(
    '(%s) logs it once, finishes open requests, and exits with status 1',
    async (cause, message) => {
      await using place = await createCommandPlace()
      // The longest that a server waits after a fault is ten seconds.
      const environment = { ...place.environment, ...faulty, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '10s' }
      await using server = await startWith(environment)
      const { socket, response } = await beginUpload(server)
      server.child.kill(cause)
      await vi.waitFor(() => expect(server.output()).toContain('"level":"fatal"'))
      server.child.kill(cause)
      await untilUnreachable(`${server.url}/healthz`)
      socket.write(content.slice(500))
      expect(await response).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(await server.exited).toBe(1)
      const fatal = server
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":"fatal"'))
      expect(fatal).toHaveLength(1)
      expect(JSON.parse(fatal[0] ?? '').err).toMatchObject({ message, stack: expect.any(String) })
    },
  )

  it('cuts off what takes too long', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, ...faulty, BOTSTEAD_SHUTDOWN_TIMEOUT_MS: '500ms' }
    await using server = await startWith(environment)
    const { response } = await beginUpload(server)
    server.child.kill('SIGUSR2')
    expect(await response).toBe('')
    expect(await server.exited).toBe(1)
  })

  it.each([
    ['SIGUSR2', 'with an exception'],
    ['SIGTERM', 'at a second signal'],
  ] as const)('(%s) ends %s, also while a call to a disk does not return', async (cause, _) => {
    await using place = await createCommandPlace()
    const environment = {
      ...place.environment,
      ...faulty,
      TEST_PIPE: join(place.dataDir, 'pipe'),
      BOTSTEAD_SHUTDOWN_TIMEOUT_MS: cause === 'SIGTERM' ? '5m' : '500ms',
    }
    await using server = await startWith(environment)
    const { response } = await beginUpload(server)
    if (cause === 'SIGTERM') await signal(server, 'stopping')
    server.child.kill(cause)
    expect(await response).toBe('')
    // Killed: an exit would wait for the call.
    expect(await server.exited).toBe(null)
    expect(server.output()).toContain('a call to a disk does not return, the process is killed')
  })
})
