import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** File of the data folder that says where the server on it listens. */
const addressNote = 'server.address'

/** Where a server listens, and its process. */
interface Note {
  address: string
  pid: number
}

/** Notes the address of this process for commands that run in the same folder, whatever its port is. */
export async function noteAddress(dataDir: string, address: string): Promise<void> {
  const path = join(dataDir, addressNote)
  const note: Note = { address, pid: process.pid }
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

async function readNote(dataDir: string): Promise<Note | undefined> {
  try {
    const { address, pid } = Object(JSON.parse(await readFile(join(dataDir, addressNote), 'utf8')))
    const isNote = typeof address === 'string' && URL.canParse(address) && Number.isInteger(pid)
    return isNote && pid > 0 ? { address, pid } : undefined
  } catch {
    // Nothing is noted, or what a server was killed over.
    return undefined
  }
}

/** Whether a process runs; one of another user does too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Object(error).code === 'EPERM'
  }
}
