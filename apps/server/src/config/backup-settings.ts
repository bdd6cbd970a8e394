import { resolve } from 'node:path'
import {
  parseS3Address,
  type S3Address,
  S3AddressError,
  type S3Environment,
} from '../platform/blobs/s3-address.js'
import {
  duration,
  type Kind,
  oneOf,
  optional,
  setting,
  text,
  type Values,
} from './setting-kinds.js'

/** The schedule of backups: daily at a time, or at intervals. */
export type BackupSchedule =
  /** Minutes after midnight, UTC. */
  { readonly dailyAt: number } | { readonly everyMs: number }

const interval = duration('5m', '30d')

const schedule: Kind<BackupSchedule> = {
  accepts: 'a time of day in UTC such as 03:00, or an interval from 5m to 30d such as 6h',
  parse: (given) => {
    const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(given) ?? []
    if (hours === undefined || minutes === undefined) {
      const everyMs = interval.parse(given)
      return everyMs === undefined ? undefined : { everyMs }
    }
    const isTime = Number(hours) < 24 && Number(minutes) < 60
    return isTime ? { dailyAt: Number(hours) * 60 + Number(minutes) } : undefined
  },
}

/** Backups that the server makes by itself. */
export const backupSettings = {
  backupTarget: optional(
    'BOTSTEAD_BACKUP_TARGET',
    text('a folder, or an address such as s3://bucket/prefix'),
    {
      default: 'none: the server makes no backups by itself',
      meaning:
        'Location of backups that the server makes: a folder outside of the data folder, or an object store as in BOTSTEAD_BLOBS_URL.',
      secret: true,
    },
  ),
  backupSchedule: setting('BOTSTEAD_BACKUP_SCHEDULE', schedule, {
    default: '03:00',
    meaning: 'Schedule of these backups; one process makes them, and retries one that failed.',
  }),
  backupKeepMs: setting('BOTSTEAD_BACKUP_KEEP', duration('1h', '3650d'), {
    default: '30d',
    meaning: 'Retention of these backups; the newest is kept in any case.',
  }),
  backupPassphraseFile: optional('BOTSTEAD_BACKUP_PASSPHRASE_FILE', text('a file'), {
    default:
      'none; must be set with BOTSTEAD_BACKUP_TARGET unless BOTSTEAD_BACKUP_ENCRYPTION is off',
    meaning:
      'File whose first line is the passphrase, 12 characters or more, under which backups are encrypted. Keep a copy elsewhere: without it, backups cannot be read.',
  }),
  backupEncryption: setting('BOTSTEAD_BACKUP_ENCRYPTION', oneOf('on', 'off'), {
    default: 'on',
    meaning: 'Whether backups are encrypted; they contain the secrets of the server.',
  }),
}

/** The folder or bucket that backups are stored in. */
export type BackupLocation = { readonly label: string } & (
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 's3'; readonly address: S3Address }
)

/** Backups that the server makes by itself. */
export interface BackupConfig {
  readonly location: BackupLocation
  readonly schedule: BackupSchedule
  /** Milliseconds. */
  readonly keepMs: number
  /** Undefined for backups that are not encrypted. */
  readonly passphraseFile: string | undefined
}

/** The location that a text names; if it names none, a sentence that says why. */
export function parseBackupLocation(
  given: string,
  environment: S3Environment,
  calledBy: string,
): BackupLocation | string {
  if (!/^[a-z][a-z0-9+]+:\/\//i.test(given)) {
    const folder = resolve(given)
    return Object.freeze({ kind: 'folder', folder, label: folder })
  }
  try {
    const address = Object.freeze({ ...parseS3Address(given, environment), calledBy })
    const label = `s3://${address.bucket}/${address.prefix}`
    return Object.freeze({ kind: 's3', address, label })
  } catch (error) {
    if (error instanceof S3AddressError) return `${calledBy} ${error.message}.`
    throw error
  }
}

/** The reason why backups must not be stored at a location; undefined if they may. */
export function conflictOf(
  location: BackupLocation,
  { dataDir, objectStore }: { dataDir: string; objectStore: S3Address | undefined },
): string | undefined {
  if (location.kind === 'folder') {
    const isInside = `${location.folder}/`.startsWith(`${dataDir}/`)
    return isInside
      ? `is inside of the data folder ${dataDir}, and would be lost with it`
      : undefined
  }
  const { endpoint, bucket, prefix } = location.address
  if (objectStore?.endpoint !== endpoint || objectStore.bucket !== bucket) return undefined
  const taken = ['', 'backups/', 'contents/'].map((part) => `${prefix}${part}`)
  return taken.includes(objectStore.prefix)
    ? 'is where the server keeps contents of files: use another prefix'
    : undefined
}

/**
 * The backups that the server makes by itself.
 * @param problems gets a line for what is wrong
 */
export function readBackup(
  values: Values<typeof backupSettings>,
  environment: S3Environment,
  data: Parameters<typeof conflictOf>[1],
  problems: string[],
): BackupConfig | undefined {
  const { backupTarget, backupPassphraseFile, backupEncryption } = values
  if (backupTarget === undefined) return undefined
  const { name } = backupSettings.backupTarget
  const location = parseBackupLocation(backupTarget, environment, name)
  if (typeof location === 'string') {
    problems.push(location)
    return undefined
  }
  const conflict = conflictOf(location, data)
  if (conflict !== undefined) problems.push(`${name} ${conflict}.`)
  if ((backupEncryption === 'on') !== (backupPassphraseFile !== undefined)) {
    problems.push(
      'BOTSTEAD_BACKUP_PASSPHRASE_FILE must be set for encrypted backups, and left out where BOTSTEAD_BACKUP_ENCRYPTION is off.',
    )
  }
  return Object.freeze({
    location,
    schedule: values.backupSchedule,
    keepMs: values.backupKeepMs,
    passphraseFile: backupPassphraseFile,
  })
}
