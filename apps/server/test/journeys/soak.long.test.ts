import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@botstead/contract'
import { expect, inject, it } from 'vitest'
import { startBot } from '../bot-server.js'
import { listenBySocket, listenRaw, type RawAddress } from '../listening/raw-stream.js'
import { growth, type LiveHeap, readLiveHeap } from '../live-heap.js'
import { Patience } from '../patience.js'
import { freePort } from '../ports.js'
import { untilIndexed } from '../tenant.js'

/** The resources that a server holds, as far as they are counted quickly. */
interface Counts {
  /** Bytes of the heap after a collection, including compiled code. */
  heapUsed: number
  descriptors: number
  timers: number
}

/** The resources that a server holds. */
interface Held extends Counts {
  heap: LiveHeap
}

/** Rounds before the first measurement, which fill caches and pools. */
const warmUp = 50
const rounds = 120
/** One document is indexed again every so many rounds. */
const readEvery = 5
/** Concurrent lanes of rounds. */
const lanes = 8
/** Bytes by which memory may grow. A leak of 1 kB in one step of a round exceeds it. */
const tolerance = rounds * 500
/** Connections that clients keep open, and timers of periodic work. */
const slack = 12
/** Milliseconds of fair time for resources that a server holds for a moment, such as a topic without listeners. */
const momentMs = 60_000
/** Milliseconds between two looks at the size of the heap, and the looks without a smaller one. */
const look = { pause: 500, count: 3 }

/** Key of the file whose upload is interrupted in every round. */
const unfinished = 'broken.bin'
const token = 'a-token-for-tests-only'
const probe = fileURLToPath(new URL('../processes/measured.mjs', import.meta.url))
const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }
const large = Buffer.alloc(600_000, 'content ')

it.skipIf(!existsSync('/proc/self/fd'))(
  'a server holds no more resources after many rounds of mixed work than before',
  async () => {
    await using place = await startMeasured()
    const go = await prepare(place)
    await go(warmUp)
    const before = await settled(place)
    await go(rounds)
    const after = await untilFlat(place, before)
    const classes = growth(before.heap, after.heap).map(({ of, bytes }) => `${of}: ${bytes}`)
    expect(
      grownBytes(before, after),
      `bytes more than before, most of them of ${classes.slice(0, 12).join('; ')}`,
    ).toBeLessThan(tolerance)
    expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(slack)
    expect(after.timers - before.timers).toBeLessThanOrEqual(slack)
  },
  1_200_000,
)

/**
 * The bytes of all classes that hold more than before. Those that hold less do not count: buffers that a cache
 * has let go would hide a leak ten times the tolerance.
 */
function grownBytes(before: Held, after: Held): number {
  return growth(before.heap, after.heap).reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The resources after the last round has ended for the server too, when its heap stops shrinking. */
async function settled(place: Measured): Promise<Held> {
  let least = (await place.count()).heapUsed
  for (let stable = 0; stable < look.count; ) {
    await sleep(look.pause)
    const now = (await place.count()).heapUsed
    stable = now < least - 20_000 ? 0 : stable + 1
    least = Math.min(least, now)
  }
  return await place.measure()
}

/** The resources when they are as low as before, or after a timeout. */
async function untilFlat(place: Measured, before: Held): Promise<Held> {
  const patience = new Patience(momentMs)
  for (;;) {
    const now = await settled(place)
    const isFlat =
      grownBytes(before, now) < tolerance &&
      now.descriptors - before.descriptors <= slack &&
      now.timers - before.timers <= slack
    if (isFlat || patience.isOver(look.count * look.pause)) return now
    await untilReleased(place, patience)
  }
}

/**
 * Waits until the server holds less, such as an idle connection, or for a timeout: to look at every object again
 * takes two seconds of the processor.
 */
async function untilReleased(place: Measured, patience: Patience): Promise<void> {
  const pause = 4 * look.pause
  const first = await place.count()
  while (!patience.isOver(pause)) {
    await sleep(pause)
    const { heapUsed, descriptors, timers } = await place.count()
    const isLess = heapUsed < first.heapUsed - 4000
    if (isLess || descriptors < first.descriptors || timers < first.timers) return
  }
}

/** Creates the objects for the rounds; returns the function that performs a round. */
async function prepare({ url }: Measured) {
  const account = { baseUrl: url, token }
  const { workspaces } = await createClient(account).listWorkspaces()
  const admin = createClient({ ...account, workspaceId: workspaces[0]?.id ?? '' })
  const address = await startBot(async () => {})
  const { bot } = await admin.createBot({ url: address })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const client = createClient({ ...account, botId: bot.id })

  async function upload(key: string, content: string | Buffer, index = false) {
    const { file } = await client.upsertFile({ key, size: Buffer.byteLength(content), index })
    const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    return file.id
  }

  /** Like a client that was interrupted and resumes; a job assembles the parts. */
  async function uploadInParts(key: string, parts: string[]): Promise<void> {
    const { file } = await client.upsertFile({ key, size: Buffer.byteLength(parts.join('')) })
    let offset = 0
    for (const body of parts) {
      const headers = { ...tus, 'upload-offset': String(offset) }
      const { status } = await fetch(file.uploadUrl, { method: 'PATCH', headers, body })
      expect(status).toBe(204)
      offset += Buffer.byteLength(body)
    }
  }

  const text = Array.from({ length: 20 }, (_, at) => `## Part ${at}\n\nThe pump number ${at}.`)
  // Every round searches in it.
  await untilIndexed(client, await upload('manual.md', `# Manual\n\n${text.join('\n\n')}`, true))
  const largeId = await upload('large.bin', large)
  const { file: broken } = await client.upsertFile({ key: unfinished, size: 500_000 })

  async function openLane(lane: number) {
    const { key: userKey } = await createClient({ baseUrl: url, webhookId }).chatCreateUser({})
    const chat = createClient({ baseUrl: url, webhookId, userKey })
    const { id: conversationId } = (await chat.chatCreateConversation({})).conversation
    const room: RawAddress = { url, webhookId, userKey, conversationId }
    const indexedId = await upload(`lane-${lane}.md`, `# Lane ${lane}\n\nOne paragraph.`, true)

    const say = (words: string) =>
      chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: words } })

    /** Listens until a message arrives, which the bot receives too, and disconnects. */
    async function listen(begin: typeof listenRaw, round: number): Promise<void> {
      const listener = await begin(room)
      const words = `Message ${round}`
      await say(words)
      await listener.until((heard) => heard.some(({ data }) => textOf(data) === words))
      listener.close()
      await listener.ended
    }

    async function download(isBroken: boolean): Promise<void> {
      const { url: contentUrl } = (await client.getFile({ id: largeId })).file
      const stop = new AbortController()
      const response = await fetch(contentUrl, { signal: stop.signal })
      expect(response.status).toBe(200)
      if (isBroken) stop.abort()
      else expect((await response.arrayBuffer()).byteLength).toBe(large.length)
    }

    async function refusals(): Promise<void> {
      const bearer = { authorization: `Bearer ${token}`, 'x-bot-id': bot.id }
      const json = { ...bearer, 'content-type': 'application/json' }
      const answers = await Promise.all([
        fetch(`${url}/v1/files`, { headers: { authorization: 'Bearer wrong' } }),
        fetch(`${url}/v1/nowhere`, { headers: bearer }),
        fetch(`${url}/v1/files`, { method: 'PUT', headers: json, body: '{"key":' }),
        fetch(`${url}/v1/files/no-such-file`, { headers: bearer }),
        fetch(`${url}/v1/files`, { method: 'PUT', headers: json, body: '{"key":1}' }),
      ])
      expect(answers.map(({ ok }) => ok)).not.toContain(true)
      for (const answer of answers) await answer.arrayBuffer()
      await expect(listenBySocket({ ...room, userKey: 'wrong' })).rejects.toThrow('refused')
    }

    return async (round: number): Promise<void> => {
      const { passages } = await client.searchFiles({ query: `pump number ${round % 20}` })
      expect(passages.length).toBeGreaterThan(0)
      await listen(listenRaw, round)
      await listen(listenBySocket, round)
      await upload(`lane-${lane}.txt`, `Content ${round}`)
      await uploadInParts(`lane-${lane}-parts.txt`, ['One part, ', `and another of ${round}`])
      await breakOff(broken.uploadUrl, 'PUT')
      await download(false)
      await download(true)
      // Indexing a document takes longer than the rest of a round.
      if (round % readEvery === 0) {
        await client.reindexFile({ id: indexedId })
        await untilIndexed(client, indexedId)
      }
      await refusals()
    }
  }

  const all = await Promise.all(Array.from({ length: lanes }, (_, lane) => openLane(lane)))
  return async (count: number): Promise<void> => {
    let left = count
    await Promise.all(
      all.map(async (round) => {
        while (left > 0) {
          left -= 1
          await round(left)
        }
      }),
    )
    await untilDelivered(admin, bot.id)
    await untilUploaded(client)
  }
}

/** Begins to send a content and disconnects. */
async function breakOff(address: string, method: string): Promise<void> {
  const { hostname, port, pathname, search, host } = new URL(address)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    'content-length: 500000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${'x'.repeat(1000)}`)
  await once(socket, 'connect')
  socket.destroy()
}

async function untilDelivered(admin: ReturnType<typeof createClient>, id: string): Promise<void> {
  const isDone = async () => {
    const { deliveries } = await admin.listDeliveries({ id, status: 'pending', pageSize: 1 })
    return deliveries.length === 0
  }
  while (!(await isDone())) await sleep(50)
}

/** A content in parts is assembled in the background. */
async function untilUploaded(client: ReturnType<typeof createClient>): Promise<void> {
  const isDone = async () => {
    const { files } = await client.listFiles({ pageSize: 100 })
    return !files.some(({ key, status }) => key !== unfinished && status === 'upload_pending')
  }
  while (!(await isDone())) await sleep(50)
}

function textOf(data: Record<string, unknown>): unknown {
  const { payload } = data
  return typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'text') : undefined
}

interface Measured extends AsyncDisposable {
  url: string
  measure(): Promise<Held>
  count(): Promise<Counts>
}

/** The command in a process of its own, where nothing else is measured. */
async function startMeasured(): Promise<Measured> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-soak-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(
    process.execPath,
    // Literals of code that V8 has dropped would count as values from then on.
    ['--expose-gc', '--no-flush-bytecode', '--import', probe, inject('command'), 'start'],
    {
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        BOTSTEAD_DATA_DIR: dataDir,
        BOTSTEAD_ADMIN_TOKEN: token,
        BOTSTEAD_RATE_LIMIT: 'off',
        // The test measures the memory of the server, however busy the machine is.
        BOTSTEAD_SEARCH_TIMEOUT_MS: '5m',
        LOG_LEVEL: 'fatal',
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  )
  await untilReady(url, child)
  const ask = async (wish: { file?: string }): Promise<Counts> => {
    const answer = once(child, 'message')
    child.send(wish)
    const [held] = await answer
    return held
  }
  return {
    url,
    async measure() {
      const file = join(dataDir, 'live.heapsnapshot')
      const counts = await ask({ file })
      return { ...counts, heap: await readLiveHeap(file) }
    },
    count: () => ask({}),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`)
    await sleep(20)
  }
}
