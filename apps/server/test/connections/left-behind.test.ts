import { once } from 'node:events'
import { readdir, readlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { useServer } from '../harness.js'

const requests = 200

/** Files below a folder that this process, which includes the server, has open. */
async function openBelow(folder: string): Promise<number> {
  const descriptors = await readdir('/proc/self/fd')
  const targets = await Promise.all(
    descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')),
  )
  return targets.filter((target) => target.startsWith(folder)).length
}

describe.runIf(process.platform === 'linux')('a caller that leaves with responses unsent', () => {
  const server = useServer()

  it('leaves no file open', async () => {
    const { bot } = await server().client().createBot({})
    const runtime = server().client({ botId: bot.id })
    // More than the network buffers, so that the first response blocks all others.
    const bytes = Buffer.alloc(16 * 1024 * 1024, 'x')
    const { file } = await runtime.upsertFile({ key: 'large.bin', size: bytes.length })
    const sent = await fetch(file.uploadUrl, { method: 'PUT', body: bytes })
    expect(sent.status).toBe(200)
    const { pathname, search } = new URL(file.url)
    const blobs = `${server().server.config.dataDir}/blobs`
    const content = `GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`

    const { hostname, port } = new URL(server().url)
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      await vi.waitFor(async () => expect(await openBelow(blobs)).toBe(0))
      const socket = connect(Number(port), hostname).on('error', () => {})
      await once(socket, 'connect')
      socket.pause()
      socket.write(content.repeat(requests))
      await vi.waitFor(async () => expect(await openBelow(blobs)).toBeGreaterThan(2))
      socket[leave]()
    }
    await vi.waitFor(async () => expect(await openBelow(blobs)).toBe(0))
  })
})
