import { chatLimitSettings, chatSettings } from './chat-settings.js'
import { hostingLimitSettings, hostingSettings } from './hosting-settings.js'
import {
  bytes,
  duration,
  either,
  integer,
  listOf,
  network,
  oneOf,
  optional,
  setting,
  text,
  url,
} from './setting-kinds.js'

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

/** Settings of the server. `botstead config --help` prints the texts of all settings. */
export const serverSettings = {
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
    meaning:
      'Address at which callers reach the server; the addresses in responses start with it, and passkeys belong to its host.',
  }),
  dataDir: setting('BOTSTEAD_DATA_DIR', text('a folder'), {
    default: './data',
    meaning: 'Folder of the SQLite database, the file contents and the secrets.',
  }),
  diskReserveBytes: setting('BOTSTEAD_DISK_RESERVE_BYTES', bytes('0', '1GiB'), {
    default: '16MiB',
    meaning:
      'Disk space that the server reserves in a file beside the SQLite database, so that deleting works on a full disk; 0 for none.',
  }),
  databaseUrl: optional('DATABASE_URL', postgresAddress, {
    default: 'none: SQLite in the data folder',
    meaning: 'PostgreSQL database, for more than one process or machine.',
    secret: true,
  }),
  roles: setting('BOTSTEAD_ROLES', listOf(oneOf('api', 'worker')), {
    default: 'api,worker',
    meaning: 'Work of this process: serving requests, running background jobs, or both.',
  }),
  adminToken: optional(
    'BOTSTEAD_ADMIN_TOKEN',
    text(
      '20 to 512 characters, no spaces, not beginning with bp_ses_',
      /^(?!bp_ses_)[!-~]{20,512}$/,
    ),
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
  dashboard: setting('BOTSTEAD_DASHBOARD', oneOf('on', 'off'), {
    default: 'on',
    meaning: 'Whether the server has a dashboard, at /dashboard, and lets browsers sign in to it.',
  }),
  sessionLifetimeMs: setting('BOTSTEAD_SESSION_LIFETIME', duration('5m', '365d'), {
    default: '14d',
    meaning: 'Time for which a browser stays signed in to the dashboard.',
  }),
  metricsAccess: setting('BOTSTEAD_METRICS', oneOf('off', 'loopback', 'public'), {
    default: 'loopback',
    meaning:
      'Access to /metrics: nobody, callers on this machine that do not come through a proxy, or anybody.',
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
      'Proxies, as addresses or networks (10.0.0.0/8), that are trusted to name the address of a caller (X-Forwarded-For); limits count by that address.',
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
  ...hostingSettings,
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
      meaning: 'Model for the endpoint; after a change, the server computes all vectors again.',
    },
  ),
  embeddingsApiKey: optional('BOTSTEAD_EMBEDDINGS_API_KEY', text('any text'), {
    default: 'none',
    meaning: 'API key for the endpoint.',
    secret: true,
  }),
  rateLimit: setting('BOTSTEAD_RATE_LIMIT', either(['auto', 'off'], integer(1, 1_000_000)), {
    default: 'auto',
    meaning:
      'Requests a minute per token or user key; auto means 600, and no limit for callers on this machine (with a proxy there, set BOTSTEAD_TRUSTED_PROXIES).',
  }),
  rateBurst: setting('BOTSTEAD_RATE_BURST', integer(1, 100_000), {
    default: '100',
    meaning: 'Burst of the rate limit: requests that a rested caller may send at once.',
  }),
  searchesAtOnce: setting('BOTSTEAD_SEARCHES_AT_ONCE', integer(1, 64), {
    default: '2',
    meaning: 'Searches that run at a time: threads with SQLite, connections with PostgreSQL.',
  }),
  searchTimeoutMs: setting('BOTSTEAD_SEARCH_TIMEOUT_MS', duration('10ms', '5m'), {
    default: '10s',
    meaning: 'Time limit of a search, including the wait for its turn.',
  }),
  ...chatSettings,
  eventRetentionMs: setting('BOTSTEAD_EVENT_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning:
      'Time for which listeners can resume; the log of a conversation with signals that wait for a webhook is kept longer.',
  }),
  deliveryRetentionMs: setting('BOTSTEAD_DELIVERY_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning:
      'Retention of finished deliveries and their attempts, and the time for which others wait for a bot that does not respond.',
  }),
  missedEventsMs: setting('BOTSTEAD_MISSED_EVENTS', duration('0', '30d'), {
    default: '1h',
    meaning:
      'Age up to which a bot that gets an address receives earlier events; 0 for none of them.',
  }),
  botLogRetentionMs: setting('BOTSTEAD_BOT_LOG_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning: 'Retention of lines in the logs of bots.',
  }),
  auditRetentionMs: setting('BOTSTEAD_AUDIT_RETENTION', duration('1d', '3650d'), {
    default: '365d',
    meaning: 'Retention of records in the audit logs of workspaces.',
  }),
  jobLeaseMs: setting('BOTSTEAD_JOB_LEASE_MS', duration('1s', '10m'), {
    default: '30s',
    meaning:
      'Time after which another process continues the background work of a process that died; with SQLite, the next start does so at once.',
  }),
  shutdownTimeoutMs: setting('BOTSTEAD_SHUTDOWN_TIMEOUT_MS', duration('0', '10m'), {
    default: '5s',
    meaning: 'Time for which a stopping process waits for open requests and running jobs.',
  }),
}

const blobsAddress = text(
  'an address such as s3://bucket/prefix?endpoint=https://storage.example.com&region=eu-central-1',
  /^s3:\/\/./,
)

/**
 * The object store of file contents, if they are not in the data folder. The AWS names are those of the
 * AWS tools.
 */
export const objectStoreSettings = {
  blobsUrl: optional('BOTSTEAD_BLOBS_URL', blobsAddress, {
    default: 'none: the data folder',
    meaning:
      'Object store (S3) for file contents; endpoint, region and path_style are its parameters, user:password before the bucket its access key.',
    secret: true,
  }),
  accessKeyId: optional('AWS_ACCESS_KEY_ID', text('an access key', /^\S+$/), {
    default: 'user of BOTSTEAD_BLOBS_URL',
    meaning: 'Access key of the object store.',
  }),
  secretAccessKey: optional('AWS_SECRET_ACCESS_KEY', text('a secret key', /^\S+$/), {
    default: 'password of BOTSTEAD_BLOBS_URL',
    meaning: 'Secret of that access key.',
    secret: true,
  }),
  sessionToken: optional('AWS_SESSION_TOKEN', text('a session token', /^\S+$/), {
    default: 'none',
    meaning: 'Session token of a temporary access key.',
    secret: true,
  }),
  region: optional('AWS_REGION', text('a region such as eu-central-1', /^[\w-]+$/), {
    default: 'us-east-1',
    meaning: 'Region of the object store, when BOTSTEAD_BLOBS_URL has none.',
  }),
}

/** Every limit that an operator may change; the others belong to the interface and are fixed there. */
export const limitSettings = {
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
    meaning: 'Deliveries to bots and integrations that a process sends at a time.',
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
  ...chatLimitSettings,
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
      'Files that one process reads at a time; auto means one fewer than there are processors. Up to three slow files are read in addition.',
  }),
  indexingTimeoutMs: setting('BOTSTEAD_INDEXING_TIMEOUT_MS', duration('1s', '1h'), {
    default: '2m',
    meaning:
      'Time limit for reading one file; small files may take a part of it only, as processor time.',
  }),
  indexingMemoryBytes: setting('BOTSTEAD_INDEXING_MEMORY_BYTES', bytes('128MiB', '32GiB'), {
    default: '512MiB',
    meaning:
      'Working memory (JavaScript heap) for reading one file; a reader that takes twice as much and 256 MiB in all is ended.',
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
    meaning:
      'Data that may wait for one listener that does not read, before the server disconnects it.',
  }),
  storageQuotaBytes: setting('BOTSTEAD_STORAGE_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '10GB',
    meaning: 'Content of all files of a workspace.',
  }),
  vectorQuotaBytes: setting('BOTSTEAD_VECTOR_QUOTA_BYTES', bytes('0', '1000TB'), {
    default: '2GB',
    meaning: 'Content of all indexed files of a workspace.',
  }),
  callQuota: optional('BOTSTEAD_CALL_QUOTA', integer(0, 1_000_000_000_000), {
    default: 'none',
    meaning: 'Messages from users and other events of all bots of a workspace in a month (UTC).',
  }),
  ...hostingLimitSettings,
  botVersions: setting('BOTSTEAD_MAX_BOT_VERSIONS', integer(0, 10_000), {
    default: '50',
    meaning: 'Versions that are kept of one bot; equal code is stored once.',
  }),
  evaluationCases: setting('BOTSTEAD_EVALUATION_CASES', integer(0, 1_000_000), {
    default: '10000',
    meaning: 'Cases in all evaluation sets of a bot.',
  }),
}

/** Settings of commands that call a running server, such as `botstead files`; each is also an option. */
export const clientSettings = {
  url: optional('BOTSTEAD_URL', webAddress, {
    default: 'the server of this folder',
    meaning: 'Server that commands such as "botstead files" call.',
  }),
  token: optional('BOTSTEAD_TOKEN', text('a token, without spaces', /^[!-~]+$/), {
    default: 'admin-token of the data folder, for a server on this machine',
    meaning: 'Token that those commands call with: personal, or the key of a bot.',
    secret: true,
  }),
  bot: optional('BOTSTEAD_BOT', text('the id or name of a bot'), {
    default: 'the only bot',
    meaning: 'Bot that those commands work on.',
  }),
}
