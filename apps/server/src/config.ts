import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import { clientSettings } from './client-settings.js'
import { objectStoreSettings, readObjectStore } from './object-store.js'
import type { S3Address } from './platform/blobs/s3-address.js'
import { nearest } from './platform/nearest.js'
import type { AddressRulesOptions } from './platform/outgoing/address-rules.js'
import {
  bytes,
  duration,
  type Environment,
  either,
  integer,
  listOf,
  network,
  oneOf,
  optional,
  readSettings,
  type Setting,
  setting,
  text,
  url,
  type Values,
} from './platform/settings.js'

const webAddress = url('an address such as https://bots.example.com', (given) =>
  /^https?:$/.test(given.protocol) && !given.search && !given.hash && !given.username
    ? given.href.replace(/\/+$/, '')
    : undefined,
)

const origin = url('an origin such as https://www.example.com', (given) =>
  given.origin !== 'null' && given.href === `${given.origin}/` ? given.origin : undefined,
)

const postgresAddress = url('an address such as postgres://user:password@host/database', (given) =>
  /^postgres(ql)?:$/.test(given.protocol) ? given.href : undefined,
)

/** Every variable except the limits. The texts are shown by `botstead config --help`. */
const settings = {
  port: setting('PORT', integer(0, 65_535), {
    default: '8787',
    meaning: 'Port to listen on; 0 takes a free one.',
  }),
  host: setting('HOST', text('a host name or address', /^[\w.:-]+$/), {
    default: '127.0.0.1',
    meaning: 'Address to listen on; 0.0.0.0 or :: for every network.',
  }),
  publicUrl: optional('BOTSTEAD_PUBLIC_URL', webAddress, {
    default: 'from HOST and PORT',
    meaning: 'Where callers reach the server; the addresses in answers start with it.',
  }),
  dataDir: setting('BOTSTEAD_DATA_DIR', text('a folder'), {
    default: './data',
    meaning: 'Folder of the SQLite database, the file contents and the secrets.',
  }),
  databaseUrl: optional('DATABASE_URL', postgresAddress, {
    default: 'none: SQLite in the data folder',
    meaning: 'PostgreSQL database, for more than one process or machine.',
    secret: true,
  }),
  roles: setting('BOTSTEAD_ROLES', listOf(oneOf('api', 'worker')), {
    default: 'api,worker',
    meaning: 'What this process does: answer requests, run background jobs, or both.',
  }),
  adminToken: optional(
    'BOTSTEAD_ADMIN_TOKEN',
    text('20 to 512 characters, no spaces', /^[!-~]{20,512}$/),
    {
      default: 'generated at the first start',
      meaning: 'Personal access token of the first account.',
      secret: true,
    },
  ),
  secret: optional('BOTSTEAD_SECRET', text('32 characters or more', /^.{32,}$/), {
    default: 'generated into the data folder',
    meaning: 'Signs file addresses and page tokens; the same in all processes of one database.',
    secret: true,
  }),
  chatSecret: optional('BOTSTEAD_CHAT_SECRET', text('any text'), {
    default: 'derived from BOTSTEAD_SECRET',
    meaning: 'Secret (HS256) of the user keys that chat applications sign themselves.',
    secret: true,
  }),
  metricsAccess: setting('BOTSTEAD_METRICS', oneOf('off', 'loopback', 'public'), {
    default: 'loopback',
    meaning:
      'Who may read /metrics: nobody, callers on this machine that do not come through a proxy, or anybody.',
  }),
  metricsToken: optional(
    'BOTSTEAD_METRICS_TOKEN',
    text('20 to 512 characters, no spaces', /^[!-~]{20,512}$/),
    {
      default: 'none',
      meaning: 'Bearer token with which /metrics may be read from anywhere, unless it is off.',
      secret: true,
    },
  ),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    { default: 'info', meaning: 'Lines below this level are not written.' },
  ),
  allowedOrigins: setting('BOTSTEAD_ALLOWED_ORIGINS', either(['*'], listOf(origin)), {
    default: '*',
    meaning: 'Web pages that may call the server from a browser; * means any.',
  }),
  trustedProxies: setting('BOTSTEAD_TRUSTED_PROXIES', either(['none'], listOf(network)), {
    default: 'none',
    meaning:
      'Proxies, as addresses or networks (10.0.0.0/8), whose word is taken for the address of a caller (X-Forwarded-For); limits count by it.',
  }),
  allowedNetworks: setting(
    'BOTSTEAD_ALLOWED_NETWORKS',
    either(['public', 'any'], listOf(network)),
    {
      default: 'public',
      meaning:
        'Addresses that the server may call besides public ones: bots, integrations, webhooks. This machine may be called while HOST is a loopback address.',
    },
  ),
  embeddingsUrl: optional('BOTSTEAD_EMBEDDINGS_URL', webAddress, {
    default: 'none: meaning is learnt from the passages of each bot',
    meaning:
      'Embeddings endpoint in the protocol of OpenAI (Ollama, vLLM, TEI, a hosted one); search by meaning then uses its vectors.',
  }),
  embeddingsModel: optional(
    'BOTSTEAD_EMBEDDINGS_MODEL',
    text('the name of a model', /^\S{1,200}$/),
    {
      default: 'none; must be set together with BOTSTEAD_EMBEDDINGS_URL',
      meaning: 'Model that the endpoint shall use; another one makes all vectors anew.',
    },
  ),
  embeddingsApiKey: optional('BOTSTEAD_EMBEDDINGS_API_KEY', text('any text'), {
    default: 'none',
    meaning: 'Key that the endpoint asks for.',
    secret: true,
  }),
  rateLimit: setting('BOTSTEAD_RATE_LIMIT', either(['auto', 'off'], integer(1, 1_000_000)), {
    default: 'auto',
    meaning:
      'Requests a minute per token or user key; auto means 600, and none for callers on this machine (behind a proxy there, set BOTSTEAD_TRUSTED_PROXIES).',
  }),
  rateBurst: setting('BOTSTEAD_RATE_BURST', integer(1, 100_000), {
    default: '100',
    meaning: 'Requests that may come at once after a rest.',
  }),
  searchesAtOnce: setting('BOTSTEAD_SEARCHES_AT_ONCE', integer(1, 64), {
    default: '2',
    meaning: 'Searches that run at a time: threads with SQLite, connections with PostgreSQL.',
  }),
  searchTimeoutMs: setting('BOTSTEAD_SEARCH_TIMEOUT_MS', duration('10ms', '5m'), {
    default: '10s',
    meaning: 'How long a search may take before it is given up, waiting for its turn included.',
  }),
  chatNewUsers: setting('BOTSTEAD_CHAT_NEW_USERS', either(['auto', 'off'], integer(1, 1_000_000)), {
    default: 'auto',
    meaning:
      'New users a minute of one chat per network address; auto means 60, and any number for callers on this machine.',
  }),
  chatUserMessages: setting(
    'BOTSTEAD_CHAT_USER_MESSAGES',
    either(['auto', 'off'], integer(1, 1_000_000)),
    {
      default: 'auto',
      meaning:
        'Messages and events a minute per chat user; auto means 120, and any number for callers on this machine.',
    },
  ),
  chatAddressMessages: setting(
    'BOTSTEAD_CHAT_ADDRESS_MESSAGES',
    either(['auto', 'off'], integer(1, 1_000_000)),
    {
      default: 'auto',
      meaning:
        'Messages and events a minute of one chat per network address; auto means 600, and any number for callers on this machine.',
    },
  ),
  eventRetentionMs: setting('BOTSTEAD_EVENT_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning: 'How far back listeners can resume: how long what happened in a conversation is kept.',
  }),
  deliveryRetentionMs: setting('BOTSTEAD_DELIVERY_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning:
      'How long finished deliveries and their attempts are kept, and how long others wait for a bot that is gone.',
  }),
  jobLeaseMs: setting('BOTSTEAD_JOB_LEASE_MS', duration('1s', '10m'), {
    default: '30s',
    meaning:
      'How long the background work of a process that died waits until another process goes on with it; with SQLite the next start does so at once.',
  }),
  shutdownTimeoutMs: setting('BOTSTEAD_SHUTDOWN_TIMEOUT_MS', duration('0', '10m'), {
    default: '5s',
    meaning: 'How long a stopping process waits for open requests and running jobs.',
  }),
}

/** Every limit that an operator may move; the rest belongs to the interface and is fixed there. */
const limits = {
  bodyBytes: setting('BOTSTEAD_MAX_BODY_BYTES', bytes('1KiB', '100MiB'), {
    default: '1MiB',
    meaning: 'Body of a request to the runtime and chat interfaces.',
  }),
  adminBodyBytes: setting('BOTSTEAD_MAX_ADMIN_BODY_BYTES', bytes('1KiB', '100MiB'), {
    default: '50MiB',
    meaning: 'Body of a request to the admin interface, which carries the code of bots.',
  }),
  messageBytes: setting('BOTSTEAD_MAX_MESSAGE_BYTES', bytes('1KiB', '100MiB'), {
    default: '128KiB',
    meaning: 'Payload of one message.',
  }),
  deliveries: setting('BOTSTEAD_DELIVERIES', integer(1, 10_000), {
    default: '128',
    meaning: 'Deliveries to bots and integrations that a process has on the way at a time.',
  }),
  deliveriesPerReceiver: setting('BOTSTEAD_DELIVERIES_PER_RECEIVER', integer(1, 10_000), {
    default: '64',
    meaning: 'Of those, the ones to one bot or one installed integration.',
  }),
  deliveryAttempts: setting('BOTSTEAD_DELIVERY_ATTEMPTS', integer(1, 1000), {
    default: '20',
    meaning: 'Attempts at a delivery before it is given up; with pauses of up to 10 minutes.',
  }),
  fileBytes: setting('BOTSTEAD_MAX_FILE_BYTES', bytes('1B', '5TiB'), {
    default: '5GiB',
    meaning: 'Content of one file.',
  }),
  indexedFileBytes: setting('BOTSTEAD_MAX_INDEXED_FILE_BYTES', bytes('1B', '95MB'), {
    default: '95MB',
    meaning: 'Content of one file that is indexed for search.',
  }),
  passagesPerFile: setting('BOTSTEAD_MAX_PASSAGES_PER_FILE', integer(1, 100_000), {
    default: '5000',
    meaning: 'Passages that one file may be split into.',
  }),
  indexingWorkers: setting('BOTSTEAD_INDEXING_WORKERS', either(['auto'], integer(1, 64)), {
    default: 'auto',
    meaning:
      'Files that one process reads at a time; auto means one per processor but one. Up to three that take long are read beside them.',
  }),
  indexingTimeoutMs: setting('BOTSTEAD_INDEXING_TIMEOUT_MS', duration('1s', '1h'), {
    default: '2m',
    meaning: 'How long one file may take to be read; then it fails.',
  }),
  indexingMemoryBytes: setting('BOTSTEAD_INDEXING_MEMORY_BYTES', bytes('128MiB', '32GiB'), {
    default: '512MiB',
    meaning: 'Working memory (JavaScript heap) for reading one file.',
  }),
  indexingOutputBytes: setting('BOTSTEAD_INDEXING_OUTPUT_BYTES', bytes('1MiB', '500MiB'), {
    default: '64MiB',
    meaning: 'All passages of one file with their index words.',
  }),
  indexingUnpackedBytes: setting('BOTSTEAD_INDEXING_UNPACKED_BYTES', bytes('1MiB', '4GiB'), {
    default: '256MiB',
    meaning: 'Unpacked parts of one Office document or e-book.',
  }),
  indexingPages: setting('BOTSTEAD_INDEXING_PAGES', integer(1, 100_000), {
    default: '5000',
    meaning: 'Pages, slides, sheets or chapters of one document that is indexed.',
  }),
  listeners: setting('BOTSTEAD_MAX_LISTENERS', integer(1, 1_000_000), {
    default: '20000',
    meaning: 'Open streams of one process, over all conversations.',
  }),
  listenersPerUser: setting('BOTSTEAD_MAX_LISTENERS_PER_USER', integer(1, 1_000_000), {
    default: '50',
    meaning: 'Open streams of one chat user in one process.',
  }),
  listenerBufferBytes: setting('BOTSTEAD_MAX_LISTENER_BUFFER_BYTES', bytes('16KiB', '100MiB'), {
    default: '512KiB',
    meaning: 'What may wait for one listener who does not read, before it is let go and resumes.',
  }),
  storageQuotaBytes: setting('BOTSTEAD_STORAGE_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '10GB',
    meaning: 'Content of all files of a workspace.',
  }),
  vectorQuotaBytes: setting('BOTSTEAD_VECTOR_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '2GB',
    meaning: 'Content of all indexed files of a workspace.',
  }),
}

const everySetting: readonly Setting<unknown>[] = [
  ...Object.values(settings),
  ...Object.values(objectStoreSettings),
  ...Object.values(limits),
  ...Object.values(clientSettings),
]

type Derived =
  | 'chatNewUsers'
  | 'chatUserMessages'
  | 'chatAddressMessages'
  | 'publicUrl'
  | 'allowedOrigins'
  | 'trustedProxies'
  | 'rateLimit'
  | 'rateBurst'
  | 'chatNewUsers'
  | 'chatUserMessages'
  | 'chatAddressMessages'
  | 'roles'
  | 'allowedNetworks'
  | 'metricsAccess'
  | 'metricsToken'

interface Rate {
  /** Undefined refuses nobody. */
  readonly perMinute: number | undefined
  /** Callers on this machine are not counted. */
  readonly exemptLoopback: boolean
}

/** Who may read the metrics. */
export interface MetricsAccess {
  readonly access: 'off' | 'loopback' | 'public'
  /** With it, callers from anywhere may, unless it is off. */
  readonly token: string | undefined
}

/** The settings of a process, checked and complete. Sizes are bytes, durations milliseconds. */
export interface Config extends Readonly<Omit<Values<typeof settings>, Derived>> {
  /** Without a slash at the end. */
  readonly publicUrl: string
  /** Where file contents are; undefined stands for the data folder. */
  readonly objectStore: S3Address | undefined
  readonly roles: { readonly api: boolean; readonly worker: boolean }
  /** Origins that browsers may call from; undefined allows any. */
  readonly allowedOrigins: readonly string[] | undefined
  /** What the server may call on behalf of others. */
  readonly outgoing: AddressRulesOptions
  /** Addresses and networks of proxies that tell truly who calls. */
  readonly trustedProxies: readonly string[]
  readonly metrics: MetricsAccess
  readonly rateLimit: Rate & { readonly burst: number }
  /** What is counted at chat addresses beside all requests. */
  readonly chatRates: {
    /** New users per network address. */
    readonly newUsers: Rate
    /** Messages and events per user. */
    readonly userMessages: Rate
    /** Messages and events per network address. */
    readonly addressMessages: Rate
  }
  readonly limits: Values<typeof limits>
}

/** Some variables have values that cannot be used: one line for each. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export interface LoadedConfig {
  config: Config
  /** Things that are probably not meant, one line each; for the log. */
  warnings: readonly string[]
}

/**
 * Reads all settings from the environment and, below it, from a file of `NAME=value` lines.
 * @param options.envFile path of that file; it need not exist
 * @throws ConfigError that lists every wrong variable
 */
export function loadConfig(
  environment: Environment = process.env,
  options: { envFile?: string } = {},
): LoadedConfig {
  const given = { ...readEnvFile(options.envFile), ...environment }
  const problems: string[] = []
  const values = readSettings(settings, given, problems)
  const limitValues = readSettings(limits, given, problems)
  if (!values.databaseUrl && values.roles.length === 1) {
    problems.push(
      'BOTSTEAD_ROLES must be api,worker with SQLite: set DATABASE_URL to split the roles.',
    )
  }
  const objectStore = readObjectStore(given, problems)
  if ((values.embeddingsUrl === undefined) !== (values.embeddingsModel === undefined)) {
    problems.push(
      'BOTSTEAD_EMBEDDINGS_URL and BOTSTEAD_EMBEDDINGS_MODEL must be set together, or neither.',
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)

  const {
    rateBurst,
    allowedNetworks,
    metricsAccess,
    metricsToken,
    chatNewUsers,
    chatUserMessages,
    chatAddressMessages,
    ...rest
  } = values
  const config: Config = {
    ...rest,
    publicUrl: values.publicUrl ?? localAddress(values.host, values.port),
    dataDir: resolve(values.dataDir),
    objectStore,
    roles: Object.freeze({
      api: values.roles.includes('api'),
      worker: values.roles.includes('worker'),
    }),
    allowedOrigins: values.allowedOrigins === '*' ? undefined : values.allowedOrigins,
    trustedProxies: values.trustedProxies === 'none' ? Object.freeze([]) : values.trustedProxies,
    outgoing: Object.freeze({
      allowed: allowedNetworks === 'public' ? [] : allowedNetworks,
      allowLoopback: /^(localhost|127\..*|::1)$/.test(values.host),
    }),
    metrics: Object.freeze({ access: metricsAccess, token: metricsToken }),
    rateLimit: Object.freeze({ ...toRate(values.rateLimit, 600), burst: rateBurst }),
    chatRates: Object.freeze({
      newUsers: toRate(chatNewUsers, 60),
      userMessages: toRate(chatUserMessages, 120),
      addressMessages: toRate(chatAddressMessages, 600),
    }),
    limits: limitValues,
  }
  return { config: Object.freeze(config), warnings: [...unknownNames(given), ...doubts(config)] }
}

/** What a command knows of the server that it calls, before its options. */
export interface ClientConfig extends Values<typeof clientSettings> {
  /** The server that would start in this folder, and where its token is kept. */
  readonly local: Pick<Config, 'publicUrl' | 'dataDir' | 'adminToken'>
}

/**
 * Reads what a command needs to call a server.
 * @throws ConfigError that lists every wrong variable
 */
export function loadClientConfig(
  environment: Environment = process.env,
  options: { envFile?: string } = {},
): ClientConfig {
  const { config } = loadConfig(environment, options)
  const problems: string[] = []
  const given = { ...readEnvFile(options.envFile), ...environment }
  const values = readSettings(clientSettings, given, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...values, local: config }
}

/** The address of a server without BOTSTEAD_PUBLIC_URL, as seen from its own machine. */
export function localAddress(host: string, port: number): string {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Name, accepted values, default and meaning of every variable, for help texts and documents. */
export function describeSettings() {
  return everySetting.map(({ name, accepts, default: fallback, meaning }) => ({
    name,
    type: accepts,
    default: fallback,
    meaning,
  }))
}

function readEnvFile(path: string | undefined): Record<string, string> {
  if (path === undefined) return {}
  try {
    return parseEnvFile(readFileSync(path))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {}
    throw new ConfigError([`The settings file ${path} cannot be read: ${String(cause)}.`])
  }
}

function toRate(given: number | 'auto' | 'off', automatic: number): Rate {
  const perMinute = given === 'auto' ? automatic : given === 'off' ? undefined : given
  return Object.freeze({ perMinute, exemptLoopback: given === 'auto' })
}

const prefix = 'BOTSTEAD_'

function unknownNames(environment: Environment): string[] {
  const known = new Map(everySetting.map(({ name }) => [withoutPrefix(name), name]))
  const guesses = [...known.keys()]
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && known.get(withoutPrefix(name)) !== name)
    .map((name) => {
      // The prefix is right in every name, so it must not count as likeness.
      const guess = known.get(nearest(withoutPrefix(name), guesses) ?? '')
      return `${name} is not a setting${guess ? `: did you mean ${guess}?` : '.'}`
    })
}

function withoutPrefix(name: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

function doubts(config: Config): string[] {
  const found: string[] = []
  if (config.chatSecret !== undefined && Buffer.byteLength(config.chatSecret) < 32) {
    found.push(
      'BOTSTEAD_CHAT_SECRET is shorter than 32 bytes: user keys could be forged by trying.',
    )
  }
  if (config.limits.messageBytes > config.limits.bodyBytes) {
    found.push('BOTSTEAD_MAX_MESSAGE_BYTES has no effect above BOTSTEAD_MAX_BODY_BYTES.')
  }
  return found
}
