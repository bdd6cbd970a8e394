import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Client as ChatClient } from '@botpress/chat'
import { Client } from '@botpress/client'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { checkout } from '../documents.js'
import { engines } from '../engines.js'
import { listenBySocket } from '../listening/raw-stream.js'
import { waitUntil } from '../patience.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'

const read = (name: string) => readFile(join(checkout, 'deploy', name), 'utf8')

/** Commands of Debian packages that are not everywhere. */
const has = (name: string, ...words: string[]) => spawnSync(name, words).error === undefined

const postgres = engines.find(({ name }) => name === 'postgres')

const proxies = {
  nginx: { isHere: has('nginx', '-v'), start: startNginx },
  caddy: { isHere: has('caddy', 'version'), start: startCaddy },
}

describe.each(Object.entries(proxies))('%s in front of two servers', (name, { isHere, start }) => {
  const canRun = isHere && postgres !== undefined
  it.skipIf(!canRun)(
    `passes uploads, streams and probes on${canRun ? '' : ` (skipped: no ${name} or no PostgreSQL here)`}`,
    async () => {
      if (postgres === undefined) return
      const port = await freePort()
      const address = `http://localhost:${port}`
      await using place = await createCommandPlace(postgres)
      const token = 'the token of the first account'.replaceAll(' ', '-')
      const environment = {
        ...place.environment,
        BOTSTEAD_ADMIN_TOKEN: token,
        BOTSTEAD_PUBLIC_URL: address,
        BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1',
      }
      await using first = await startServerProcess(environment)
      await using second = await startServerProcess(environment)
      await using _proxy = await start(port, [first.url, second.url])

      const someone = new Client({ apiUrl: address, token })
      const { workspaces } = await someone.listWorkspaces({})
      const workspaceId = workspaces[0]?.id ?? ''
      const admin = new Client({ apiUrl: address, token, workspaceId })
      const { bot } = await admin.createBot({})
      const client = new Client({ apiUrl: address, token, workspaceId, botId: bot.id })
      // Larger than what nginx takes by default, and than the buffers of proxies.
      const content = Buffer.alloc(30_000_000, 'large ')
      const { file } = await client.upsertFile({ key: 'large.bin', size: content.length })
      expect(new URL(file.uploadUrl).host).toBe(new URL(address).host)
      const sent = await fetch(file.uploadUrl, { method: 'PUT', body: content })
      expect(sent.status).toBeLessThan(300)
      const { url } = (await client.getFile({ id: file.id })).file
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)

      const { integrations } = (await admin.getBot({ id: bot.id })).bot
      const [chat] = Object.values(integrations)
      const apiUrl = `${address}/chat/${chat?.webhookId}`
      const user = await ChatClient.connect({ apiUrl })
      const { conversation } = await user.createConversation({})
      // Both servers are asked by turns, so that some messages come from the other one than the stream.
      const streams = await Promise.all(
        [1, 2].map(() => user.listenConversation({ id: conversation.id })),
      )
      const texts = ['one', 'two', 'three', 'four']
      const heard = streams.map((stream) => {
        const got: string[] = []
        stream.on('message_created', ({ payload }) => {
          if (payload.type === 'text') got.push(payload.text)
        })
        return got
      })
      for (const text of texts) {
        await user.createMessage({
          conversationId: conversation.id,
          payload: { type: 'text', text },
        })
      }
      await waitUntil(() => heard.every((got) => got.length === texts.length), { timeout: 10_000 })
      expect(heard).toEqual([texts, texts])
      for (const stream of streams) await stream.disconnect()

      const userKey = user.user.key
      const listening = { url: address, webhookId: chat?.webhookId ?? '', userKey }
      const socket = await listenBySocket({ ...listening, conversationId: conversation.id })
      const payload = { type: 'text' as const, text: 'five' }
      await user.createMessage({ conversationId: conversation.id, payload })
      await socket.until((all) => JSON.stringify(all).includes('"text":"five"'))
      socket.close()

      expect((await fetch(`${address}/readyz`)).status).toBe(200)
      expect((await fetch(`${address}/metrics`)).status).toBe(404)
    },
  )
})

const canEncrypt = proxies.nginx.isHere && postgres !== undefined && has('openssl', 'version')
describe.skipIf(!canEncrypt)(
  `nginx with a certificate${canEncrypt ? '' : ' (skipped: no nginx, openssl or PostgreSQL here)'}`,
  () => {
    it('passes WebSockets, streams and uploads on, with what another server signals', async () => {
      if (postgres === undefined) return
      const port = await freePort()
      const address = `https://localhost:${port}`
      await using place = await createCommandPlace(postgres)
      await using certificate = await createCertificate()
      const token = 'the-token-of-the-first-account'
      const environment = {
        ...place.environment,
        BOTSTEAD_ADMIN_TOKEN: token,
        BOTSTEAD_PUBLIC_URL: address,
        BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1',
      }
      await using writing = await startServerProcess(environment)
      await using listening = await startServerProcess(environment)
      // All that goes through nginx reaches the one server, and messages are written at the other.
      await using _proxy = await startNginx(port, [listening.url], certificate)
      const { ca } = certificate
      // Nobody else has signed the certificate, so that it must be the one of the configuration.
      await expect(fetch(`${address}/readyz`)).rejects.toThrow()
      await expect(fetch(`http://localhost:${port}/readyz`)).resolves.toHaveProperty('status', 400)

      const someone = new Client({ apiUrl: writing.url, token })
      const workspaceId = (await someone.listWorkspaces({})).workspaces[0]?.id ?? ''
      const { bot } = await new Client({ apiUrl: writing.url, token, workspaceId }).createBot({})
      const client = new Client({ apiUrl: writing.url, token, workspaceId, botId: bot.id })
      const content = Buffer.alloc(5_000_000, 'larger than a megabyte ')
      const { file } = await client.upsertFile({ key: 'large.bin', size: content.length })
      expect(new URL(file.uploadUrl).origin).toBe(address)
      const sent = await sendEncrypted(file.uploadUrl, { ca, method: 'PUT', body: content })
      expect([sent.statusCode, (await buffer(sent)).length > 0]).toEqual([200, true])
      const { url } = (await client.getFile({ id: file.id })).file
      expect((await buffer(await sendEncrypted(url, { ca }))).equals(content)).toBe(true)

      const chat = Object.values((await client.getBot({ id: bot.id })).bot.integrations)[0]
      const webhookId = chat?.webhookId ?? ''
      const user = await ChatClient.connect({ apiUrl: `${writing.url}/chat/${webhookId}` })
      const conversationId = (await user.createConversation({})).conversation.id
      const userKey = user.user.key
      const socket = await listenBySocket({ url: address, webhookId, userKey, conversationId, ca })
      const stream = await sendEncrypted(
        `${address}/chat/${webhookId}/conversations/${conversationId}/listen`,
        { ca, headers: { 'x-user-key': userKey, accept: 'text/event-stream' } },
      )
      expect(stream.statusCode).toBe(200)
      let streamed = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        streamed += chunk
      })
      for (const text of ['one', 'two', 'three']) {
        await user.createMessage({ conversationId, payload: { type: 'text', text } })
        // Each is there before the next is written: nothing waits until a buffer is full.
        await socket.until((heard) => JSON.stringify(heard).includes(`"text":"${text}"`))
        await waitUntil(() => streamed.includes(`"text":"${text}"`), { timeout: 10_000 })
      }
      const created = socket.heard.filter(({ type }) => type === 'message_created')
      expect(created).toHaveLength(3)
      socket.close()
      stream.destroy()
    })
  },
)

/** A certificate that signs itself, for this machine. */
interface Certificate extends AsyncDisposable {
  ca: Buffer
  certFile: string
  keyFile: string
}

async function createCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-certificate-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync(
    'openssl',
    [...kind, '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2', ...names],
    { stdio: 'ignore' },
  )
  return {
    ca: await readFile(certFile),
    certFile,
    keyFile,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

/** Sends a request over TLS to an address whose certificate `ca` has signed; the body of the response is left to be read. */
function sendEncrypted(
  url: string,
  {
    ca,
    body,
    ...options
  }: { ca: Buffer; method?: string; headers?: Record<string, string>; body?: Buffer },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = requestHttps(url, { ca, agent: false, ...options }, resolve)
    outgoing.on('error', reject)
    if (body !== undefined) outgoing.setHeader('content-length', body.length)
    outgoing.end(body)
  })
}

/** The status of a probe through the proxy; undefined while nothing listens. */
async function probe(port: number, ca: Buffer | undefined): Promise<number | undefined> {
  try {
    if (ca === undefined) return (await fetch(`http://127.0.0.1:${port}/readyz`)).status
    const response = await sendEncrypted(`https://localhost:${port}/readyz`, { ca })
    response.resume()
    return response.statusCode
  } catch {
    return undefined
  }
}

/**
 * Starts nginx with the configuration as it is shipped, but for addresses and names.
 * @param certificate without it, nginx serves without encryption
 */
async function startNginx(
  port: number,
  servers: readonly string[],
  certificate?: Certificate,
): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-nginx-'))
  await mkdir(join(folder, 'tmp'))
  const shipped = (await read('nginx.conf'))
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port}${certificate ? ' ssl' : ''};`)
    .replace('server_name bots.example.com;', '')
    .replace(/ssl_certificate .+;/, certificate ? `ssl_certificate ${certificate.certFile};` : '')
    .replace(
      /ssl_certificate_key .+;/,
      certificate ? `ssl_certificate_key ${certificate.keyFile};` : '',
    )
    .replace(
      'server 127.0.0.1:8787;',
      servers.map((url) => `server ${new URL(url).host};`).join('\n'),
    )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, 'tmp')};`)
    .join('\n')
  const config = join(folder, 'nginx.conf')
  await writeFile(
    config,
    `daemon off;\nmaster_process off;\npid ${join(folder, 'pid')};\nerror_log ${join(folder, 'log')};\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${shipped}\n}\n`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', config], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  await waitUntil(
    async () => child.exitCode !== null || (await probe(port, certificate?.ca)) === 200,
    { timeout: 10_000 },
  )
  if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'log'), 'utf8'))
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

/** Starts Caddy with the configuration as it is shipped. */
async function startCaddy(port: number, servers: readonly string[]): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-caddy-'))
  const config = join(folder, 'Caddyfile')
  // Its port for administration is the same for all that run on a machine.
  await writeFile(config, `{\n\tadmin off\n}\n${await read('Caddyfile')}`)
  const log = await open(join(folder, 'log'), 'w')
  const child = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: {
      ...process.env,
      HOME: folder,
      SITE: `http://localhost:${port}`,
      BOTSTEAD_SERVERS: servers.map((url) => new URL(url).host).join(' '),
    },
    stdio: ['ignore', 'ignore', log.fd],
  })
  const ended = once(child, 'exit')
  const isThere = async () =>
    child.exitCode !== null ||
    (await fetch(`http://localhost:${port}/readyz`).catch(() => undefined))?.status === 200
  await waitUntil(isThere, { timeout: 10_000 })
  if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'log'), 'utf8'))
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await log.close()
      await rm(folder, { recursive: true })
    },
  }
}
