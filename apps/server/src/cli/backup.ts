import { Command, InvalidArgumentError } from 'commander'
import { readBackupPlace } from '../config/backup-place.js'
import type { BackupPlace } from '../config/backup-settings.js'
import { type Config, loadConfig } from '../config/config.js'
import { duration } from '../config/setting-kinds.js'

interface PassphraseOptions {
  passphraseFile?: string
}

interface CreateOptions extends PassphraseOptions {
  encryption: boolean
  keep?: number
}

interface ReadOptions extends PassphraseOptions {
  backup?: string
}

const envFile = '.env'
const passphraseOption = [
  '--passphrase-file <file>',
  'file whose first line is the passphrase',
] as const
const placeText = 'a folder, or s3://bucket/prefix?endpoint=...; BOTSTEAD_BACKUP_TARGET if left out'

/** `botstead backup`: makes backups, lists them and checks them. */
export function backupCommand(): Command {
  const command = new Command('backup')
    .description('Back up database, contents and secrets, with or without a running server.')
    .argument('[target]', placeText)
    .option(...passphraseOption)
    .option('--no-encryption', 'store it without encryption: it contains the secrets of the server')
    .option('--keep <duration>', 'remove earlier backups that are older, such as 30d', toDuration)
    .action(async (given: string | undefined, options: CreateOptions) => {
      const { config } = loadConfig(undefined, { envFile })
      const place = placeOf(given, config, { isTarget: true })
      const isEncrypted = options.encryption && !isScheduledWithout(config, given)
      const passphrase = isEncrypted ? await passphraseOf(config, options) : undefined
      if (isEncrypted && passphrase === undefined) {
        throw new Error(
          'A backup is encrypted under a passphrase: give a file with one (--passphrase-file, 12 characters or more), or --no-encryption.',
        )
      }
      const { backUp } = await import('../app/backup.js')
      await withProgress(async (doing) => {
        const request = { place, passphrase, keepMs: options.keep }
        const { manifest, storedBytes, removed } = await backUp(config, request, doing)
        const { contents, database } = manifest
        doing.print(
          `The backup ${manifest.id} is in ${place.label}: ${contents.count} contents of ${sizeOf(contents.bytes)}, a database of ${sizeOf(database.bytes)}; ${sizeOf(storedBytes)} were added.`,
        )
        if (removed !== undefined) doing.print(`${removed.backups} earlier backups were removed.`)
        for (const lost of contents.lostKeys) doing.print(`Lost before the backup: ${lost}`)
        process.stdout.write(`${manifest.id}\n`)
      })
    })
  command
    .command('list')
    .description('List the backups in a place, oldest first.')
    .argument('[target]', placeText)
    .option(...passphraseOption)
    .action(async (given: string | undefined, _: unknown, self: Command) => {
      const { config } = loadConfig(undefined, { envFile })
      const place = placeOf(given, config, { isTarget: false })
      const { listBackups } = await import('../app/backup.js')
      const found = await listBackups(place, await passphraseOf(config, self.optsWithGlobals()))
      for (const { id, manifest, problem } of found) {
        const text =
          manifest === undefined
            ? problem
            : `${manifest.createdAt}  ${manifest.engine}  Botstead ${manifest.version}  database ${sizeOf(manifest.database.bytes)}  ${manifest.contents.count} contents ${sizeOf(manifest.contents.bytes)}`
        process.stdout.write(`${id}  ${text}\n`)
        if (manifest === undefined) process.exitCode = 1
      }
      if (found.length === 0) process.stderr.write('There are no backups.\n')
    })
  command
    .command('verify')
    .description('Restore a backup into a temporary place, and compare all of it.')
    .argument('[target]', placeText)
    .option('--backup <id>', 'the backup to verify; the newest if left out')
    .option(
      '--database <url>',
      'an empty PostgreSQL database to restore to; otherwise one is created',
    )
    .option(...passphraseOption)
    .action(async (given: string | undefined, _: unknown, self: Command) => {
      const options = self.optsWithGlobals<ReadOptions & { database?: string }>()
      const { config } = loadConfig(undefined, { envFile })
      const chosen = await chosenOf(given, config, options)
      const { verify } = await import('../app/backup.js')
      await withProgress(async (doing) => {
        const found = await verify(config, chosen, options.database, doing)
        const { id, contents } = found.manifest
        doing.print(
          `The backup ${id} is complete: ${found.rows} rows in ${found.tables} tables, ${found.contents} contents of ${sizeOf(contents.bytes)}.`,
        )
        if (contents.lost > 0) doing.print(`${contents.lost} contents were lost before the backup.`)
      })
    })
  for (const part of command.commands) part.exitOverride()
  return command
}

/** `botstead restore`: restores a backup to an empty place. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('Restore a backup to an empty data folder, database and bucket.')
    .argument('<source>', 'a folder with backups, or s3://bucket/prefix?endpoint=...')
    .option('--backup <id>', 'the backup to restore; the newest if left out')
    .option(...passphraseOption)
    .action(async (given: string, options: ReadOptions) => {
      const { config } = loadConfig(undefined, { envFile })
      const chosen = await chosenOf(given, config, options)
      const { restore } = await import('../app/backup.js')
      await withProgress(async (doing) => {
        const { id, contents, database } = await restore(config, chosen, doing)
        const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
        doing.print(
          `The backup ${id} was restored to ${config.dataDir}, and compared: ${rows} rows in ${database.tables.length} tables, ${contents.count} contents of ${sizeOf(contents.bytes)}. Start the server.`,
        )
      })
    })
}

async function chosenOf(given: string | undefined, config: Config, options: ReadOptions) {
  const place = placeOf(given, config, { isTarget: false })
  return { place, passphrase: await passphraseOf(config, options), id: options.backup }
}

function placeOf(
  given: string | undefined,
  config: Config,
  options: { isTarget: boolean },
): BackupPlace {
  if (given !== undefined) return readBackupPlace(given, config, { ...options, envFile })
  if (config.backup !== undefined) return config.backup.place
  throw new Error('Name a folder or a bucket, or set BOTSTEAD_BACKUP_TARGET.')
}

/** Whether the place is that of the settings, which say that backups there are not encrypted. */
function isScheduledWithout({ backup }: Config, given: string | undefined): boolean {
  return given === undefined && backup !== undefined && backup.passphraseFile === undefined
}

async function passphraseOf(
  { backup }: Config,
  { passphraseFile }: PassphraseOptions,
): Promise<string | undefined> {
  const file = passphraseFile ?? backup?.passphraseFile ?? passphraseFileOfEnvironment()
  if (file === undefined) return undefined
  const { readPassphrase } = await import('../app/backup.js')
  return await readPassphrase(file)
}

/** Also without a schedule, as the variable of the settings. */
function passphraseFileOfEnvironment(): string | undefined {
  // biome-ignore lint/style/noProcessEnv: the setting has no meaning for the server without a target
  return process.env.BOTSTEAD_BACKUP_PASSPHRASE_FILE?.trim() || undefined
}

interface Progress {
  phase: string
  done: number
  total: number | undefined
  bytesRead?: number
}

interface Doing {
  signal: AbortSignal
  onProgress(progress: Progress): void
  print(line: string): void
}

/** Milliseconds between two lines of progress. */
const progressMs = 1000
/** Milliseconds without progress after which a line says so. */
const silentMs = 10_000

/** Runs long work: with progress on standard error, ended by a signal. */
async function withProgress(work: (doing: Doing) => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const end = (signal: string) => ending.abort(new Error(`Interrupted by ${signal}.`))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  let shownAt = performance.now()
  let progressAt = shownAt
  const waiting = setInterval(() => {
    const silent = performance.now() - progressAt
    if (silent >= silentMs) print(`no progress for ${Math.round(silent / 1000)} s`)
  }, silentMs)
  const print = (line: string) => void process.stderr.write(`${line}\n`)
  try {
    await work({
      signal: ending.signal,
      print,
      onProgress({ phase, done, total, bytesRead = 0 }) {
        progressAt = performance.now()
        if (performance.now() - shownAt < progressMs) return
        shownAt = performance.now()
        const of = total === undefined ? '' : ` of ${phase === 'database' ? sizeOf(total) : total}`
        const read = bytesRead > 0 ? `, ${sizeOf(bytesRead)} read` : ''
        print(`${phase}: ${phase === 'database' ? sizeOf(done) : done}${of}${read}`)
      },
    })
  } finally {
    clearInterval(waiting)
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

const keepDuration = duration('1h', '3650d')

function toDuration(given: string): number {
  const value = keepDuration.parse(given)
  if (value === undefined) throw new InvalidArgumentError(`It accepts ${keepDuration.accepts}.`)
  return value
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

function sizeOf(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
