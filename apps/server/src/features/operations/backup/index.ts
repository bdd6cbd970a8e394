import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  BackupConfig,
  BackupLocation,
  BackupSchedule,
} from '../../../config/backup-settings.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hasErrorCode } from '../../../platform/disk/files.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { readSecretFile } from '../../../platform/security/secrets.js'
import type { Metric } from '../../../platform/telemetry/metrics.js'
import type { FeatureWith } from '../../feature.js'
import { type BackupSource, createBackup, newBackupId, type OnProgress } from './create.js'
import { BackupError } from './errors.js'
import { type LeaseDeps, withLease } from './lease.js'
import type { Manifest, SecretFiles } from './manifest.js'
import { type RetentionResult, removeOld } from './retention.js'
import { countFailuresAfter, findLastSuccess, isAnyRunning } from './store.js'
import { prepareTarget } from './target.js'

export type { BackupSource, OnProgress } from './create.js'
export { BackupError } from './errors.js'
export type { Manifest } from './manifest.js'
export { restoreBackup, verifyBackup } from './restore.js'
export { timeOf } from './retention.js'
export { countFailuresAfter, findLastSuccess } from './store.js'
export { openTarget } from './target.js'

/** Name of the job that makes backups. */
const backupJob = 'server.backup'
const minute = 60_000
const day = 24 * 60 * minute
/** Payload of the runs that are due by the schedule; those that an operator asks for have none. */
const scheduled = { scheduled: true }
/** A backup that fails for a while, for example because its target is away, must not be given up. */
const maxAttempts = 1_000_000

export interface BackupOptions {
  location: BackupLocation
  /** Undefined to store it without encryption. */
  passphrase: string | undefined
  /** Milliseconds after which earlier backups are removed; undefined to keep all. */
  keepMs: number | undefined
}

export interface BackupResult {
  manifest: Manifest
  storedBytes: number
  /** Backups and pieces that retention removed; undefined if it did not run. */
  removed: RetentionResult | undefined
}

/** Makes one backup, and removes those that are too old. */
export async function makeBackup(
  deps: LeaseDeps & { source: BackupSource },
  { location, passphrase, keepMs }: BackupOptions,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<BackupResult> {
  const { source, clock, log } = deps
  const now = clock.now()
  const id = newBackupId(now)
  return await withLease(deps, { id, target: location.label }, signal, async (lease) => {
    const { installation } = source
    const target = await prepareTarget(location, { passphrase, installation })
    const manifest = await createBackup(source, target, {
      id,
      createdAt: isoTime(now),
      lease,
      onProgress,
    })
    if (manifest.contents.lost > 0) {
      log.error(
        { id, count: manifest.contents.lost, contents: manifest.contents.lostKeys.slice(0, 10) },
        'contents that the server has lost are not in the backup: run "botstead check --contents"',
      )
    }
    const { storedBytes } = manifest
    if (keepMs === undefined) return { manifest, storedBytes, removed: undefined }
    // The backup is there; that old ones stay is no reason to make it again.
    const removed = await removeOld(target, now - keepMs, lease).catch((err: unknown) => {
      log.error({ err }, 'old backups cannot be removed')
      return undefined
    })
    return { manifest, storedBytes, removed }
  })
}

/** The secrets of a server: those in its data folder, or in its settings. */
export async function readSecretFiles(
  dataDir: string,
  secret: string | undefined,
): Promise<SecretFiles> {
  const adminToken = await readSecretFile(join(dataDir, 'admin-token'))
  const kept = secret ?? (await readSecretFile(join(dataDir, 'secret')))
  if (kept === undefined) {
    throw new BackupError('missing', `There is no secret in ${dataDir}: start the server once.`)
  }
  return { secret: kept, ...(adminToken !== undefined && { adminToken }) }
}

/** The passphrase in a file: its first line. */
export async function readPassphrase(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const reason = hasErrorCode(cause, 'ENOENT') ? 'it is not there' : String(cause)
    throw new BackupError(
      'passphrase',
      `The file ${file} with the passphrase cannot be read: ${reason}. Name the right one, as a user who may read it.`,
      { cause },
    )
  })
  const [line = ''] = text.split('\n')
  const passphrase = line.trim()
  if (passphrase !== '') return passphrase
  throw new BackupError(
    'passphrase',
    `There is no passphrase in the first line of ${file}: write one there, of 12 characters or more.`,
  )
}

export interface BackupsDeps extends LeaseDeps {
  queue: Queue
  source: BackupSource
  /** Undefined where the server makes no backups by itself. */
  config: BackupConfig | undefined
}

export type Backups = FeatureWith<'jobs' | 'schedule' | 'metrics'> & {
  /** Whether a backup is being made, during which no contents may be removed. */
  isRunning(): Promise<boolean>
}

/** The scheduled backups of the server, and the records of those that commands make. */
export function createBackups(deps: BackupsDeps): Backups {
  const { db, clock, log, queue, config } = deps

  async function enqueue(tx: Tx, runAt: number): Promise<void> {
    await queue.enqueue(tx, {
      kind: backupJob,
      key: 'all',
      payload: scheduled,
      runAt,
      maxAttempts,
      deadlineMs: 7 * day,
    })
  }

  async function backUp({ location, keepMs, passphraseFile }: BackupConfig, signal: AbortSignal) {
    const passphrase = passphraseFile && (await readPassphrase(passphraseFile))
    const start = performance.now()
    log.info({ target: location.label }, 'backup begins')
    try {
      const options = { location, passphrase, keepMs }
      const { manifest, storedBytes, removed } = await makeBackup(deps, options, signal, () => {})
      log.info(
        {
          id: manifest.id,
          target: location.label,
          contents: manifest.contents.count,
          databaseBytes: manifest.database.bytes,
          storedBytes,
          removedBackups: removed?.backups,
          milliseconds: Math.round(performance.now() - start),
        },
        'backup made',
      )
    } catch (err) {
      if (!signal.aborted) log.error({ err, target: location.label }, 'backup failed')
      throw err
    }
  }

  /** Whether a backup is due; a process that starts asks for one while another may be making it. */
  async function isDue({ location, schedule }: BackupConfig): Promise<boolean> {
    const now = clock.now()
    const last = await findLastSuccess(db, { now, target: location.label })
    return last === undefined || nextTime(schedule, Date.parse(last.started_at)) <= now
  }

  const handler: JobHandler<Partial<typeof scheduled>> = {
    ...(config && { everyMs: 'everyMs' in config.schedule ? config.schedule.everyMs : day }),
    handler: async ({ payload }, { signal }) => {
      if (config === undefined || (payload.scheduled && !(await isDue(config)))) return
      await backUp(config, signal)
    },
    onDone: async (tx) => {
      if (config !== undefined) await enqueue(tx, nextTime(config.schedule, clock.now()))
    },
  }

  return {
    name: 'backup',
    jobs: { [backupJob]: handler },
    schedule: async (tx) => {
      if (config === undefined) return
      const now = clock.now()
      const last = await findLastSuccess(tx, { now, target: config.location.label })
      const due = last && nextTime(config.schedule, Date.parse(last.started_at))
      await enqueue(tx, Math.max(now, due ?? now))
    },
    isRunning: () => isAnyRunning(db, clock.now()),
    metrics: [backupMetrics(deps)],
  }
}

/** Time of the next backup that is due after a time; both in milliseconds since the Unix epoch. */
function nextTime(schedule: BackupSchedule, after: number): number {
  if ('everyMs' in schedule) return after + schedule.everyMs
  const at = Math.floor(after / day) * day + schedule.dailyAt * minute
  return at > after ? at : at + day
}

/** Metrics from the database, so that each process reports the backups of all. */
function backupMetrics({ db, clock }: Pick<BackupsDeps, 'db' | 'clock'>): Metric {
  return {
    async collect() {
      const now = clock.now()
      const last = await findLastSuccess(db, { now })
      const failures = await countFailuresAfter(db, last?.started_at ?? '', now)
      const isRunning = await isAnyRunning(db, now)
      const gauge = (name: string, help: string, value: number) =>
        ({ name, help, type: 'gauge', samples: [{ value }] }) as const
      return [
        gauge(
          'botstead_backup_last_success_timestamp_seconds',
          'When the last backup that succeeded began; 0 if there is none.',
          last === undefined ? 0 : Date.parse(last.started_at) / 1000,
        ),
        gauge(
          'botstead_backup_failures',
          'Backups that failed or were interrupted since the last one that succeeded.',
          failures,
        ),
        gauge('botstead_backup_running', 'Whether a backup is being made.', isRunning ? 1 : 0),
      ]
    },
  }
}
