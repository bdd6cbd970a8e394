import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, localAddress } from '../../../config/config.js'
import { isFolderHeld } from '../../../platform/db/sqlite-files.js'
import { type RecordedServer, readRecordedServer } from '../../../platform/disk/address-file.js'
import { instanceOf } from '../../../platform/security/secrets.js'
import { type DoctorDeps, type Finding, failed, ok, reasonOf, warning } from './finding.js'

/** Milliseconds for one request. */
const requestMs = 5000
const maxBodyBytes = 256 * 1024

/** The response of a server; its body only if it is JSON. */
interface JsonResponse {
  status: number
  location: string | null
  body: Record<string, unknown> | undefined
}

/** The identity of this installation, as known before anything is called. */
interface Identity {
  /** As `/healthz` returns it; undefined where there is no secret to derive it from. */
  instance: string | undefined
  token: string | undefined
}

/** The kind of server at an address. */
type ProbeResult =
  | { kind: 'this' | 'unknown' | 'other' }
  /** Something that is no server of this program. */
  | { kind: 'foreign'; reason: string }
  | { kind: 'unreachable'; reason: string }

/** Whether a server runs here, and whether callers reach it at its public address. */
export async function checkAddresses(
  deps: Pick<DoctorDeps, 'config' | 'settings'> & { version: string },
  signal: AbortSignal,
): Promise<{ server: Finding[]; publicAddress: Finding[] }> {
  const { config, settings, version } = deps
  const identity = await identify(config)
  const recorded = await readRecordedServer(config.dataDir)
  const isSet = settings.some(
    ({ name, source }) => name === 'BOTSTEAD_PUBLIC_URL' && source !== 'default',
  )
  const [here, there] = await Promise.all([
    findHere(config, recorded, identity, signal),
    isSet ? probe(config.publicUrl, identity, signal) : undefined,
  ])
  const isRunning = here.found.kind === 'this' || mayServe(config, recorded)
  return {
    server: await describeServer(
      { config, ...here, recorded, isRunning, identity, version },
      signal,
    ),
    publicAddress: describePublic(config.publicUrl, there, isRunning),
  }
}

/** Looks at the address that the server recorded, if it may still run, and else at that of the settings. */
async function findHere(
  config: Config,
  recorded: RecordedServer | undefined,
  identity: Identity,
  signal: AbortSignal,
): Promise<Place> {
  const configured = localAddress(config.host, config.port)
  // The lock is the better witness, where there is one: process numbers are given again.
  const mayRun = recorded !== undefined && (recorded.isAlive || isFolderLocked(config))
  if (!mayRun || isSameAddress(recorded.local, config)) {
    return {
      local: configured,
      isRecorded: false,
      found: await probe(configured, identity, signal),
    }
  }
  const [there, here] = await Promise.all([
    probe(recorded.local, identity, signal),
    probe(configured, identity, signal),
  ])
  // Of several processes on one folder, the note is of the last that started.
  if (there.kind !== 'this' && here.kind === 'this')
    return { local: configured, isRecorded: false, found: here }
  // If no process works on the folder, another program listens there now.
  const isHere =
    ['this', 'unknown'].includes(there.kind) || (recorded.isAlive && mayServe(config, recorded))
  return isHere
    ? { local: recorded.local, isRecorded: true, found: there }
    : { local: configured, isRecorded: false, found: here }
}

/** Whether a server works on the folder: by its lock with SQLite, else by its process. */
function mayServe(config: Config, recorded: RecordedServer | undefined): boolean {
  return config.databaseUrl === undefined ? isFolderLocked(config) : recorded?.isAlive === true
}

/** Whether a recorded address is the one of the settings, which name any local one. */
function isSameAddress(local: string, { host, port }: Config): boolean {
  const names = ['localhost', '127.0.0.1', '[::1]']
  const recorded = new URL(local)
  const configured = new URL(localAddress(host, port))
  const hasSameHost =
    recorded.hostname === configured.hostname ||
    (names.includes(recorded.hostname) && names.includes(configured.hostname))
  return hasSameHost && recorded.port === configured.port
}

async function identify({ secret, adminToken, dataDir }: Config): Promise<Identity> {
  const read = async (name: string) => {
    const text = await readFile(join(dataDir, name), 'utf8').catch(() => '')
    return text.trim() || undefined
  }
  const known = secret ?? (await read('secret'))
  return {
    instance: known === undefined ? undefined : instanceOf(Buffer.from(known)),
    token: adminToken ?? (await read('admin-token')),
  }
}

function isFolderLocked({ databaseUrl, dataDir }: Config): boolean {
  if (databaseUrl !== undefined) return false
  try {
    return isFolderHeld(dataDir)
  } catch {
    // The check of the data folder reports what is wrong with it.
    return false
  }
}

async function probe(
  base: string,
  { instance }: Identity,
  signal: AbortSignal,
): Promise<ProbeResult> {
  let response: JsonResponse
  try {
    response = await get(`${base}/healthz`, signal)
  } catch (error) {
    return { kind: 'unreachable', reason: reasonOf(error) }
  }
  const { status, location, body } = response
  if (location !== null) return { kind: 'foreign', reason: `it redirects to ${location}` }
  if (status !== 200 || body?.status !== 'ok') {
    return {
      kind: 'foreign',
      reason: `/healthz returns ${status}, which is not the response of a Botstead server`,
    }
  }
  if (instance === undefined || typeof body.instance !== 'string') return { kind: 'unknown' }
  return { kind: body.instance === instance ? 'this' : 'other' }
}

/** An address at which the server was looked for, and the result. */
interface Place {
  local: string
  /** Whether the server recorded that address, and the settings have another one. */
  isRecorded: boolean
  found: ProbeResult
}

interface ServerView extends Place {
  config: Config
  recorded: RecordedServer | undefined
  isRunning: boolean
  identity: Identity
  version: string
}

async function describeServer(view: ServerView, signal: AbortSignal): Promise<Finding[]> {
  const { config, found, local, isRecorded, recorded, isRunning } = view
  const start = `Start it: "npx botstead start", or your service manager.`
  switch (found.kind) {
    case 'this':
      return await describeRunning(view, signal)
    case 'unknown':
      return [
        warning(
          `A server responds at ${local}, but it is not known whether it is this one: it is starting, is of an earlier release, or there is no secret here.`,
          'Run this again in a minute, with the settings of the server.',
        ),
      ]
    case 'other':
    case 'foreign': {
      const what = found.kind === 'other' ? 'another installation' : 'another program'
      return [
        failed(
          `${isRunning ? 'The server of this folder is not' : 'No server of this folder is'} at ${local}: ${what} responds there.`,
          `Set PORT and HOST as for the server, or stop what listens at port ${config.port}.`,
        ),
      ]
    }
    case 'unreachable': {
      if (isRecorded) {
        return [
          failed(
            `The server of this folder listens at ${local} (process ${recorded?.pid}), but does not respond there: ${found.reason}.`,
            'See its log and restart it. If it runs in a container, run this in the same one.',
          ),
        ]
      }
      if (isRunning) {
        return [
          warning(
            `A server works on ${config.dataDir}, but does not respond at ${local}: ${found.reason}.`,
            'Set PORT and HOST as for the server; if they are the same, see its log and restart it.',
          ),
        ]
      }
      const end =
        recorded?.isAlive === false
          ? ` The last one, process ${recorded.pid} at ${recorded.local}, was killed or lost power.`
          : ''
      return [
        warning(`No server runs: nothing responds at ${local} (${found.reason}).${end}`, start),
      ]
    }
  }
}

async function describeRunning(
  { config, local, isRecorded, identity, version }: ServerView,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found: Finding[] = []
  if (isRecorded && config.port !== 0) {
    found.push(
      warning(
        `The server listens at ${local}, but these settings say ${localAddress(config.host, config.port)}.`,
        'Run this with the settings of the server; a restart with these would move it.',
      ),
    )
  }
  const readiness = await get(`${local}/readyz`, signal).catch((error: unknown) => reasonOf(error))
  if (typeof readiness === 'string') {
    found.push(failed(`The server at ${local} does not respond at /readyz: ${readiness}.`, seeLog))
  } else if (readiness.status !== 200) {
    const reason = String(readiness.body?.message ?? `/readyz returns ${readiness.status}`)
    found.push(failed(reason, seeLog))
  } else {
    for (const { name, detail } of degradedParts(readiness.body)) {
      found.push(warning(`The part "${name}" of the server is restricted: ${detail}`, seeLog))
    }
  }
  const running = await runningVersion(local, identity, signal)
  if (running !== undefined && running !== version) {
    found.push(
      warning(
        `The server runs version ${running}, and this command is ${version}.`,
        'Restart the server to complete the upgrade, or use the command of its release.',
      ),
    )
  }
  const text = running === undefined ? '' : `, version ${running}`
  if (found.some(({ status }) => status === 'failed')) return found
  return [ok(`It runs at ${local}${text}, and is ready`), ...found]
}

const seeLog = 'See the log of the server; the other checks may show the cause.'

function degradedParts(body: JsonResponse['body']): { name: string; detail: string }[] {
  const checks = Array.isArray(body?.checks) ? body.checks : []
  return checks.flatMap((each) =>
    each?.status === 'degraded' ? [{ name: String(each.name), detail: String(each.detail) }] : [],
  )
}

/** Undefined where the operator's token is not known here, or not accepted. The server has been recognised before. */
async function runningVersion(
  local: string,
  { token }: Identity,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (token === undefined) return undefined
  const headers = { authorization: `Bearer ${token}` }
  const response = await get(`${local}/v1/admin/server`, signal, headers).catch(() => undefined)
  const version = response?.status === 200 ? response.body?.version : undefined
  return typeof version === 'string' ? version : undefined
}

function describePublic(
  publicUrl: string,
  there: ProbeResult | undefined,
  isRunning: boolean,
): Finding[] {
  if (there === undefined) {
    return [ok(`BOTSTEAD_PUBLIC_URL is not set: callers on this machine use ${publicUrl}`)]
  }
  const proxy = 'Check the proxy in front of the server, or correct BOTSTEAD_PUBLIC_URL.'
  switch (there.kind) {
    case 'this':
      return [ok(`${publicUrl} leads to this server`)]
    case 'unknown':
      return [
        warning(`${publicUrl} leads to a server, but it is not known whether it is this one.`),
      ]
    case 'other':
      return [failed(`${publicUrl} leads to another installation, not to this server.`, proxy)]
    case 'foreign':
    case 'unreachable': {
      const reason =
        there.kind === 'foreign' ? there.reason : `it cannot be reached: ${there.reason}`
      const text = `${publicUrl} does not lead to this server: ${reason}.`
      if (!isRunning) return [warning(text, 'Start the server, then run this again.')]
      return [
        failed(text, `${proxy} If only this machine cannot reach it, check from another one.`),
      ]
    }
  }
}

async function get(
  url: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  // Not AbortSignal.timeout with AbortSignal.any: Node 20 may collect the timer as garbage, and then waits for ever.
  const ending = new AbortController()
  const end = () => ending.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  const timer = setTimeout(
    () => ending.abort(new Error(`there was no response within ${requestMs / 1000} s`)),
    requestMs,
  )
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', connection: 'close', ...headers },
      redirect: 'manual',
      signal: ending.signal,
    })
    return {
      status: response.status,
      location: response.headers.get('location'),
      body: parse(await readText(response)),
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

/** The body; empty if it is larger than any that is expected. */
async function readText(response: Response): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > maxBodyBytes) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
