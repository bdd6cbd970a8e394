import { checkAddresses } from './address-checks.js'
import { checkContents } from './contents-check.js'
import { type InspectedDatabase, inspectDatabase } from './database-check.js'
import {
  type ClockReading,
  type DoctorDeps,
  durationText,
  type Finding,
  failed,
  ok,
  reasonOf,
  warning,
} from './finding.js'
import { checkDataFolder, checkDisk } from './folder-checks.js'
import { checkMail } from './mail-check.js'
import { checkPasskeys } from './passkeys-check.js'
import { checkSettings, settingsProblems } from './settings-check.js'
import { checkNewcomers, checkSingleSignOn } from './single-sign-on-check.js'
import { checkBackups, checkDeliveries, checkJobs } from './work-checks.js'

/** The checks, in the order of the report. */
const checkNames = [
  'version',
  'settings',
  'data folder',
  'disk',
  'clock',
  'database',
  'contents',
  'server',
  'public address',
  'jobs',
  'deliveries',
  'backups',
  'mail',
  'single sign-on',
  'passkeys',
] as const

type CheckName = (typeof checkNames)[number]

export interface CheckResult extends Finding {
  check: CheckName
}

/** Milliseconds after which a check that has no result counts as failed. */
const checkMs = 12_000

interface Versions {
  own: string
  node: string
  /** The oldest version of Node that works. */
  neededNode: string
}

/** Checks an installation, whether or not its server runs. Changes nothing but for a probe in the object store. */
export async function diagnose(deps: DoctorDeps & { versions: Versions }): Promise<CheckResult[]> {
  const { config } = deps
  const readings: ClockReading[] = []
  const results: CheckResult[] = [...label('version', checkVersions(deps.versions))]
  const run = async (
    check: CheckName,
    work: (signal: AbortSignal) => Promise<readonly Finding[]>,
  ) => {
    results.push(...label(check, await bounded(work)))
  }
  await Promise.all([
    run('settings', () => checkSettings(deps)),
    run('data folder', () => checkDataFolder(config)),
    run('disk', () => checkDisk(config)),
    run('mail', (signal) => checkMail(config, signal)),
    run('single sign-on', () => checkSingleSignOn(config)),
    run('contents', async (signal) => {
      const { findings, readings: more } = await checkContents(config, signal)
      readings.push(...more)
      return findings
    }),
    run('server', async (signal) => {
      const found = await checkAddresses({ ...deps, version: deps.versions.own }, signal)
      results.push(...label('public address', found.publicAddress))
      return found.server
    }),
    inspectInTime(deps).then(async ({ findings, db, readings: more }) => {
      readings.push(...more)
      results.push(...label('database', findings))
      if (db === undefined) return
      await Promise.all([
        run('jobs', () => checkJobs(db)),
        run('deliveries', () => checkDeliveries(db)),
        run('backups', () => checkBackups(db, config)),
        run('passkeys', () => checkPasskeys(db, config)),
        run('single sign-on', () => checkNewcomers(db, config)),
      ])
    }),
  ])
  results.push(...label('clock', checkClocks(readings)))
  return inOrder(results)
}

/** The report where the settings cannot be used, without which nothing else can be checked. */
export function diagnoseSettings(problems: readonly string[], versions: Versions): CheckResult[] {
  return [
    ...label('version', checkVersions(versions)),
    ...label('settings', settingsProblems(problems)),
  ]
}

async function inspectInTime(deps: DoctorDeps): Promise<InspectedDatabase> {
  try {
    return await within((signal) => inspectDatabase(deps, signal))
  } catch (error) {
    return { findings: [failed(reasonOf(error))], db: undefined, readings: [] }
  }
}

/** The findings of a check; one that fails or takes too long is a finding itself. */
async function bounded(
  work: (signal: AbortSignal) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await within(work)
  } catch (error) {
    return [failed(`The check itself failed: ${reasonOf(error)}`)]
  }
}

/** Runs work for a limited time, whether or not it obeys its signal. */
async function within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`There was no result within ${checkMs / 1000} s.`)
      ending.abort(error)
      reject(error)
    }, checkMs)
  })
  try {
    return await Promise.race([work(ending.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

function label(check: CheckName, findings: readonly Finding[]): CheckResult[] {
  return findings.map((finding) => ({ check, ...finding }))
}

function inOrder(results: readonly CheckResult[]): CheckResult[] {
  return checkNames.flatMap((name) => results.filter(({ check }) => check === name))
}

function checkVersions({ own, node, neededNode }: Versions): Finding[] {
  const text = `Botstead ${own} on Node ${node}`
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const [neededMajor = 0, neededMinor = 0] = neededNode.split('.').map(Number)
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return [ok(text)]
  return [failed(`${text}: Node ${neededNode} or newer is needed.`, 'Install a newer Node.')]
}

/** Difference of clocks in milliseconds that is worth a warning. */
const differentMs = 2000
/** Difference of clocks in milliseconds with which leases and signatures fail. */
const wrongMs = 60_000

function checkClocks(readings: readonly ClockReading[]): Finding[] {
  const found = readings.flatMap(({ of, aheadMs, toleranceMs }) => {
    const difference = Math.abs(aheadMs) - toleranceMs
    if (difference < differentMs) return []
    const side = aheadMs > 0 ? 'behind' : 'ahead of'
    const text = `The clock of this machine is ${durationText(difference)} ${side} that of ${of}`
    const advice = 'Set the clock of both by NTP (timedatectl shows whether it is used).'
    return difference < wrongMs
      ? [warning(`${text}.`, advice)]
      : [failed(`${text}: leases end early, and signed requests are refused.`, advice)]
  })
  if (found.length > 0) return found
  const others = readings.map(({ of }) => of).join(' and ')
  const now = new Date().toISOString()
  return [
    ok(others === '' ? `${now}; nothing to compare it with` : `${now}; the same as ${others}`),
  ]
}
