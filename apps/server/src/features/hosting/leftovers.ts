import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../../platform/telemetry/log.js'

// Each process of a server has a folder for the sockets of its programs, beside those of other processes
// of the same installation. Its name identifies the process, so that others can find out whether it is alive.

/** Number of folders that this process made. */
let made = 0
/** Maximum bytes of the path of a socket: systems accept 103 to 107, and Node shortens a longer one without a word. */
const maxSocketPathBytes = 103
/** The longest path of a socket below the folder of an installation, with room for ten million programs. */
const maxEnding = '/4194304-99999999999-999/10000000/s'
/** Folder of sockets if the path of the folder for temporary files is too long. */
const systemFolder = '/tmp'

/** The folder that contains those of all processes of an installation on this machine. */
function homeOf(installation: string): string {
  const name = `botstead-${userId()}-${installation.slice(0, 12)}`
  const home = join(tmpdir(), name)
  // By the longest path and not by that of this process: all processes must look into the same folder.
  const isShort = Buffer.byteLength(home + maxEnding) <= maxSocketPathBytes
  return isShort ? home : join(systemFolder, name)
}

function userId(): number {
  return process.getuid?.() ?? 0
}

/** Makes a folder for the programs of this process. Ends programs that dead processes left behind. */
export async function makeFolder(installation: string, log: Pick<Log, 'info'>): Promise<string> {
  const home = homeOf(installation)
  await mkdir(home, { recursive: true, mode: 0o711 })
  await endLeftovers(installation, log)
  made += 1
  const folder = join(home, `${process.pid}-${await startOf(process.pid)}-${made}`)
  // Recursive, because another process of the installation that stops removes the parent while it is empty.
  await mkdir(folder, { recursive: true, mode: 0o711 })
  return folder
}

/**
 * Notes the process of a program, so that others can end it when this process is dead: its id, and when it was started,
 * because code can change what else shows that it is the same process.
 */
export async function notePid(folder: string, number: number, pid: number): Promise<void> {
  await writeFile(pidFileOf(folder, number), `${pid} ${await startOf(pid)}`)
}

/** Removes the note, when the program has ended. */
export async function forgetPid(folder: string, number: number): Promise<void> {
  await rm(pidFileOf(folder, number), { force: true })
}

function pidFileOf(folder: string, number: number): string {
  return join(folder, `${number}.pid`)
}

/** Ends programs of processes of this installation that were killed, and removes their folders. */
export async function endLeftovers(installation: string, log: Pick<Log, 'info'>): Promise<void> {
  const home = homeOf(installation)
  if (!(await isThere(home))) return
  await requireOwn(home)
  for (const name of await listed(home)) {
    if (await isOfLiveProcess(name)) continue
    const folder = join(home, name)
    for (const file of await listed(folder)) {
      if (/^\d+\.pid$/.test(file)) await endLeftover(folder, file, log)
    }
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether the process is alive after which a folder or a control group was named. */
export async function isOfLiveProcess(name: string): Promise<boolean> {
  const [pid, start] = name.split('-')
  return (await startOf(Number(pid))) === start
}

async function endLeftover(folder: string, file: string, log: Pick<Log, 'info'>): Promise<void> {
  const noted = await readFile(join(folder, file), 'utf8').catch(() => '')
  const [pid, start] = noted.split(' ')
  // The id may have been reused.
  if (Number(pid) <= 1 || start === '' || (await startOf(Number(pid))) !== start) return
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch {
    // It ended by itself, or another process of the server was faster.
    return
  }
  log.info({ pid: Number(pid) }, 'ended deployed code that a killed server left behind')
}

/** Whether the path exists, be it as a broken link. */
async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** Throws unless this user owns the folder: in the temporary folder, anybody could have made it, or a link in its place. */
async function requireOwn(folder: string): Promise<void> {
  const found = await lstat(folder)
  if (found.isDirectory() && found.uid === userId() && (found.mode & 0o022) === 0) return
  throw new Error(
    `The folder ${folder} belongs to another user, or others may write to it: remove it.`,
  )
}

async function listed(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}

/** Start of a process in clock ticks since the start of the system; empty if unknown or if it does not run. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program comes second, in parentheses, and may contain spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
