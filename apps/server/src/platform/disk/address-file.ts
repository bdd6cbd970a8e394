import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** File of the data folder that says where its server listens. */
const fileName = 'server.address'

/** The content of the file: the address of a server and its process. */
interface ListeningServer {
  /** As callers use it. */
  address: string
  /** As programs on this machine reach it, without a proxy; an earlier release did not record it. */
  local?: string
  pid: number
}

/** A recorded server, which may have ended since. */
export interface RecordedServer {
  /** As callers use it, without a trailing slash. */
  address: string
  /** Base address for programs on this machine, without a trailing slash. */
  local: string
  pid: number
  /** Whether a process has that number. After a kill it may be another one. */
  isAlive: boolean
}

/** Records the addresses of this process for commands that run in the same folder, whatever its port is. */
export async function writeAddressFile(
  dataDir: string,
  { address, local }: { address: string; local: string },
): Promise<void> {
  const path = join(dataDir, fileName)
  const server: ListeningServer = { address, local, pid: process.pid }
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(server)}\n`, { mode: 0o600 })
  // A rename, so that a command that reads the file now never sees a part of it.
  await rename(temporary, path)
}

/** Removes the file of this process; one of another process, which has the folder now, stays. */
export async function removeAddressFile(dataDir: string): Promise<void> {
  const server = await readServer(dataDir)
  if (server?.pid === process.pid) await rm(join(dataDir, fileName), { force: true })
}

/** Reads the record of the server of a data folder, also after a kill; undefined if there is none. */
export async function readRecordedServer(dataDir: string): Promise<RecordedServer | undefined> {
  const server = await readServer(dataDir)
  if (server === undefined) return undefined
  const { address, local = address, pid } = server
  // In a container a server and the command that looks for it may have the same number.
  return { address, local, pid, isAlive: pid !== process.pid && isAlive(pid) }
}

async function readServer(dataDir: string): Promise<ListeningServer | undefined> {
  try {
    const text = await readFile(join(dataDir, fileName), 'utf8')
    const { address, local, pid } = Object(JSON.parse(text))
    const isValid = isAddress(address) && Number.isInteger(pid) && pid > 0
    return isValid ? { address, pid, ...(isAddress(local) && { local }) } : undefined
  } catch {
    // There is no file, or not a whole one: then there is no server that commands could call.
    return undefined
  }
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

/** Whether a process runs. The system refuses the signal (`EPERM`) if the process is of another user. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Object(error).code === 'EPERM'
  }
}
