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
} from './settings.js'

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
    meaning: 'Where callers reach the server; the addresses in answers start with it.',
  }),
  dataDir: setting('BOTSTEAD_DATA_DIR', text('a folder'), {
    default: './data',
    meaning: 'Folder of the SQLite database, the file contents and the secrets.',
  }),
  diskReserveBytes: setting('BOTSTEAD_DISK_RESERVE_BYTES', bytes('0', '1GiB'), {
    default: '16MiB',
    meaning:
      'Disk space that a file beside the SQLite database reserves, so that deleting works on a full disk; 0 for none.',
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
  chatKeyLifetime: setting(
    'BOTSTEAD_CHAT_KEY_LIFETIME',
    either(['none'], duration('1m', '3650d')),
    {
      default: 'none',
      meaning:
        'How long user keys that the server issues are valid, also those issued before; none means for ever.',
    },
  ),
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
    meaning:
      'How far back listeners can resume; a conversation of which signals wait for a webhook is kept for longer.',
  }),
  deliveryRetentionMs: setting('BOTSTEAD_DELIVERY_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning:
      'How long finished deliveries and their attempts are kept, and how long others wait for a bot that is gone.',
  }),
  missedEventsMs: setting('BOTSTEAD_MISSED_EVENTS', duration('0', '30d'), {
    default: '1h',
    meaning:
      'How far back a bot that gets an address receives the events that happened while it had none; 0 for none of them.',
  }),
  botLogRetentionMs: setting('BOTSTEAD_BOT_LOG_RETENTION', duration('1h', '3650d'), {
    default: '7d',
    meaning: 'How long lines in the logs of bots are kept.',
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
