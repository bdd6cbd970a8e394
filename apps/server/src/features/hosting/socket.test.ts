import { once } from 'node:events'
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { canHoldSockets, openSocket } from './socket.js'

const self = process.getuid?.() ?? 0

describe('the socket of a program', () => {
  let folder: string
  const cleanups: (() => unknown)[] = []

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'socket-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  /** Listens, and says its name to whoever connects. */
  async function listen(name: string): Promise<string> {
    const path = join(folder, name)
    const server = createServer((socket) => socket.end(name)).listen(path)
    await once(server, 'listening')
    cleanups.push(() => server.close())
    return path
  }

  async function nameAt(path: string): Promise<string> {
    const socket = connect(path)
    const [name] = await once(socket, 'data')
    socket.destroy()
    return String(name)
  }

  it('returns nothing while the file of the socket is missing', async () => {
    expect(await openSocket(join(folder, 'none'), self)).toBeUndefined()
  })

  it('opens the socket', async () => {
    const opened = await openSocket(await listen('own'), self)
    expect(await nameAt(opened?.path ?? '')).toBe('own')
    await opened?.close()
  })

  it('refuses a link, even to a socket', async () => {
    const path = join(folder, 'link')
    await symlink(await listen('victim'), path)
    await expect(openSocket(path, self)).rejects.toThrow()
  })

  it('refuses a file of another kind', async () => {
    const path = join(folder, 'file')
    await writeFile(path, '')
    await expect(openSocket(path, self)).rejects.toThrow('is not a socket')
    await expect(openSocket(folder, self)).rejects.toThrow('is not a socket')
  })

  it('refuses a socket of another user', async () => {
    await expect(openSocket(await listen('own'), self + 1)).rejects.toThrow('another user')
  })

  it.runIf(canHoldSockets())(
    'keeps to the socket that was opened, whatever takes its place',
    async () => {
      const path = await listen('own')
      const opened = await openSocket(path, self)
      await rename(path, join(folder, 'moved'))
      await symlink(await listen('victim'), path)
      expect(await nameAt(path)).toBe('victim')
      expect(await nameAt(opened?.path ?? '')).toBe('own')
      await opened?.close()
    },
  )
})
