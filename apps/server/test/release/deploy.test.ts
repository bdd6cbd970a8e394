import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate as lintDockerfile } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { describeSettings } from '../../src/config/config.js'
import { checkout } from '../documents.js'
import { instructionsOfImage } from './image.js'

const read = (name: string) => readFile(join(checkout, 'deploy', name), 'utf8')
const settings = new Set(describeSettings().map(({ name }) => name))

/** Commands of Debian packages that are not everywhere. */
const has = (name: string, ...words: string[]) => spawnSync(name, words).error === undefined

interface Service {
  networks?: Record<string, { ipv4_address: string }>
  build?: { context: string; dockerfile: string }
  image: string
  ports?: string[]
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  restart?: string
  depends_on?: string[] | Record<string, { condition: string }>
}

describe('the compose files', () => {
  const servicesOf = async (name: string): Promise<Record<string, Service>> =>
    parse(await read(name), { merge: true }).services

  it('set only what the server knows, and keep it from writing anywhere else', async () => {
    const alone = await servicesOf('compose.yaml')
    const cluster = await servicesOf('compose.cluster.yaml')
    const servers = [alone.botstead, cluster['botstead-1'], cluster['botstead-2']]
    for (const server of servers) {
      expect(Object.keys(server?.environment ?? {}).filter((name) => !settings.has(name))).toEqual(
        [],
      )
      expect(server).toMatchObject({
        build: { context: '..', dockerfile: 'deploy/Dockerfile' },
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
      })
    }
  })

  it('let nobody reach a server but through the machine or the proxy', async () => {
    expect((await servicesOf('compose.yaml')).botstead?.ports).toEqual(['127.0.0.1:8787:8787'])
    const cluster = await servicesOf('compose.cluster.yaml')
    const open = Object.entries(cluster).filter(([, { ports }]) => ports !== undefined)
    expect(open.map(([name]) => name)).toEqual(['proxy'])
    const names = cluster.proxy?.environment?.BOTSTEAD_SERVERS?.split(' ') ?? []
    for (const name of names) expect(cluster).toHaveProperty(name.replace(':8787', ''))
    expect(await read('Caddyfile')).toContain('{$BOTSTEAD_SERVERS:localhost:8787}')
    // No other service of the network can pretend to be a caller's proxy.
    const { ipv4_address: proxy } = cluster.proxy?.networks?.default ?? {}
    for (const name of ['botstead-1', 'botstead-2']) {
      expect(cluster[name]?.environment?.BOTSTEAD_TRUSTED_PROXIES).toBe(proxy)
    }
  })

  it('wait until what they need is ready, in versions that do not change by themselves', async () => {
    const cluster = await servicesOf('compose.cluster.yaml')
    for (const [name, { image, depends_on: needed }] of Object.entries(cluster)) {
      if (image !== 'botstead')
        expect([name, image]).toEqual([name, expect.stringMatching(/:v?\d/)])
      if (needed === undefined || Array.isArray(needed)) continue
      for (const [other, { condition }] of Object.entries(needed)) {
        const isLasting = cluster[other]?.restart !== undefined
        expect([other, condition]).toEqual([
          other,
          isLasting ? 'service_healthy' : 'service_completed_successfully',
        ])
        if (isLasting) expect(cluster[other]).toHaveProperty('healthcheck.test')
      }
    }
  })

  it('keep all data in volumes with names', async () => {
    for (const name of ['compose.yaml', 'compose.cluster.yaml']) {
      const { services, volumes } = parse(await read(name), { merge: true })
      const mounted = Object.values<Service>(services).flatMap((service) => service.volumes ?? [])
      const named = mounted
        .map((text) => text.split(':')[0] ?? '')
        .filter((text) => !text.startsWith('.'))
      expect([...new Set(named)].toSorted()).toEqual(Object.keys(volumes).toSorted())
      for (const [service, { build, volumes: own }] of Object.entries<Service>(services)) {
        if (build !== undefined)
          expect([service, own]).toEqual([service, [expect.stringMatching(/:\/data$/)]])
      }
    }
  })

  const canRead = has('docker-compose', '--version')
  it.skipIf(!canRead)(
    `are read by Compose${canRead ? '' : ' (skipped: no docker-compose here)'}`,
    () => {
      const environment = {
        ...process.env,
        SITE: 'bots.example.com',
        POSTGRES_PASSWORD: 'a-password',
        AWS_SECRET_ACCESS_KEY: 'another-password',
        BOTSTEAD_SECRET: 'a'.repeat(32),
        BOTSTEAD_ADMIN_TOKEN: 'b'.repeat(32),
      }
      for (const name of ['compose.yaml', 'compose.cluster.yaml']) {
        const words = ['-f', join(checkout, 'deploy', name), 'config', '--quiet']
        const ran = spawnSync('docker-compose', words, { env: environment, encoding: 'utf8' })
        expect([name, ran.status, ran.stderr]).toEqual([name, 0, ''])
      }
    },
  )
})

describe('the image', () => {
  it('runs the package without privileges, and gets signals', async () => {
    const last = await instructionsOfImage()
    const of = (word: string) => last.filter(([each]) => each === word).map(([, text]) => text)
    expect(of('FROM')).toEqual(['node:24-bookworm-slim'])
    expect(of('USER')).toEqual(['node'])
    // After it nothing is made any more, so that nothing in the image belongs to that user but its data.
    expect(last.findIndex(([word]) => word === 'USER')).toBeGreaterThan(
      last.findLastIndex(([word]) => word === 'RUN' || word === 'COPY'),
    )
    const words = (text: string): unknown => JSON.parse(text)
    const script = '/app/node_modules/botstead/bin/botstead.js'
    // In this form a process is started without a shell, which would not pass signals on.
    expect(words(of('ENTRYPOINT')[0] ?? '')).toEqual(['node', script])
    expect(words(of('CMD')[0] ?? '')).toEqual(['start'])
    const [check = ''] = of('HEALTHCHECK')
    expect(words(check.slice(check.indexOf('[')))).toEqual(['node', script, 'healthcheck'])
    const variables = of('ENV').flatMap((line) => line.split(' ').map((each) => each.split('=')[0]))
    expect(variables.filter((name) => name !== 'NODE_ENV' && !settings.has(name ?? ''))).toEqual([])
  })

  it('has no fault that a linter knows', async () => {
    const found = lintDockerfile(await read('Dockerfile'))
    expect(found.map(({ range, message }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  })

  it('is made of the sources alone', async () => {
    const ignored = (await readFile(join(checkout, '.dockerignore'), 'utf8')).split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.env', '**/node_modules', 'data']))
  })
})

const withAnalyze = has('systemd-analyze', '--version')
describe.skipIf(!withAnalyze)(
  `the unit${withAnalyze ? '' : ' (skipped: no systemd-analyze here)'}`,
  () => {
    it('is valid, and leaves the server few rights', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'botstead-unit-'))
      await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
      const text = await read('botstead.service')
      const file = join(folder, 'botstead.service')
      // The path of Node on this machine: the program of a unit must be there.
      await writeFile(file, text.replace('/usr/bin/node', process.execPath))
      const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
      expect([verified.status, verified.stderr]).toEqual([0, ''])
      const rated = spawnSync('systemd-analyze', ['security', '--offline=yes', file], {
        encoding: 'utf8',
      })
      const [, exposure = '10'] =
        /Overall exposure level[^\n]*?: (\d+\.\d+)/.exec(rated.stdout) ?? []
      expect(Number(exposure)).toBeLessThan(2.5)
      // Node ends at its start where these calls are fatal; systemd does not count them among those of services.
      expect(text).toMatch(/^SystemCallFilter=.*@pkey/m)
      expect(text).toMatch(/^SystemCallErrorNumber=EPERM$/m)
      const variables = [...text.matchAll(/\b(BOTSTEAD_\w+)=/g)].map(([, name]) => name)
      expect(variables.filter((name) => !settings.has(name ?? ''))).toEqual([])
    })
  },
)
