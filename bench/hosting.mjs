// Deployed code: how soon a bot replies, cold and warm, and the memory of its process, beside the same bot
// in a process of its own behind an address.
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundleBot } from './hosting-bot.mjs'
import { startBenchServer } from './processes.mjs'
import { firstMessage, startScript, stopped } from './programs.mjs'
import { chatOf, request } from './request.mjs'
import { givenAmount, sized } from './size.mjs'

const botProgram = fileURLToPath(new URL('./hosting-bot.mjs', import.meta.url))
/** Alternating runs of which the median counts. */
const rounds = givenAmount('BENCH_ROUNDS', 5, 1)
const messagesPerRound = sized(100, 3)
const bots = givenAmount('BENCH_BOTS', 50, 2)
const activeBots = 10
const activeSeconds = sized(5, 0.5)
/** Milliseconds until programs that have just started rest. */
const calmMs = sized(5000, 500)
const patienceMs = 60_000
/** A busy machine makes figures worse, and shall not end the measurement. */
const patient = { BOTSTEAD_HOSTING_START_TIMEOUT: '5m' }

function adminOf({ address, token, workspaceId }) {
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  return {
    create: async (body) => (await request(`${address}/v1/admin/bots`, 'POST', headers, body)).bot,
    update: (id, body) => request(`${address}/v1/admin/bots/${id}`, 'PUT', headers, body),
  }
}

/** The bot as a program behind an address. */
async function startPeer(file, server) {
  const child = startScript(botProgram, {
    args: [file],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { BP_API_URL: server.address, BP_TOKEN: server.token },
  })
  const { url } = await firstMessage(child)
  return {
    url,
    pid: child.pid,
    stop: () => stopped(child, () => child.disconnect()),
  }
}

/** A user who talks to a bot and listens to it. */
async function openTalk(bot) {
  const chat = chatOf(bot)
  const { key } = await request(`${chat}/users`, 'POST', {}, {})
  const user = { 'x-user-key': key }
  const { conversation } = await request(`${chat}/conversations`, 'POST', user, {})
  const call = http.get(`${chat}/conversations/${conversation.id}/listen`, { headers: user })
  const [stream] = await once(call, 'response')
  let number = 0
  /** @type {(version: string | undefined, id: number) => void} */
  let heard = () => {}
  stream.setEncoding('utf8').on('data', (text) => {
    for (const [, version, id] of text.matchAll(/"(\w+) ask (\d+)"/g)) heard(version, Number(id))
  })
  stream.on('error', () => {})
  return {
    /** Milliseconds from a message to the reply, and the version that replied. */
    async ask() {
      number += 1
      const wanted = number
      const begin = performance.now()
      const reply = new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('There is no reply')), patienceMs)
        heard = (version, id) => {
          if (id !== wanted) return
          clearTimeout(timer)
          resolve({ version, milliseconds: performance.now() - begin })
        }
      })
      await request(`${chat}/messages`, 'POST', user, {
        conversationId: conversation.id,
        payload: { type: 'text', text: `ask ${wanted}` },
      })
      return await reply
    },
    close: () => call.destroy(),
  }
}

/** Ids of the processes that run deployed code of a server. */
async function programsOf(pid) {
  const found = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [stat, words] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8').catch(() => ''),
      readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''),
    ])
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (parent === pid && /\0bot=/.test(words)) found.push(Number(name))
  }
  return found
}

/** Megabytes of a process: all that it uses, and that without what it shares with others. */
async function memoryOf(pid) {
  const [status, rollup] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/smaps_rollup`, 'utf8'),
  ])
  const kilobytes = (text, name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN)
  return { resident: kilobytes(status, 'VmRSS') / 1024, own: kilobytes(rollup, 'Pss') / 1024 }
}

/** Milliseconds of the processor that a process has used; the system counts them in hundredths of a second. */
async function processorTimeOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

async function untilNoPrograms(pid) {
  const end = performance.now() + patienceMs
  while ((await programsOf(pid)).length > 0) {
    if (performance.now() > end) throw new Error('Idle programs do not end')
    await sleep(100)
  }
}

function at(figures, share) {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

const median = (figures) => at(figures, 0.5)
const spread = (figures) =>
  `${median(figures).toFixed(0)} ms (${Math.min(...figures).toFixed(0)} to ${Math.max(...figures).toFixed(0)})`

/** Replies of programs that have to start, beside the start of the peer; programs that ended. */
async function measureCold(folder, file, code) {
  const server = await startBenchServer(join(folder, 'cold'), {
    ...patient,
    BOTSTEAD_HOSTING_IDLE: sized('4s', '1s'),
  })
  try {
    const admin = adminOf(server)
    const deployed = await admin.create({})
    await admin.update(deployed.id, { code: code('cold') })
    const talk = await openTalk(deployed)
    await talk.ask()
    const cold = []
    const processor = []
    const peers = []
    for (let round = 0; round < rounds; round += 1) {
      await untilNoPrograms(server.pid)
      cold.push((await talk.ask()).milliseconds)
      const [pid] = await programsOf(server.pid)
      processor.push(await processorTimeOf(pid))
      const begin = performance.now()
      const peer = await startPeer(file, server)
      peers.push(performance.now() - begin)
      await peer.stop()
    }
    await untilNoPrograms(server.pid)
    talk.close()
    return { cold, processor, peers }
  } finally {
    await server.stop()
  }
}

/** p50 of replies in alternating rounds, of the deployed bot and of its peer. */
async function measureWarm(server, file, code) {
  const admin = adminOf(server)
  const peer = await startPeer(file, server)
  try {
    const deployed = await admin.create({})
    await admin.update(deployed.id, { code: code('warm') })
    const beside = await admin.create({ url: peer.url })
    const talks = { deployed: await openTalk(deployed), peer: await openTalk(beside) }
    const found = { deployed: [], peer: [] }
    // One round more, which warms up.
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, talk] of Object.entries(talks)) {
        const times = []
        for (let i = 0; i < messagesPerRound; i += 1) times.push((await talk.ask()).milliseconds)
        if (round >= 0) found[name].push(median(times))
      }
    }
    for (const talk of Object.values(talks)) talk.close()
    return { deployed: median(found.deployed), peer: median(found.peer) }
  } finally {
    await peer.stop()
  }
}

/** Milliseconds from a deployment to the first reply of what it deployed. */
async function measureDeploy(server, code) {
  const admin = adminOf(server)
  const bot = await admin.create({})
  await admin.update(bot.id, { code: code('first') })
  const talk = await openTalk(bot)
  await talk.ask()
  const times = []
  for (let round = 0; round < rounds; round += 1) {
    const name = `next${round}`
    const begin = performance.now()
    await admin.update(bot.id, { code: code(name) })
    const { version } = await talk.ask()
    times.push(performance.now() - begin)
    if (version !== name) throw new Error(`${version} replied in place of ${name}`)
  }
  talk.close()
  return times
}

/** Memory of many bots that have replied and rest, and replies of some while all run. */
async function measureMany(folder, code) {
  // On a slow machine, the first would be idle for too long before the last is deployed.
  const server = await startBenchServer(join(folder, 'many'), {
    ...patient,
    BOTSTEAD_HOSTING_IDLE: '1h',
  })
  try {
    const admin = adminOf(server)
    const talks = []
    for (let i = 0; i < bots; i += 1) {
      const bot = await admin.create({})
      await admin.update(bot.id, { code: code('many') })
      const talk = await openTalk(bot)
      await talk.ask()
      talks.push(talk)
    }
    await sleep(calmMs)
    const pids = await programsOf(server.pid)
    if (pids.length !== bots) throw new Error(`${pids.length} of ${bots} programs run`)
    const idle = await Promise.all(pids.map(memoryOf))
    const waits = []
    const end = performance.now() + activeSeconds * 1000
    const talkOn = async (talk) => {
      while (performance.now() < end) waits.push((await talk.ask()).milliseconds)
    }
    await Promise.all(talks.slice(0, activeBots).map(talkOn))
    const after = await Promise.all(pids.map(memoryOf))
    for (const talk of talks) talk.close()
    const sum = (all, of) => all.reduce((total, each) => total + each[of], 0)
    return {
      resident: idle.map(({ resident }) => resident),
      ownIdle: sum(idle, 'own'),
      ownActive: sum(after, 'own'),
      waits,
    }
  } finally {
    await server.stop()
  }
}

/** Code whose output or errors never end, one for each kind. */
const noises = {
  console: "setInterval(() => console.log('x'.repeat(1e6)), 1000)",
  descriptor: `const fs = require('fs'), line = Buffer.from('x'.repeat(1e6) + '\\n')
    setInterval(() => {
      for (let at = 0; at < line.length;) try { at += fs.writeSync(1, line, at) } catch {}
    }, 1000)`,
  structured: `const log = { issue: (issue) => console.info(JSON.stringify(issue)) }
    setInterval(() => log.issue({ type: 'issue', code: 'c', data: { a: 'x'.repeat(1e6) } }), 1000)`,
  rejections: `const reject = () => {
      for (let at = 0; at < 100; at++) Promise.reject(new Error('no ' + at))
      setImmediate(reject)
    }
    setTimeout(reject, 1000)`,
}
/** Code whose response to an action never gets to its body. */
const endlessHead = `
  const { ServerResponse } = require('http'), { writeHead } = ServerResponse.prototype
  const bytes = Buffer.alloc(65536, 'x')
  ServerResponse.prototype.writeHead = function (...given) {
    if (this.req.headers['x-bp-operation'] !== 'action_triggered') return writeHead.apply(this, given)
    const { socket } = this
    const more = () => { while (!socket.destroyed && socket.write(bytes)); }
    this.end = () => this
    socket.on('error', () => {}).on('drain', more).write('HTTP/1.1 200 ')
    more()
    return this
  }`
/** Calls to each program with such code at a time. */
const callsAtOnce = 8
const noisyPrograms = givenAmount('BENCH_NOISY', 8, 1)

/** Calls the action of a bot again and again, until the signal is aborted. */
function callAlways({ address, token }, botId, signal) {
  const headers = { authorization: `Bearer ${token}`, 'x-bot-id': botId }
  const call = () =>
    request(`${address}/v1/chat/actions`, 'POST', headers, { type: 'act', input: {} })
  const callOn = async () => {
    while (!signal.aborted) await call().catch(() => sleep(10))
  }
  for (let i = 0; i < callsAtOnce; i += 1) void callOn()
}

/** Replies of a deployed bot while other programs write without end, by themselves or in actions. */
async function measureNoise(folder, code, kind, { noise, isInActions }) {
  const over = new AbortController()
  const server = await startBenchServer(join(folder, `noise-${kind.replaceAll(' ', '-')}`), patient)
  try {
    const admin = adminOf(server)
    const bot = await admin.create({})
    await admin.update(bot.id, { code: code('quiet') })
    const talk = await openTalk(bot)
    for (let i = 0; i < 20; i += 1) await talk.ask()
    for (let i = 0; i < noisyPrograms; i += 1) {
      const { id } = await admin.create({})
      await admin.update(id, {
        code: `${noise}\nexports.handler = async () => ({ body: '{}' })`,
        actions: { act: { input: { schema: {} }, output: { schema: {} } } },
      })
      if (isInActions) callAlways(server, id, over.signal)
    }
    await sleep(calmMs)
    const waits = []
    const end = performance.now() + activeSeconds * 2000
    while (performance.now() < end) {
      waits.push((await talk.ask()).milliseconds)
      await sleep(20)
    }
    talk.close()
    return waits
  } finally {
    over.abort()
    await server.stop()
  }
}

/** Rows about programs that write without end. */
export async function measureNoisyHosted(folder) {
  const code = await openCode()
  const rows = []
  const kinds = Object.entries(noises).map(([kind, noise]) => ({ kind, noise, isInActions: false }))
  kinds.push({ kind: 'heads of responses', noise: endlessHead, isInActions: true })
  for (const { kind, ...noise } of kinds) {
    const waits = await measureNoise(folder, code, kind, noise)
    const p95 = at(waits, 0.95)
    rows.push({
      work: `reply of a bot beside ${noisyPrograms} programs with endless output: ${kind}`,
      figure: `p50 ${at(waits, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
      against: '100 ms',
      ratio: 100 / p95,
      budget: 1,
    })
  }
  return rows
}

/** Code of the bot by the name of its version. */
async function openCode() {
  const text = await bundleBot()
  return (version) => text.replace('BENCH_VERSION', version)
}

/** Rows about one bot. */
export async function measureOneHosted(folder) {
  const code = await openCode()
  const file = join(folder, 'bot.cjs')
  await mkdir(folder, { recursive: true })
  await writeFile(file, code('peer'))
  const { cold, processor, peers } = await measureCold(folder, file, code)
  const server = await startBenchServer(join(folder, 'warm'), patient)
  let warm
  let deploys
  try {
    warm = await measureWarm(server, file, code)
    deploys = await measureDeploy(server, code)
  } finally {
    await server.stop()
  }
  return [
    { work: 'the same bot as a program of its own, until it listens', figure: spread(peers) },
    {
      work: 'cold start of a deployed bot to its first reply',
      figure: `${spread(cold)}, its processor time ${median(processor)} ms`,
      against: '1 s',
      ratio: 1000 / median(cold),
      budget: 1,
    },
    { work: 'reply of the bot behind an address', figure: `p50 ${warm.peer.toFixed(1)} ms` },
    {
      work: 'reply of the deployed bot',
      figure: `p50 ${warm.deployed.toFixed(1)} ms`,
      against: 'the bot behind an address',
      ratio: warm.peer / warm.deployed,
      budget: 0.83,
    },
    {
      work: 'deploy to the first reply of the new code',
      figure: spread(deploys),
      against: '3 s',
      ratio: 3000 / median(deploys),
      budget: 1,
    },
  ]
}

/** Rows about many bots. */
export async function measureManyHosted(folder) {
  const { resident, ownIdle, ownActive, waits } = await measureMany(folder, await openCode())
  const megabytes = median(resident)
  const active = Math.min(activeBots, bots)
  const waited = `p50 ${at(waits, 0.5).toFixed(1)} ms, p95 ${at(waits, 0.95).toFixed(1)} ms`
  return [
    {
      work: `memory of an idle bot, one of ${bots}; 0 after the idle time`,
      figure: `${megabytes.toFixed(0)} MB, ${(ownIdle / bots).toFixed(0)} MB with its part of what they share`,
      against: '80 MB',
      ratio: 80 / megabytes,
      budget: 1,
    },
    {
      work: `${active} of ${bots} bots reply at the same time`,
      figure: `${Math.round(waits.length / activeSeconds)} /s, ${waited}`,
    },
    {
      work: `memory of ${bots} bots, ${active} of them active`,
      figure: `${ownIdle.toFixed(0)} MB idle, ${ownActive.toFixed(0)} MB active`,
    },
  ]
}
