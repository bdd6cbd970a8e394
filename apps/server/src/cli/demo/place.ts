import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readServerAddress } from '../../platform/disk/address-file.js'

/** A demonstration that runs now. */
export interface RunningDemo {
  /** Its temporary data folder, which its user alone may read. */
  dataDir: string
  address: string
}

/** In the home of the user and for them alone: in a folder for everybody, others could put a file of theirs. */
function placeFile(): string {
  return join(homedir(), '.local/state/botstead/demo')
}

/** Records where the data of a demonstration is, for commands of the same user; the newest one counts. */
export async function recordDemo(dataDir: string): Promise<void> {
  const path = placeFile()
  const temporary = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(temporary, dataDir, { mode: 0o600 })
  await rename(temporary, path)
}

/** Forgets this demonstration; another one that was started since stays. */
export async function forgetDemo(dataDir: string): Promise<void> {
  if ((await readPlace()) === dataDir) await rm(placeFile(), { force: true })
}

/** The demonstration of this user; undefined if none runs. */
export async function findDemo(): Promise<RunningDemo | undefined> {
  const dataDir = await readPlace()
  const address = dataDir === undefined ? undefined : await readServerAddress(dataDir)
  return dataDir === undefined || address === undefined ? undefined : { dataDir, address }
}

async function readPlace(): Promise<string | undefined> {
  try {
    return await readFile(placeFile(), 'utf8')
  } catch {
    return undefined
  }
}
