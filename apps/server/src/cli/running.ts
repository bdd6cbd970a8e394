import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, loadConfig } from '../config/config.js'
import { readRecordedServer } from '../platform/disk/address-file.js'
import { instanceOf } from '../platform/security/secrets.js'
import { readDemoFolder } from './demo/place.js'
import { notices } from './terminal.js'

/** The settings of the folder in which a command runs, as far as they say where its server is. */
export type LocalSettings = Pick<Config, 'publicUrl' | 'dataDir' | 'secret'>

/** A server that runs, and its data folder. */
export interface RunningServer {
  /** Whether it is the server of the folder in which the command runs, or a demonstration. */
  kind: 'folder' | 'demonstration'
  /** As callers use it, without a slash at the end. */
  address: string
  dataDir: string
}

/** Milliseconds that a server has to respond; one that is too busy counts as running if its process does. */
const probeMs = 3000

/**
 * The server that a command means if nothing names one: that of the folder, if it runs, else the demonstration of the
 * same user, which a notice then names.
 * @param options.hasToken whether a token is given, so that a server whose data is not here can be called too
 * @returns undefined if none responds
 */
export async function findRunning(
  local: LocalSettings,
  { hasToken }: { hasToken: boolean },
): Promise<RunningServer | undefined> {
  const own = await findOwn(local)
  if (own !== undefined) return own
  const configured = await findConfigured(local)
  if (hasToken && configured !== undefined) return configured
  const demo = await findRunningDemo()
  if (demo === undefined) return configured
  notices.line(`No server of this folder runs: using the demonstration at ${demo.address}.`)
  return demo
}

/** The settings of a server that runs, for what works on its data folder. */
export function settingsOf({ kind, address, dataDir }: RunningServer, local: Config): Config {
  if (kind === 'folder') return local
  return loadConfig({ BOTSTEAD_DATA_DIR: dataDir, BOTSTEAD_PUBLIC_URL: address }).config
}

/** The settings whose data folder a command works on: of this folder if it has data, else of a demonstration that runs. */
export async function findSettings(local: Config): Promise<Config> {
  if (local.databaseUrl !== undefined || existsSync(join(local.dataDir, 'botstead.db')))
    return local
  const demo = await findRunningDemo()
  if (demo === undefined) return local
  notices.line(`This folder has no data: using the demonstration at ${demo.address}.`)
  return settingsOf(demo, local)
}

/** The demonstration of this user, if it responds. */
export async function findRunningDemo(): Promise<RunningServer | undefined> {
  const dataDir = await readDemoFolder()
  if (dataDir === undefined) return undefined
  const address = await findRecorded(dataDir, await readInstance({ dataDir }))
  return address === undefined ? undefined : { kind: 'demonstration', address, dataDir }
}

/** Finds a server at the configured address when the data folder here identifies none: it may run in a container. */
async function findConfigured(local: LocalSettings): Promise<RunningServer | undefined> {
  const { publicUrl: address, dataDir } = local
  if ((await readInstance(local)) !== undefined) return undefined
  const demoFolder = await readDemoFolder()
  const demo = demoFolder === undefined ? undefined : await readInstance({ dataDir: demoFolder })
  const found = await probe(address, demo)
  return found === 'unknown' || found === 'other' ? { kind: 'folder', address, dataDir } : undefined
}

/** The server of the folder: at the address that it recorded, or at that of the settings. */
async function findOwn(local: LocalSettings): Promise<RunningServer | undefined> {
  const { dataDir, publicUrl } = local
  const instance = await readInstance(local)
  const recorded = await findRecorded(dataDir, instance)
  if (recorded !== undefined) return { kind: 'folder', address: recorded, dataDir }
  if (instance === undefined || (await probe(publicUrl, instance)) !== 'this') return undefined
  return { kind: 'folder', address: publicUrl, dataDir }
}

/** The address that the server of a data folder recorded, if it responds there. */
async function findRecorded(
  dataDir: string,
  instance: string | undefined,
): Promise<string | undefined> {
  const recorded = await readRecordedServer(dataDir)
  if (recorded === undefined) return undefined
  const found = await probe(recorded.local, instance)
  const isRunning = found === 'this' || (recorded.isAlive && found !== 'other' && found !== 'none')
  return isRunning ? recorded.address : undefined
}

/** The identifier that `/healthz` of the server on a data folder returns; undefined without a secret. */
async function readInstance(local: {
  dataDir: string
  secret?: string | undefined
}): Promise<string | undefined> {
  const { dataDir, secret = await readSecret(dataDir) } = local
  return secret === undefined ? undefined : instanceOf(Buffer.from(secret))
}

async function readSecret(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'secret'), 'utf8').catch(() => '')
  return text.trim() || undefined
}

/**
 * Identifies the server at an address: `this` for the installation with this `instance`, `other` for another one,
 * `unknown` if either is not known, `late` after a timeout, and `none` if it is no server of this program.
 */
async function probe(
  base: string,
  instance: string | undefined,
): Promise<'this' | 'other' | 'unknown' | 'late' | 'none'> {
  try {
    const response = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(probeMs) })
    const { status, instance: found } = Object(await response.json())
    if (!response.ok || status !== 'ok') return 'none'
    if (instance === undefined || typeof found !== 'string') return 'unknown'
    return found === instance ? 'this' : 'other'
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'late' : 'none'
  }
}
