import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { type ServerProcess, startServerProcess } from '../processes.js'
import { type Attack, knownAttacks, randomAttacks, type Targets } from './hostile-bytes.js'

const token = 'a-token-for-tests-only'
const randomCount = 3000
const resetCount = 2500
/** Concurrent connections. */
const width = 40
/** Bytes by which the memory of the process may grow; one stored response per attack would exceed it. */
const memoryBound = 300 * 1024 * 1024

async function prepare({ url: baseUrl }: ServerProcess): Promise<Targets> {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey: key })
  const { conversation } = await chat.chatCreateConversation({})
  const runtime = createClient({ baseUrl, token, botId: bot.id })
  const bytes = Buffer.alloc(200_000, 'x')
  const { file } = await runtime.upsertFile({ key: 'read.bin', size: bytes.length })
  await fetch(file.uploadUrl, { method: 'PUT', body: bytes })
  const { file: open } = await runtime.upsertFile({ key: 'sent.bin', size: 1_000_000 })
  const { pathname, search } = new URL(file.url)
  return {
    listen: `/chat/${webhookId}/conversations/${conversation.id}/listen`,
    userKey: key,
    users: `/chat/${webhookId}/users`,
    content: `${pathname}${search}`,
    upload: new URL(open.uploadUrl).pathname,
  }
}

/** Sends an attack; resolves when its connection is closed, which may take the server a while. */
async function perform(port: number, { pieces, pause, leaving, reads }: Attack): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
  const closed = once(socket, 'close').catch(() => {})
  await Promise.race([once(socket, 'connect').catch(() => {}), closed])
  if (reads) socket.resume()
  for (const piece of pieces) {
    if (socket.destroyed) break
    socket.write(piece)
    if (pause > 0) await sleep(pause)
  }
  if (leaving === 'reset') socket.resetAndDestroy()
  else if (leaving === 'end') socket.end()
  else if (leaving === 'stay') await Promise.race([sleep(30), closed])
  if (leaving !== 'end') socket.destroy()
  else await Promise.race([sleep(50), closed])
  socket.destroy()
  await closed
}

async function performAll(url: string, attacks: readonly Attack[]): Promise<void> {
  const port = Number(new URL(url).port)
  const rest = attacks.values()
  const work = async () => {
    for (const attack of rest) await perform(port, attack)
  }
  await Promise.all(Array.from({ length: width }, work))
}

async function figuresOf({ child, url }: ServerProcess) {
  const process = `/proc/${child.pid}`
  const status = await readFile(`${process}/status`, 'utf8')
  const metrics = await fetch(`${url}/metrics`).then((response) => response.text())
  return {
    descriptors: (await readdir(`${process}/fd`)).length,
    resident: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024,
    failures: metrics
      .split('\n')
      .filter((line) => line.startsWith('botstead_http_requests_total') && line.includes('5xx')),
  }
}

/** Log lines about errors; with `NODE_DEBUG` unset nothing else is written. */
const complaintsOf = (server: ServerProcess) =>
  server
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.includes('"level":"info"'))
    .filter((line) => line.startsWith('(') || /"level":"(warn|error|fatal)"/.test(line))

describe.runIf(process.platform === 'linux')('a server that is sent hostile bytes', () => {
  it('survives, responds, and retains nothing of them', async () => {
    await using place = await createCommandPlace()
    await using server = await startServerProcess({
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
    })
    const targets = await prepare(server)
    const known = knownAttacks(targets)
    const reset = known['a reset at once']
    if (reset === undefined) throw new Error('There is no such attack')
    // Content that is created at first use does not count.
    for (const path of ['/openapi.json', '/docs', targets.content]) {
      await fetch(`${server.url}${path}`).then((response) => response.arrayBuffer())
    }
    const before = await figuresOf(server)

    const attacks = [
      ...Object.values(known),
      ...Array.from({ length: resetCount }, () => reset),
      ...randomAttacks(targets, randomCount),
      ...Object.values(known),
    ]
    await performAll(server.url, attacks)

    expect(server.child.exitCode).toBeNull()
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await vi.waitFor(async () => {
      const { descriptors } = await figuresOf(server)
      expect(descriptors).toBeLessThanOrEqual(before.descriptors + 5)
    })
    const after = await figuresOf(server)
    expect(after.failures).toEqual([])
    expect(after.resident - before.resident).toBeLessThan(memoryBound)
    expect(complaintsOf(server)).toEqual([])
    // At most one line per refused request.
    expect(server.output().split('\n').length).toBeLessThan(attacks.length * 10)
    expect(await server.stop()).toBe(0)
  })
})
