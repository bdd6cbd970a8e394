import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** File of the data folder that says where the server on it listens. */
const addressNote = 'server.address'

/** Where a server listens, and its process. */
interface Note {
  /** As callers use it. */
  address: string
  /** As programs on this machine reach it, without a proxy; an earlier release did not note it. */
  local?: string
  pid: number
}

/** What a server noted, which may have ended since. */
export interface NotedServer {
  /** Base address for programs on this machine, without a trailing slash. */
  local: string
  pid: number
  /** Whether a process has that number. After a kill it may be another one. */
  isAlive: boolean
}

/** Notes the addresses of this process for commands that run in the same folder, whatever its port is. */
export async function noteAddress(
  dataDir: string,
  { address, local }: { address: string; local: string },
): Promise<void> {
  const path = join(dataDir, addressNote)
  const note: Note = { address, local, pid: process.pid }
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  // Never seen in part, also by a command that reads it now.
  await rename(temporary, path)
}

/** Removes the note of this process; another one, that has the folder since, keeps its own. */
export async function removeAddressNote(dataDir: string): Promise<void> {
  const note = await readNote(dataDir)
  if (note?.pid === process.pid) await rm(join(dataDir, addressNote), { force: true })
}

/** The address of the server on a data folder; undefined if none is noted, or if its process has ended. */
export async function readAddressNote(dataDir: string): Promise<string | undefined> {
  const note = await readNote(dataDir)
  return note !== undefined && isAlive(note.pid) ? note.address : undefined
}

/** What the server on a data folder noted, also if it was killed since; undefined if nothing is noted. */
export async function readNotedServer(dataDir: string): Promise<NotedServer | undefined> {
  const note = await readNote(dataDir)
  if (note === undefined) return undefined
  const { address, local = address, pid } = note
  // In a container a server and the command that looks for it may have the same number.
  return { local, pid, isAlive: pid !== process.pid && isAlive(pid) }
}

async function readNote(dataDir: string): Promise<Note | undefined> {
  try {
    const text = await readFile(join(dataDir, addressNote), 'utf8')
    const { address, local, pid } = Object(JSON.parse(text))
    const isNote = isAddress(address) && Number.isInteger(pid) && pid > 0
    return isNote ? { address, pid, ...(isAddress(local) && { local }) } : undefined
  } catch {
    // Nothing is noted, or what a server was killed over.
    return undefined
  }
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

/** Whether a process runs; one of another user does too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Object(error).code === 'EPERM'
  }
}
