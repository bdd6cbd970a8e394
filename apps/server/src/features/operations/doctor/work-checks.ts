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

const lostPlace =
  'Check that its disk is mounted and that nobody emptied it, then run "npx botstead backup".'
const unreadable =
  'Mend that: neither a restore nor the next backup works. "npx botstead backup list" shows whether it does.'
/** Milliseconds that work which is due may wait. */
const patienceMs = 10 * 60_000
const dayMs = 86_400_000
const shown = 3
const longestReason = 200

/** Jobs that were given up, and whether due ones are worked off. */
export async function checkJobs(db: Db): Promise<Finding[]> {
  const counts = await countJobs(db)
  const sum = (state: string) =>
    counts.filter((each) => each.state === state).reduce((all, each) => all + Number(each.count), 0)
  const found: Finding[] = []
  const dead = sum('dead')
  if (dead > 0) {
    const last = await findDeadJobs(db, undefined, shown)
    const examples = last.map(
      ({ id, kind, last_error: reason }) => `${kind} ${id}: ${cut(reason ?? 'no reason known')}`,
    )
    found.push(
      warning(
        `${countText(dead, 'job was', 'jobs were')} given up, last ${examples.join('; ')}`,
        'Remove the cause, then retry or delete them under Jobs in the dashboard.',
      ),
    )
  }
  const oldest = earliest(counts.flatMap((each) => (each.state === 'waiting' ? each.earliest : [])))
  if (oldest !== undefined && Date.now() - oldest > patienceMs) {
    found.push(
      warning(
        `A job has been due for ${durationText(Date.now() - oldest)}: nothing works jobs off, or too slowly.`,
        'Check that a process with the role worker runs, and its log.',
      ),
    )
  }
  return found.length > 0
    ? found
    : [ok(`${sum('waiting')} wait, ${sum('running')} run, none is dead`)]
}

/** Whether bots and integrations get what is sent to them. */
export async function checkDeliveries(db: Db): Promise<Finding[]> {
  const pending = await countPending(db)
  const { count, rows } = await findTroubledReceivers(db, shown)
  const found: Finding[] = []
  if (count > 0) {
    const examples = rows.map(({ bot_id: bot, integration, paused, failures, reason }) => {
      const name = integration === '' ? bot : `${integration} of ${bot}`
      const state = paused === null ? `failed ${failures} times in a row` : `paused by ${paused}`
      return `${name}, ${state}${reason === null ? '' : ` (${cut(reason)})`}`
    })
    found.push(
      warning(
        `${countText(count, 'bot or integration does', 'bots or integrations do')} not take deliveries: ${examples.join('; ')}`,
        'Mend what receives them; "npx botstead deliveries" shows and resumes them.',
      ),
    )
  }
  const active = pending.filter(({ set_aside: parked }) => Number(parked) === 0)
  const oldest = earliest(active.map((each) => each.oldest))
  if (oldest !== undefined && Date.now() - oldest > patienceMs) {
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
  const last = await findLastSuccess(db, backup?.place.label)
  const failures = await countFailuresAfter(db, last?.started_at ?? '')
  const make = 'Make one with "npx botstead backup <place>", and set BOTSTEAD_BACKUP_TARGET.'
  const see = 'See "backup failed" in the log of the server, and run "npx botstead backup".'
  const found: Finding[] = []
  if (last === undefined) {
    const place = backup === undefined ? '' : ` in ${backup.place.label}`
    found.push(warning(`There is no backup${place}.`, backup === undefined ? make : see))
  } else {
    const age = Date.now() - Date.parse(last.started_at)
    const everyMs = backup && 'everyMs' in backup.schedule ? backup.schedule.everyMs : dayMs
    const text = `The last backup, in ${last.target}, is ${durationText(age)} old`
    if (backup !== undefined && age > 7 * everyMs + dayMs) {
      found.push(failed(`${text}, although one is due every ${durationText(everyMs)}.`, see))
    } else if (age > everyMs + dayMs) {
      found.push(warning(`${text}.`, backup === undefined ? make : see))
    } else {
      found.push(ok(text))
    }
    if (backup !== undefined) found.push(...(await checkPlace(backup)))
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

/** Whether the backups that were made can still be read; adds nothing to their place. */
async function checkPlace({ place, passphraseFile }: BackupConfig): Promise<Finding[]> {
  try {
    const passphrase = passphraseFile && (await readPassphrase(passphraseFile))
    const { listIds } = await openTarget(place, { passphrase })
    if ((await listIds()).length > 0) return []
    return [failed(`There are no backups in ${place.label} any more.`, lostPlace)]
  } catch (error) {
    if (error instanceof BackupError && error.kind === 'missing') {
      return [failed(`There are no backups in ${place.label} any more.`, lostPlace)]
    }
    return [failed(`The backups in ${place.label} cannot be read: ${reasonOf(error)}`, unreadable)]
  }
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
  return line.length <= longestReason ? line : `${line.slice(0, longestReason)}…`
}
