import { stat } from 'node:fs/promises'
import type { BackupConfig } from '../../../config/backup-settings.js'
import type { Config } from '../../../config/config.js'
import type { Db } from '../../../platform/db/schema.js'
import { countJobs, findDeadJobs } from '../../../platform/jobs/dead-store.js'
import { countPending, findTroubledReceivers } from '../../deliveries/index.js'
import {
  BackupError,
  countFailuresAfter,
  findLastSuccess,
  openTarget,
  readPassphrase,
} from '../backup/index.js'
import { durationText, type Finding, failed, ok, reasonOf, warning } from './finding.js'

/** Milliseconds for which due jobs and deliveries may wait. */
const maxWaitMs = 10 * 60_000
const dayMs = 86_400_000
/** Examples that a finding names. */
const maxExamples = 3
const maxReasonLength = 200

/** Whether jobs are dead, and whether workers run those that are due. */
export async function checkJobs(db: Db): Promise<Finding[]> {
  const counts = await countJobs(db)
  const sum = (state: string) =>
    counts.filter((each) => each.state === state).reduce((all, each) => all + Number(each.count), 0)
  const found: Finding[] = []
  const dead = sum('dead')
  if (dead > 0) {
    const last = await findDeadJobs(db, undefined, maxExamples)
    const examples = last.map(
      ({ id, kind, last_error: reason }) => `${kind} ${id}: ${cut(reason ?? 'no reason known')}`,
    )
    found.push(
      warning(
        `${countText(dead, 'job is', 'jobs are')} dead, the last: ${examples.join('; ')}`,
        'Remove the cause, then retry or delete them under Jobs in the dashboard.',
      ),
    )
  }
  const oldest = earliest(counts.flatMap((each) => (each.state === 'waiting' ? each.earliest : [])))
  if (oldest !== undefined && Date.now() - oldest > maxWaitMs) {
    found.push(
      warning(
        `A job has been due for ${durationText(Date.now() - oldest)}: no worker runs jobs, or they run too slowly.`,
        'Check that a process with the role worker runs, and see its log.',
      ),
    )
  }
  return found.length > 0
    ? found
    : [ok(`${sum('waiting')} wait, ${sum('running')} run, none is dead`)]
}

/** Whether bots and integrations receive their deliveries. */
export async function checkDeliveries(db: Db): Promise<Finding[]> {
  const pending = await countPending(db)
  const { count, rows } = await findTroubledReceivers(db, maxExamples)
  const found: Finding[] = []
  if (count > 0) {
    const examples = rows.map(({ bot_id: bot, integration, paused, failures, reason }) => {
      const name = integration === '' ? bot : `${integration} of ${bot}`
      const state = paused === null ? `failed ${failures} times in a row` : `paused by ${paused}`
      return `${name}, ${state}${reason === null ? '' : ` (${cut(reason)})`}`
    })
    found.push(
      warning(
        `${countText(count, 'bot or integration does', 'bots or integrations do')} not receive deliveries: ${examples.join('; ')}`,
        'Fix the bot or integration; "npx botstead deliveries" shows and resumes its deliveries.',
      ),
    )
  }
  const active = pending.filter(({ set_aside: parked }) => Number(parked) === 0)
  const oldest = earliest(active.map((each) => each.oldest))
  if (oldest !== undefined && Date.now() - oldest > maxWaitMs) {
    found.push(
      warning(
        `The oldest delivery has waited for ${durationText(Date.now() - oldest)}.`,
        'See why with "npx botstead deliveries", and whether a process with the role worker runs.',
      ),
    )
  }
  const waiting = pending.reduce((all, each) => all + Number(each.count), 0)
  return found.length > 0 ? found : [ok(`${waiting} wait, and no receiver fails`)]
}

/** Whether there is a backup that is new enough. */
export async function checkBackups(db: Db, { backup }: Config): Promise<Finding[]> {
  const now = Date.now()
  const last = await findLastSuccess(db, { now, target: backup?.location.label })
  const failures = await countFailuresAfter(db, last?.started_at ?? '', now)
  const make = 'Make one with "npx botstead backup <target>", and set BOTSTEAD_BACKUP_TARGET.'
  const see = 'See "backup failed" in the log of the server, and run "npx botstead backup".'
  const found: Finding[] = []
  if (last === undefined) {
    const location = backup === undefined ? '' : ` in ${backup.location.label}`
    found.push(warning(`There is no backup${location}.`, backup === undefined ? make : see))
  } else {
    const age = now - Date.parse(last.started_at)
    const everyMs = backup && 'everyMs' in backup.schedule ? backup.schedule.everyMs : dayMs
    const text = `The last backup, in ${last.target}, is ${durationText(age)} old`
    if (backup !== undefined && age > 7 * everyMs + dayMs) {
      found.push(failed(`${text}, although one is due every ${durationText(everyMs)}.`, see))
    } else if (age > everyMs + dayMs) {
      found.push(warning(`${text}.`, backup === undefined ? make : see))
    } else {
      found.push(ok(text))
    }
    if (backup !== undefined) found.push(...(await checkTarget(backup)))
  }
  if (failures > 0) {
    found.push(
      warning(
        `${countText(failures, 'backup has', 'backups have')} failed or were interrupted since.`,
        see,
      ),
    )
  }
  return found
}

const lostBackups =
  'Check that the disk is mounted and that nobody emptied it, then run "npx botstead backup".'
const unreadableBackups =
  'Fix this: neither a restore nor the next backup works until then. "npx botstead backup list" shows whether it is fixed.'

/** Whether the backups that were made can still be read; writes nothing. */
async function checkTarget({ location, passphraseFile }: BackupConfig): Promise<Finding[]> {
  const lost = failed(`There are no backups in ${location.label} any more.`, lostBackups)
  try {
    const passphrase = passphraseFile && (await readPassphrase(passphraseFile))
    const target = await openTarget(location, { passphrase })
    if ((await target.listIds()).length === 0) return [lost]
    return await checkAccess({ location, passphraseFile })
  } catch (error) {
    if (error instanceof BackupError && error.kind === 'missing') return [lost]
    return [
      failed(
        `The backups in ${location.label} cannot be read: ${reasonOf(error)}`,
        unreadableBackups,
      ),
    ]
  }
}

/** Whether other users of this machine may read the passphrase, or replace what is in the folder. */
async function checkAccess({
  location,
  passphraseFile,
}: Pick<BackupConfig, 'location' | 'passphraseFile'>): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const found: Finding[] = []
  if (passphraseFile !== undefined && ((await stat(passphraseFile)).mode & 0o004) !== 0) {
    found.push(
      warning(
        `Others may read ${passphraseFile}, which has the passphrase of the backups.`,
        `Run: chmod o-rwx '${passphraseFile}'`,
      ),
    )
  }
  if (location.kind === 'folder' && ((await stat(location.folder)).mode & 0o002) !== 0) {
    found.push(
      warning(
        `Others may write to ${location.folder}, and remove the backups or put other files in their location.`,
        `Run: chmod o-w '${location.folder}'`,
      ),
    )
  }
  return found
}

function countText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The first of ISO 8601 times, in milliseconds since the Unix epoch. */
function earliest(times: readonly (string | null)[]): number | undefined {
  const [first] = times.filter((time) => time !== null).sort()
  return first === undefined ? undefined : Date.parse(first)
}

function cut(reason: string): string {
  const line = reason.replaceAll(/\s+/g, ' ')
  return line.length <= maxReasonLength ? line : `${line.slice(0, maxReasonLength)}…`
}
