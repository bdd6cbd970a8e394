import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseEnvFile } from 'dotenv'
import {
  parseS3Address,
  type S3Address,
  S3AddressError,
  type S3Environment,
} from '../platform/blobs/s3-address.js'
import { nearest } from '../platform/nearest.js'
import type { AddressRulesOptions } from '../platform/outgoing/address-rules.js'
import type { TracingOptions } from '../platform/telemetry/otlp-tracing.js'
import { version } from '../version.js'
import { type BackupConfig, backupSettings, readBackup } from './backup-settings.js'
import { type MailConfig, mailSettings, readMail } from './mail-settings.js'
import { type Environment, readSettings, type Setting, type Values } from './setting-kinds.js'
import { clientSettings, limitSettings, objectStoreSettings, serverSettings } from './settings.js'
import {
  type ProviderConfig,
  readSingleSignOn,
  singleSignOnSettings,
} from './single-sign-on-settings.js'
import { readTracing, telemetrySettings } from './telemetry-settings.js'
import { tunnelSettings } from './tunnel-settings.js'

const everySetting: readonly Setting<unknown>[] = [
  ...Object.values(serverSettings),
  ...Object.values(objectStoreSettings),
  ...Object.values(limitSettings),
  ...Object.values(tunnelSettings),
  ...Object.values(backupSettings),
  ...Object.values(mailSettings),
  ...Object.values(singleSignOnSettings),
  ...Object.values(telemetrySettings),
  ...Object.values(clientSettings),
]

type Derived =
  | 'publicUrl'
  | 'allowedOrigins'
  | 'trustedProxies'
  | 'rateLimit'
  | 'rateBurst'
  | 'chatKeyLifetime'
  | 'chatNewUsers'
  | 'chatUserMessages'
  | 'chatAddressMessages'
  | 'chatUserFiles'
  | 'chatAddressFileBytes'
  | 'roles'
  | 'allowedNetworks'
  | 'metricsAccess'
  | 'metricsToken'
  | 'hosting'
  | 'hostingCommand'
  | 'hostingControlGroup'
  | 'hostingIdleMs'
  | 'hostingStartMs'

interface Rate {
  /** Undefined for no limit. */
  readonly perMinute: number | undefined
  /** Callers on this machine are not counted. */
  readonly exemptLoopback: boolean
}

/** Access to the metrics. */
interface MetricsAccess {
  readonly access: 'off' | 'loopback' | 'public'
  /** With it, callers from anywhere may, unless it is off. */
  readonly token: string | undefined
}

/** The settings of a process, checked and complete. Sizes are bytes, durations milliseconds. */
export interface Config extends Readonly<Omit<Values<typeof serverSettings>, Derived>> {
  /** Without a slash at the end. */
  readonly publicUrl: string
  /** Object store for file contents; undefined for the data folder. */
  readonly objectStore: S3Address | undefined
  readonly roles: { readonly api: boolean; readonly worker: boolean }
  /** Origins that browsers may call from; undefined allows any. */
  readonly allowedOrigins: readonly string[] | undefined
  /** Rules for requests of the server to configured addresses. */
  readonly outgoing: AddressRulesOptions
  /** Addresses and networks of proxies whose account of the caller is trusted. */
  readonly trustedProxies: readonly string[]
  readonly metrics: MetricsAccess
  readonly rateLimit: Rate & { readonly burst: number }
  /** Milliseconds for which user keys of the server are good; undefined for ever. */
  readonly chatKeyLifetimeMs: number | undefined
  /** Rate limits of chat addresses, in addition to the general one. */
  readonly chatRates: {
    /** New users per network address. */
    readonly newUsers: Rate
    /** Messages and events per user. */
    readonly userMessages: Rate
    /** Messages and events per network address. */
    readonly addressMessages: Rate
    /** Files per user. */
    readonly userFiles: Rate
    /** Bytes of files per network address; the burst is that of an hour. */
    readonly addressFileBytes: Rate
  }
  readonly hosting: HostingConfig
  readonly limits: Values<typeof limitSettings>
  readonly tunnels: Values<typeof tunnelSettings>
  /** Backups that the server makes by itself; undefined for none. */
  readonly backup: BackupConfig | undefined
  /** The mail server and the sender; undefined where no mail is sent. */
  readonly mail: MailConfig | undefined
  /** The provider with whose accounts people may sign in; undefined for none. */
  readonly singleSignOn: ProviderConfig | undefined
  /** Export of traces; undefined for none. */
  readonly tracing: TracingOptions | undefined
}

/** Settings for running deployed code. */
export interface HostingConfig {
  readonly mode: 'off' | 'trusted' | 'wrapped'
  /** The words of the command that wraps the start of a program; none unless wrapped. */
  readonly command: readonly string[]
  /** Folder of a delegated control group; undefined to look whether that of the server is one. */
  readonly controlGroup: string | undefined
  /** Milliseconds that a program without requests keeps running. */
  readonly idleMs: number
  /** Milliseconds that a program may take to load. */
  readonly startMs: number
  /** Folder for code as Node has compiled it. */
  readonly compiledFolder: string
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

/** The configuration, and what the operator should know of it. */
export interface LoadedConfig {
  config: Config
  /** Things that are probably not meant, one line each; for the log. */
  warnings: readonly string[]
  /** The settings of the server as they are in force, without secrets. */
  settings: readonly SettingInForce[]
}

/** A setting as it is in force. */
export interface SettingInForce {
  name: string
  /** The text in force, or what happens without one; a secret that is set is not shown. */
  value: string
  default: string
  source: 'environment' | 'file' | 'default'
  isSecret: boolean
  /** Settings are read at the start only. */
  needsRestart: boolean
  accepts: string
  meaning: string
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
  const file = readEnvFile(options.envFile)
  const given = { ...file, ...environment }
  const problems: string[] = []
  const values = readSettings(serverSettings, given, problems)
  const limitValues = readSettings(limitSettings, given, problems)
  const tunnels = readSettings(tunnelSettings, given, problems)
  if (!values.databaseUrl && values.roles.length === 1) {
    problems.push(
      'BOTSTEAD_ROLES must be api,worker with SQLite: set DATABASE_URL to split the roles.',
    )
  }
  const objectStore = readObjectStore(given, problems)
  const backup = readBackup(
    readSettings(backupSettings, given, problems),
    s3EnvironmentOf(given),
    { dataDir: resolve(values.dataDir), objectStore },
    problems,
  )
  const mail = readMail(readSettings(mailSettings, given, problems), problems)
  const singleSignOn = readSingleSignOn(
    readSettings(singleSignOnSettings, given, problems),
    problems,
  )
  const tracing = readTracing(given, problems, version)
  if ((values.embeddingsUrl === undefined) !== (values.embeddingsModel === undefined)) {
    problems.push(
      'BOTSTEAD_EMBEDDINGS_URL and BOTSTEAD_EMBEDDINGS_MODEL must be set together, or neither.',
    )
  }
  if ((values.hosting === 'wrapped') !== (values.hostingCommand !== undefined)) {
    problems.push(
      'BOTSTEAD_HOSTING=wrapped and BOTSTEAD_HOSTING_COMMAND must be set together, or neither.',
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)

  const isLoopback = /^(localhost|127\..*|::1)$/.test(values.host)
  const {
    rateBurst,
    allowedNetworks,
    metricsAccess,
    metricsToken,
    chatKeyLifetime,
    chatNewUsers,
    chatUserMessages,
    chatAddressMessages,
    chatUserFiles,
    chatAddressFileBytes,
    hosting,
    hostingCommand,
    hostingControlGroup,
    hostingIdleMs,
    hostingStartMs,
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
      allowLoopback: isLoopback,
    }),
    hosting: Object.freeze({
      mode: hosting ?? (isLoopback ? 'trusted' : 'off'),
      command: Object.freeze(hostingCommand?.split(/\s+/).filter(Boolean) ?? []),
      controlGroup: hostingControlGroup,
      idleMs: hostingIdleMs,
      startMs: hostingStartMs,
      compiledFolder: resolve(values.dataDir, 'compiled'),
    }),
    metrics: Object.freeze({ access: metricsAccess, token: metricsToken }),
    rateLimit: Object.freeze({ ...toRate(values.rateLimit, 600), burst: rateBurst }),
    chatKeyLifetimeMs: chatKeyLifetime === 'none' ? undefined : chatKeyLifetime,
    chatRates: Object.freeze({
      newUsers: toRate(chatNewUsers, 60),
      userMessages: toRate(chatUserMessages, 120),
      addressMessages: toRate(chatAddressMessages, 600),
      userFiles: toRate(chatUserFiles, 20),
      addressFileBytes: toHourlyBytes(chatAddressFileBytes, limitValues),
    }),
    limits: limitValues,
    tunnels,
    backup,
    mail,
    singleSignOn,
    tracing,
  }
  return {
    config: Object.freeze(config),
    warnings: [...unknownNames(given), ...suspectValues(config)],
    settings: settingsInForce(environment, file),
  }
}

/** The settings of the server, without those of commands that call one. */
function settingsInForce(environment: Environment, file: Environment): SettingInForce[] {
  const groups = [
    serverSettings,
    objectStoreSettings,
    limitSettings,
    tunnelSettings,
    backupSettings,
    mailSettings,
    singleSignOnSettings,
    telemetrySettings,
  ]
  const ofServer = groups.flatMap((group) => Object.values<Setting<unknown>>(group))
  return ofServer.map(({ name, secret: isSecret, default: fallback, accepts, meaning }) => {
    const text = (environment[name] ?? file[name])?.trim()
    const described = { name, default: fallback, isSecret, needsRestart: true, accepts, meaning }
    if (!text) return { ...described, value: fallback, source: 'default' }
    const source = environment[name] === undefined ? 'file' : 'environment'
    return { ...described, value: isSecret ? '(set)' : text, source }
  })
}

/** The connection settings of a command, before its options are applied. */
export interface ClientConfig extends Values<typeof clientSettings> {
  /** The server that would start in this folder, and where its token is kept. */
  readonly local: Pick<Config, 'publicUrl' | 'dataDir' | 'secret' | 'adminToken'>
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

/**
 * The object store that the environment names, undefined for none.
 * @param problems gets a line for what is wrong
 */
function readObjectStore(environment: Environment, problems: string[]): S3Address | undefined {
  const { blobsUrl, ...rest } = readSettings(objectStoreSettings, environment, problems)
  if (blobsUrl === undefined) return undefined
  try {
    return Object.freeze(parseS3Address(blobsUrl, rest))
  } catch (error) {
    if (!(error instanceof S3AddressError)) throw error
    problems.push(`BOTSTEAD_BLOBS_URL ${error.message}.`)
    return undefined
  }
}

/** The settings of an object store that its address may omit. */
export function s3EnvironmentOf(environment: Environment): S3Environment {
  // `readConfig` reports errors of these settings.
  const { blobsUrl: _, ...rest } = readSettings(objectStoreSettings, environment, [])
  return rest
}

export function readEnvFile(path: string | undefined): Record<string, string> {
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

/** The bytes of an hour as a rate per minute; at least one file of the largest size. */
function toHourlyBytes(
  given: number | 'auto' | 'off',
  { chatFileBytes, chatFilesBytes }: Values<typeof limitSettings>,
): Rate {
  const perMinute = (bytes: number) => Math.ceil(Math.max(bytes, chatFileBytes) / 60)
  return toRate(
    typeof given === 'number' ? perMinute(given) : given,
    perMinute(chatFilesBytes / 10),
  )
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

function suspectValues(config: Config): string[] {
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
