import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError, describeSettings, loadConfig } from './config.js'

const folders: string[] = []

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

async function envFile(content: string) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-config-'))
  folders.push(folder)
  await writeFile(join(folder, '.env'), content)
  return join(folder, '.env')
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('without any variable', () => {
  it('every setting has its default', () => {
    const { config, warnings } = loadConfig({})
    expect(warnings).toEqual([])
    expect(config).toEqual({
      port: 8787,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:8787',
      dataDir: resolve('data'),
      databaseUrl: undefined,
      objectStore: undefined,
      roles: { api: true, worker: true },
      adminToken: undefined,
      secret: undefined,
      chatSecret: undefined,
      logLevel: 'info',
      allowedOrigins: undefined,
      trustedProxies: [],
      metrics: { access: 'loopback', token: undefined },
      outgoing: { allowed: [], allowLoopback: true },
      hosting: {
        mode: 'trusted',
        command: [],
        idleMs: 300_000,
        startMs: 30_000,
        compiledFolder: resolve('data/compiled'),
      },
      embeddingsUrl: undefined,
      embeddingsModel: undefined,
      embeddingsApiKey: undefined,
      rateLimit: { perMinute: 600, burst: 100, exemptLoopback: true },
      chatKeyLifetimeMs: undefined,
      chatRates: {
        newUsers: { perMinute: 60, exemptLoopback: true },
        userMessages: { perMinute: 120, exemptLoopback: true },
        addressMessages: { perMinute: 600, exemptLoopback: true },
        userFiles: { perMinute: 20, exemptLoopback: true },
        addressFileBytes: { perMinute: 3_333_334, exemptLoopback: true },
      },
      chatFileTypes: expect.arrayContaining(['image/*', 'application/pdf']),
      eventRetentionMs: 604_800_000,
      deliveryRetentionMs: 604_800_000,
      missedEventsMs: 3_600_000,
      botLogRetentionMs: 604_800_000,
      auditRetentionMs: 31_536_000_000,
      dashboard: 'on',
      sessionLifetimeMs: 1_209_600_000,
      shutdownTimeoutMs: 5_000,
      jobLeaseMs: 30_000,
      diskReserveBytes: 16 * 1024 * 1024,
      searchTimeoutMs: 10_000,
      searchesAtOnce: 2,
      tunnels: {
        maxTunnels: 500,
        perAddress: 20,
        perWorkspace: 50,
        requests: 100,
        messageBytes: 8 * 2 ** 20,
        reconnectMs: 15_000,
      },
      limits: {
        indexingMemoryBytes: 536_870_912,
        indexingOutputBytes: 67_108_864,
        indexingPages: 5000,
        indexingTimeoutMs: 120_000,
        indexingUnpackedBytes: 268_435_456,
        indexingWorkers: 'auto',
        listeners: 20_000,
        listenersPerUser: 50,
        listenerBufferBytes: 524_288,
        bodyBytes: 1_048_576,
        adminBodyBytes: 52_428_800,
        deliveries: 128,
        deliveriesPerReceiver: 64,
        deliveryAttempts: 20,
        messageBytes: 131_072,
        botVersions: 50,
        hostingLogLines: 600,
        hostingMemoryBytes: 256 * 2 ** 20,
        hostingProcesses: 50,
        hostingProcessorPercent: 100,
        hostingRequests: 64,
        evaluationCases: 10_000,
        chatFileBytes: 25 * 2 ** 20,
        chatFilesBytes: 2_000_000_000,
        fileBytes: 5_368_709_120,
        indexedFileBytes: 95_000_000,
        passagesPerFile: 5_000,
        storageQuotaBytes: 10_000_000_000,
        vectorQuotaBytes: 2_000_000_000,
      },
    })
  })

  it('the result cannot be changed, at any depth', () => {
    const { config } = loadConfig({})
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.values(config).filter((value) => !Object.isFrozen(value))).toEqual([])
  })
})

describe('the public address', () => {
  it.each([
    [{ PORT: '80' }, 'http://localhost:80'],
    [{ HOST: '0.0.0.0' }, 'http://localhost:8787'],
    [{ HOST: 'bots.lan' }, 'http://bots.lan:8787'],
    [{ HOST: 'fd00::1' }, 'http://[fd00::1]:8787'],
    [{ BOTSTEAD_PUBLIC_URL: 'https://bots.example.com/' }, 'https://bots.example.com'],
    [{ BOTSTEAD_PUBLIC_URL: 'https://example.com/bots/' }, 'https://example.com/bots'],
  ])('with %o is %s', (environment, expected) => {
    expect(loadConfig(environment).config.publicUrl).toBe(expected)
  })
})

describe('values', () => {
  it('of lists and words are understood in any case and spacing', () => {
    const { config } = loadConfig({
      DATABASE_URL: 'postgres://bot:pw@db/botstead',
      BOTSTEAD_ROLES: ' Worker ',
      LOG_LEVEL: 'DEBUG',
      BOTSTEAD_ALLOWED_ORIGINS: 'https://a.example.com, http://localhost:5173/',
      BOTSTEAD_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      BOTSTEAD_RATE_LIMIT: 'Off',
    })
    expect(config).toMatchObject({
      roles: { api: false, worker: true },
      logLevel: 'debug',
      allowedOrigins: ['https://a.example.com', 'http://localhost:5173'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      rateLimit: { perMinute: undefined, exemptLoopback: false },
    })
  })

  it('of HOST decide whether this machine may be called', () => {
    expect(loadConfig({ HOST: '0.0.0.0' }).config.outgoing.allowLoopback).toBe(false)
    expect(loadConfig({ HOST: '0.0.0.0' }).config.hosting.mode).toBe('off')
    expect(loadConfig({ HOST: '127.0.0.2' }).config.outgoing.allowLoopback).toBe(true)
    expect(
      loadConfig({ HOST: '::', BOTSTEAD_ALLOWED_NETWORKS: '10.0.0.0/8,::1' }).config.outgoing,
    ).toEqual({ allowed: ['10.0.0.0/8', '::1'], allowLoopback: false })
  })

  it('of the rate limit count callers on this machine too when given', () => {
    const { config } = loadConfig({ BOTSTEAD_RATE_LIMIT: '30', BOTSTEAD_RATE_BURST: '5' })
    expect(config.rateLimit).toEqual({ perMinute: 30, burst: 5, exemptLoopback: false })
  })

  it('that are blank count as absent', () => {
    expect(loadConfig({ PORT: ' ', BOTSTEAD_SECRET: '' }).config).toEqual(loadConfig({}).config)
  })
})

describe('wrong values', () => {
  it('are all listed, one line each, with what is accepted', () => {
    expect(
      problemsOf({ PORT: '70000', LOG_LEVEL: 'loud', BOTSTEAD_MAX_FILE_BYTES: 'big' }),
    ).toEqual([
      'PORT accepts a whole number from 0 to 65535, not "70000".',
      'LOG_LEVEL accepts one of trace, debug, info, warn, error, fatal, silent, not "loud".',
      'BOTSTEAD_MAX_FILE_BYTES accepts a size from 1B to 5TiB such as 500MB, 1GiB or plain bytes, not "big".',
    ])
  })

  it.each([
    ['PORT', '80a'],
    ['HOST', 'http://x'],
    ['BOTSTEAD_PUBLIC_URL', 'bots.example.com'],
    ['BOTSTEAD_PUBLIC_URL', 'https://bots.example.com/?a=1'],
    ['DATABASE_URL', 'mysql://db/botstead'],
    ['BOTSTEAD_ROLES', 'api,cook'],
    ['BOTSTEAD_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['BOTSTEAD_TRUSTED_PROXIES', 'proxy.local'],
    ['BOTSTEAD_ADMIN_TOKEN', 'short'],
    ['BOTSTEAD_ADMIN_TOKEN', 'with a space inside it'],
    ['BOTSTEAD_SECRET', 'too short'],
    ['BOTSTEAD_ALLOWED_ORIGINS', 'https://example.com/path'],
    ['BOTSTEAD_RATE_LIMIT', '0'],
    ['BOTSTEAD_RATE_BURST', '-1'],
    ['BOTSTEAD_SHUTDOWN_TIMEOUT_MS', '1h'],
    ['BOTSTEAD_MAX_BODY_BYTES', '1MB extra'],
    ['BOTSTEAD_MAX_INDEXED_FILE_BYTES', '96MB'],
    ['BOTSTEAD_MAX_PASSAGES_PER_FILE', '1.5'],
    ['BOTSTEAD_STORAGE_QUOTA_BYTES', '-1GB'],
  ])('%s=%s is refused', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name} accepts `)])
  })

  it('of secrets are not repeated', () => {
    const given = { DATABASE_URL: 'mysql://u:hunter2@db', BOTSTEAD_SECRET: 'hunter2' }
    const problems = problemsOf(given)
    expect(problems).toHaveLength(2)
    expect(problems.join()).not.toContain('hunter2')
  })

  it('include one role alone with SQLite, which no other process could share', () => {
    expect(problemsOf({ BOTSTEAD_ROLES: 'worker' })).toEqual([
      'BOTSTEAD_ROLES must be api,worker with SQLite: set DATABASE_URL to split the roles.',
    ])
  })
})

describe('warnings', () => {
  it('name unknown variables and the one that was probably meant', () => {
    const { warnings } = loadConfig({
      BOTSTEAD_DATADIR: 'x',
      BOTSTEAD_PORT: '1',
      BOTSTEAD_COFFEE: 'y',
      DATADIR: 'z',
    })
    expect(warnings).toEqual([
      'BOTSTEAD_DATADIR is not a setting: did you mean BOTSTEAD_DATA_DIR?',
      'BOTSTEAD_PORT is not a setting: did you mean PORT?',
      'BOTSTEAD_COFFEE is not a setting.',
    ])
  })

  it('warn of weak secrets and limits without effect', () => {
    const { warnings } = loadConfig({
      BOTSTEAD_CHAT_SECRET: 'four',
      BOTSTEAD_MAX_MESSAGE_BYTES: '2MiB',
    })
    expect(warnings).toEqual([
      expect.stringContaining('BOTSTEAD_CHAT_SECRET is shorter'),
      expect.stringContaining('BOTSTEAD_MAX_MESSAGE_BYTES has no effect'),
    ])
  })
})

describe('the settings file', () => {
  it('fills in what the environment leaves open', async () => {
    const path = await envFile('PORT=1111\nHOST="10.0.0.1" # office\nBOTSTEAD_DATADIR=x\n')
    const { config, warnings } = loadConfig({ PORT: '2222' }, { envFile: path })
    expect(config).toMatchObject({ port: 2222, host: '10.0.0.1' })
    expect(warnings).toHaveLength(1)
  })

  it('need not exist, but must be readable if it does', async () => {
    const path = await envFile('')
    expect(loadConfig({}, { envFile: `${path}.missing` }).config.port).toBe(8787)
    expect(() => loadConfig({}, { envFile: join(path, '..') })).toThrow(ConfigError)
  })
})

describe('the list of settings', () => {
  it('lists name, type, default and meaning of each, and every default is acceptable', () => {
    const listed = describeSettings()
    expect(listed).toContainEqual({
      name: 'BOTSTEAD_RATE_BURST',
      type: 'a whole number from 1 to 100000',
      default: '100',
      meaning: 'Burst of the rate limit: requests that a rested caller may send at once.',
    })
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length)
    for (const each of listed) {
      expect(each.meaning).toMatch(/^[A-Z].*\.$/)
      expect(each.default).not.toBe('')
    }
  })
})

describe('the object store', () => {
  it('is where its address and the variables of its tools say', () => {
    const { config } = loadConfig({
      BOTSTEAD_BLOBS_URL: 's3://contents/live',
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'eu-west-3',
    })
    expect(config.objectStore).toMatchObject({
      bucket: 'contents',
      prefix: 'live/',
      accessKeyId: 'AKIA',
      region: 'eu-west-3',
    })
  })

  it('is refused with a line that gives the reason and repeats no secret', () => {
    const problems = problemsOf({
      BOTSTEAD_BLOBS_URL: 's3://user:geheim@contents?endpont=https://storage.example.com',
    })
    expect(problems).toEqual([
      'BOTSTEAD_BLOBS_URL has a parameter endpont, but only endpoint, region, path_style, timeout exist.',
    ])
    expect(problemsOf({ BOTSTEAD_BLOBS_URL: 'https://user:geheim@contents' })).toEqual([
      expect.stringMatching(
        /^BOTSTEAD_BLOBS_URL accepts an address such as s3:.* not the given text\.$/,
      ),
    ])
  })
})

describe('the settings in force', () => {
  it('say where each comes from, and show no secret', async () => {
    const path = await envFile(
      'PORT=9000\nHOST=0.0.0.0\nBOTSTEAD_ADMIN_TOKEN=from-the-file-12345678\n',
    )
    const { settings } = loadConfig({ PORT: '9001', BOTSTEAD_RATE_BURST: ' ' }, { envFile: path })
    const of = (name: string) => {
      const { value, source } = settings.find((each) => each.name === name) ?? {}
      return [value, source]
    }
    expect(of('PORT')).toEqual(['9001', 'environment'])
    expect(of('HOST')).toEqual(['0.0.0.0', 'file'])
    expect(of('BOTSTEAD_ADMIN_TOKEN')).toEqual(['(set)', 'file'])
    expect(of('BOTSTEAD_RATE_BURST')).toEqual(['100', 'default'])
    expect(of('BOTSTEAD_TOKEN')).toEqual([undefined, undefined])
  })
})
