import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { waitUntil } from '../patience.js'
import { runCommand, startServerProcess } from '../processes.js'

const token = 'the-token-of-the-first-account'

describe('a command in the folder of a server', () => {
  it('finds the server whatever its port is, and not one that was killed', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token }
    const note = join(place.dataDir, 'server.address')
    const bots = () => runCommand(['bots', 'list'], { ...environment, PORT: '1' })
    const listed = { status: 0 }
    await using first = await startServerProcess(environment)
    await waitUntil(async () => existsSync(note))
    expect(await bots()).toMatchObject(listed)
    await first.kill()
    expect(existsSync(note)).toBe(true)
    const gone = await bots()
    expect(gone.status).toBe(1)
    expect(gone.stderr).toContain('No server responds at http://localhost:1:')

    await using second = await startServerProcess(environment)
    await waitUntil(async () =>
      (await readFile(note, 'utf8')).includes(second.url.split(':').at(-1) ?? ''),
    )
    expect(await bots()).toMatchObject(listed)
    const named = await runCommand(['bots', 'list', '--url', 'http://localhost:1'], environment)
    expect(named.stderr).toContain('No server responds at http://localhost:1:')
    expect(await second.stop()).toBe(0)
    expect(existsSync(note)).toBe(false)
    await writeFile(note, '{"address": 17')
    expect((await bots()).stderr).toContain('No server responds at http://localhost:1:')
  })

  it('is told once by the server that a proxy needs a public address', async () => {
    await using place = await createCommandPlace()
    await using server = await startServerProcess(place.environment)
    const ask = (headers: Record<string, string>) => fetch(`${server.url}/healthz`, { headers })
    await ask({})
    await ask({ 'x-forwarded-host': 'bots.example.com\t<script>', 'x-forwarded-for': '10.0.0.1' })
    await ask({ 'x-forwarded-host': 'bots.example.com', 'x-forwarded-proto': 'https' })
    await server.stop()
    const warnings = server
      .output()
      .split('\n')
      .filter((line) => line.includes('PUBLIC_URL'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).not.toContain('script')

    const settings = { ...place.environment, BOTSTEAD_PUBLIC_URL: 'https://bots.example.com' }
    await using configured = await startServerProcess(settings)
    await fetch(`${configured.url}/healthz`, { headers: { 'x-forwarded-proto': 'https' } })
    await configured.stop()
    expect(configured.output()).not.toContain('requests come through a proxy')
  })
})

describe('what a command says of a connection', () => {
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return { port, [Symbol.asyncDispose]: async () => void server.close() }
  }
  const bots = (url: string, environment: Record<string, string> = {}) =>
    runCommand(['bots', 'list', '--url', url, '--token', token], environment)

  const hasOpenssl = spawnSync('openssl', ['version']).error === undefined
  const unless = hasOpenssl ? '' : ' (skipped: no openssl here)'
  it.skipIf(!hasOpenssl)(
    `names what is wrong with a certificate, or with the scheme${unless}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'botstead-certificate-'))
      await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
      const subject = [
        '-subj',
        '/CN=bots.example.com',
        '-addext',
        'subjectAltName=DNS:bots.example.com',
      ]
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
        ].concat(['-keyout', key, '-out', cert, '-days', '2', ...subject]),
        { stdio: 'ignore' },
      )
      const pair = { key: await readFile(key), cert: await readFile(cert) }
      await using secured = await listen(
        createTlsServer(pair, (_request, response) => response.end()),
      )
      const selfSigned = await bots(`https://localhost:${secured.port}`)
      expect(selfSigned).toMatchObject({ status: 1, stdout: '' })
      expect(selfSigned.stderr).toContain('NODE_EXTRA_CA_CERTS')
      const trusted = await bots(`https://localhost:${secured.port}`, { NODE_EXTRA_CA_CERTS: cert })
      expect(trusted.stderr).toContain('is for another name')
      await using plain = await listen(createHttpServer((_request, response) => response.end()))
      const wrong = await bots(`https://localhost:${plain.port}`)
      expect(wrong.stderr).toContain('does not speak TLS: try the same address with http://')
    },
  )

  it('explains the pages of a proxy instead of printing them', async () => {
    let status = 413
    const page: RequestListener = (_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' })
      response.end('<html><body>nginx</body></html>')
    }
    await using proxy = await listen(createHttpServer(page))
    const url = `http://localhost:${proxy.port}`
    const expected = [
      [413, 'client_max_body_size'],
      [502, 'the server is not running'],
      [200, 'The response is a web page'],
      [404, 'The response is a web page'],
    ] as const
    for (const [each, words] of expected) {
      status = each
      const { status: ended, stderr } = await bots(url)
      expect([ended, stderr]).toEqual([1, expect.stringContaining(words)])
      expect(stderr).not.toContain('<html>')
    }
  })

  it('says that what responds is no server of this program, whatever that sends', async () => {
    let body = ''
    await using other = await listen(
      createHttpServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      }),
    )
    const url = `http://localhost:${other.port}`
    for (body of [
      'null',
      '{}',
      '[]',
      '"x"',
      '{"workspaces":{"length":1e9}}',
      '{"workspaces":[7]}',
    ]) {
      const { status, stdout, stderr } = await bots(url)
      expect({ status, stdout, body }).toEqual({ status: 1, stdout: '', body })
      expect(stderr).toBe(
        `The program at ${url} is not a Botstead server, or one of another version: check --url or BOTSTEAD_URL.\n`,
      )
    }
  })
})
