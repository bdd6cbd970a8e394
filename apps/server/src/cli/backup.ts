import { Command, InvalidArgumentError } from 'commander'
import { readBackupLocation } from '../config/backup-location.js'
import type { BackupLocation } from '../config/backup-settings.js'
import { type Config, loadConfig } from '../config/config.js'
import { duration } from '../config/setting-kinds.js'
import { sizeText } from '../platform/size-text.js'
import { notices, out } from './terminal.js'

interface PassphraseOptions {
  passphraseFile?: string
  encryption: boolean
}

interface CreateOptions extends PassphraseOptions {
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
const targetText =
  'a folder, or s3://bucket/prefix?endpoint=...; BOTSTEAD_BACKUP_TARGET if left out'

/** `botstead backup`: makes backups, lists them and checks them. */
export function backupCommand(): Command {
  const command = new Command('backup')
    .description('Back up database, contents and secrets, with or without a running server.')
    .argument('[target]', targetText)
    .option(...passphraseOption)
    .option(
      '--no-encryption',
      'store or read it without encryption: it contains the secrets of the server',
    )
    .option('--keep <duration>', 'remove earlier backups that are older, such as 30d', toDuration)
    .action(async (given: string | undefined, options: CreateOptions) => {
      const { config } = loadConfig(undefined, { envFile })
      const location = locationOf(given, config, { isTarget: true })
      const isEncrypted = options.encryption && !isUnencryptedBySettings(config, given)
      const passphrase = isEncrypted ? await passphraseOf(config, options) : undefined
      if (isEncrypted && passphrase === undefined) {
        throw new Error(
          'A backup is encrypted under a passphrase: give a file with one (--passphrase-file, 12 characters or more), or --no-encryption.',
        )
      }
      const { backUp } = await import('../app/backup.js')
      await withProgress(async (task) => {
        const request = { location, passphrase, keepMs: options.keep }
        const { manifest, storedBytes, removed } = await backUp(config, request, task)
        const { contents, database } = manifest
        task.print(
          `The backup ${manifest.id} is in ${location.label}: ${contents.count} contents of ${sizeText(contents.bytes)}, a database of ${sizeText(database.bytes)}; ${sizeText(storedBytes)} were added.`,
        )
        if (removed !== undefined) task.print(`${removed.backups} earlier backups were removed.`)
        for (const lost of contents.lostKeys) task.print(`Lost before the backup: ${lost}`)
        out.line(manifest.id)
      })
    })
  command
    .command('list')
    .description('List the backups of a target, oldest first.')
    .argument('[target]', targetText)
    .option(...passphraseOption)
    .action(async (given: string | undefined, _: unknown, self: Command) => {
      const { config } = loadConfig(undefined, { envFile })
      const location = locationOf(given, config, { isTarget: false })
      const { listBackups } = await import('../app/backup.js')
      const found = await listBackups(location, await passphraseOf(config, self.optsWithGlobals()))
      for (const { id, manifest, problem } of found) {
        const text =
          manifest === undefined
            ? problem
            : `${manifest.createdAt}  ${manifest.engine}  Botstead ${manifest.version}  database ${sizeText(manifest.database.bytes)}  ${manifest.contents.count} contents ${sizeText(manifest.contents.bytes)}`
        out.line(`${id}  ${text}`)
        if (manifest === undefined) process.exitCode = 1
      }
      if (found.length === 0) notices.line('There are no backups.')
    })
  command
    .command('verify')
    .description('Restore a backup to a temporary folder or database, and compare all of it.')
    .argument('[target]', targetText)
    .option('--backup <id>', 'the backup to verify; the newest if left out')
    .option(
      '--database <url>',
      'an empty PostgreSQL database to restore to; otherwise one is created',
    )
    .option(...passphraseOption)
    .action(async (given: string | undefined, _: unknown, self: Command) => {
      const options = self.optsWithGlobals<ReadOptions & { database?: string }>()
      const { config } = loadConfig(undefined, { envFile })
      const selection = await selectBackup(given, config, options)
      const { verify } = await import('../app/backup.js')
      await withProgress(async (task) => {
        const found = await verify(config, selection, options.database, task)
        const { id, contents } = found.manifest
        task.print(
          `The backup ${id} is complete: ${found.rows} rows in ${found.tables} tables, ${found.contents} contents of ${sizeText(contents.bytes)}.`,
        )
        if (contents.lost > 0) task.print(`${contents.lost} contents were lost before the backup.`)
      })
    })
  for (const part of command.commands) part.exitOverride()
  return command
}

/** `botstead restore`: restores a backup to an empty data folder, database and bucket. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('Restore a backup to an empty data folder, database and bucket.')
    .argument('<source>', 'a folder with backups, or s3://bucket/prefix?endpoint=...')
    .option('--backup <id>', 'the backup to restore; the newest if left out')
    .option(...passphraseOption)
    .option('--no-encryption', 'read a backup that was stored without encryption')
    .action(async (given: string, options: ReadOptions) => {
      const { config } = loadConfig(undefined, { envFile })
      const selection = await selectBackup(given, config, options)
      const { restore } = await import('../app/backup.js')
      await withProgress(async (task) => {
        const { id, contents, database } = await restore(config, selection, task)
        const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
        task.print(
          `The backup ${id} was restored to ${config.dataDir}, and compared: ${rows} rows in ${database.tables.length} tables, ${contents.count} contents of ${sizeText(contents.bytes)}. Start the server.`,
        )
      })
    })
}

async function selectBackup(given: string | undefined, config: Config, options: ReadOptions) {
  const location = locationOf(given, config, { isTarget: false })
  return { location, passphrase: await passphraseOf(config, options), id: options.backup }
}

function locationOf(
  given: string | undefined,
  config: Config,
  options: { isTarget: boolean },
): BackupLocation {
  if (given !== undefined) return readBackupLocation(given, config, { ...options, envFile })
  if (config.backup !== undefined) return config.backup.location
  throw new Error('Name a folder or a bucket, or set BOTSTEAD_BACKUP_TARGET.')
}

/** Whether the target is that of the settings, which say that backups there are not encrypted. */
function isUnencryptedBySettings({ backup }: Config, given: string | undefined): boolean {
  return given === undefined && backup !== undefined && backup.passphraseFile === undefined
}

async function passphraseOf(
  { backup }: Config,
  { passphraseFile, encryption }: PassphraseOptions,
): Promise<string | undefined> {
  if (!encryption) return undefined
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

/** A long task of a command. */
interface Task {
  signal: AbortSignal
  onProgress(progress: Progress): void
  print(line: string): void
}

/** Milliseconds between two lines of progress. */
const progressMs = 1000
/** Milliseconds without progress after which a line says so. */
const silentMs = 10_000

/** Runs long work: with progress on standard error, ended by a signal. */
async function withProgress(work: (task: Task) => Promise<void>): Promise<void> {
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
  const print = (line: string) => notices.line(line)
  try {
    await work({
      signal: ending.signal,
      print,
      onProgress({ phase, done, total, bytesRead = 0 }) {
        progressAt = performance.now()
        if (performance.now() - shownAt < progressMs) return
        shownAt = performance.now()
        const of =
          total === undefined ? '' : ` of ${phase === 'database' ? sizeText(total) : total}`
        const read = bytesRead > 0 ? `, ${sizeText(bytesRead)} read` : ''
        print(`${phase}: ${phase === 'database' ? sizeText(done) : done}${of}${read}`)
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
