import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { constants, setPriority, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HostingConfig } from '../../../config/config.js'
import type { Log } from '../../../platform/telemetry/log.js'

// How a program is started so that it can harm nobody by mistake: an empty environment, Node's
// permission flags, limits of the system, a user of its own where the server is root, and a folder of
// its own. With a wrapping command, all of that happens inside of what the command starts.

const resolver = createRequire(import.meta.url)
/** The host program. */
const entry = resolver.resolve('@botstead/bot-host')
/** The package of the host program: all that a program may read. */
const readable = dirname(dirname(entry))

/** First id of the users of programs: none that a system gives to people or services. */
const firstUser = 1_000_000
const users = 60_000
/** Milliseconds for which a wrapping command may end what it started. */
const forceMs = 5000

/** Launchers of this process: each has a folder. */
let opened = 0

/** Starts host programs. */
export interface Launcher {
  /** @param name whose code it is, for the list of processes */
  launch(name: string): Promise<Launched>
  /** Removes all folders. */
  close(): Promise<void>
}

/** A host program that was started. */
interface Launched {
  process: ChildProcess
  /** Path of the socket that it listens on. */
  socket: string
  /** Ends it by force. */
  kill(): void
  /** Removes its folder; after it has ended. */
  clear(): Promise<void>
}

export interface LauncherDeps {
  log: Pick<Log, 'warn' | 'info'>
  hosting: HostingConfig
  memoryBytes: number
  /** Distinguishes this installation from others on the machine. */
  installation: string
}

/**
 * Prepares the folder of sockets, and ends programs that a process of this installation left behind when
 * it was killed.
 */
export async function openLauncher(deps: LauncherDeps): Promise<Launcher> {
  const { log, hosting, memoryBytes } = deps
  const user = process.getuid?.() ?? 0
  const home = join(tmpdir(), `botstead-${user}-${deps.installation.slice(0, 12)}`)
  await mkdir(home, { recursive: true, mode: 0o711 })
  await requireOwn(home, user)
  await endLeftovers(home, log)
  opened += 1
  const folder = join(home, `${process.pid}-${await startOf(process.pid)}-${opened}`)
  await mkdir(folder, { mode: 0o711 })
  const hasOwnUsers = hosting.mode === 'trusted' && (await canChangeUser(log))
  let started = 0

  return {
    async launch(name) {
      started += 1
      const number = String(started)
      const own = join(folder, number)
      const socket = join(own, 's')
      await mkdir(own, { mode: 0o700 })
      const user = firstUser + (started % users)
      if (hasOwnUsers) await chown(own, user, user)
      const node = [
        process.execPath,
        ...nodeFlags(memoryBytes, hosting.mode === 'trusted'),
        entry,
        socket,
        name,
      ]
      const [command = '', ...given] =
        hosting.mode === 'wrapped'
          ? [...wrapping(hosting.command, own, name), ...node]
          : ['/bin/sh', '-c', `${limits(memoryBytes)} exec "$@"`, 'sh', ...node]
      const child = spawn(command, given, {
        cwd: own,
        // The code gets its own with the order, where the list of processes does not show it.
        env: hosting.mode === 'wrapped' ? commandEnvironment() : {},
        stdio: ['pipe', 'pipe', 'pipe'],
        ...(hasOwnUsers && { uid: user, gid: user }),
      })
      // Fails with the process; its end is what is waited for.
      child.stdin.on('error', () => {})
      if (child.pid !== undefined) {
        // Programs get the processor when the server does not need it.
        if (hosting.mode === 'trusted') lowerPriority(child.pid)
        await writeFile(join(folder, `${number}.pid`), String(child.pid))
      }
      return {
        process: child,
        socket,
        kill() {
          // A container ends with the signal that its command passes on, not with that command.
          if (hosting.mode === 'wrapped' && child.kill('SIGTERM')) {
            setTimeout(() => child.kill('SIGKILL'), forceMs).unref()
          } else child.kill('SIGKILL')
        },
        async clear() {
          await rm(join(folder, `${number}.pid`), { force: true })
          await rm(own, { recursive: true, force: true })
        },
      }
    },

    async close() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What a wrapping command needs to find its programs and their settings. */
function commandEnvironment(): Record<string, string | undefined> {
  // biome-ignore lint/style/noProcessEnv: what the command is started with, not a setting
  const { PATH, HOME } = process.env
  return { PATH, HOME }
}

/** The words of the wrapping command. */
function wrapping(command: readonly string[], folder: string, name: string): string[] {
  const id = name.replace(/[^\w-]/g, '-')
  return command.map((word) => word.replaceAll('{folder}', folder).replaceAll('{id}', id))
}

function nodeFlags(memoryBytes: number, isTrusted: boolean): string[] {
  return [
    `--max-old-space-size=${Math.round(memoryBytes / 2 ** 20)}`,
    '--disable-warning=ExperimentalWarning',
    // A wrapped program is confined by its wrapping, which may have paths of its own.
    ...(isTrusted
      ? [
          process.allowedNodeEnvironmentFlags.has('--permission')
            ? '--permission'
            : '--experimental-permission',
          `--allow-fs-read=${readable}/*`,
          '--no-addons',
        ]
      : []),
  ]
}

/** No core dumps, which hold secrets; a bound for open files, and for memory beside the heap. */
function limits(memoryBytes: number): string {
  const dataKib = Math.round((memoryBytes * 4) / 1024) + 1024 * 1024
  return `ulimit -c 0; ulimit -n 1024; ulimit -d ${dataKib};`
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It has ended already.
  }
}

/**
 * Whether programs can run as users of their own: the server is root, and such a user can read Node and the
 * host program.
 */
async function canChangeUser(log: Pick<Log, 'warn'>): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const child = spawn(process.execPath, [entry, 'probe'], {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    uid: firstUser,
    gid: firstUser,
  })
  const ended = once(child, 'exit').catch(() => [1])
  const [code] = await ended
  if (code === 0) return true
  log.warn(
    { program: entry },
    'deployed code runs as root, because other users may not read Node or the host program: run the server as a user of its own',
  )
  return false
}

/** Throws if somebody else made the folder, in a place where everybody may make one. */
async function requireOwn(folder: string, user: number): Promise<void> {
  const { uid, mode } = await lstat(folder)
  if (uid === user && (mode & 0o022) === 0) return
  throw new Error(
    `The folder ${folder} belongs to another user, or others may write to it: remove it.`,
  )
}

/** Ends what processes of this installation left behind, and removes their folders. */
async function endLeftovers(home: string, log: Pick<Log, 'info'>): Promise<void> {
  for (const name of await readdir(home)) {
    const [owner, start] = name.split('-')
    if ((await startOf(Number(owner))) === start) continue
    const folder = join(home, name)
    for (const file of await readdir(folder)) {
      const pid = Number(/^\d+\.pid$/.test(file) && (await readFile(join(folder, file), 'utf8')))
      if (pid > 1 && (await isHostOf(pid, folder))) {
        process.kill(pid, 'SIGKILL')
        log.info({ pid }, 'ended deployed code that a killed server left behind')
      }
    }
    await rm(folder, { recursive: true, force: true })
  }
}

/** When a process was started, in a unit of the system; empty if it does not run, or nothing says so. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program comes second, in parentheses, and may contain spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/** Whether a process is a host program with a socket in the folder: ids of processes are given again. */
async function isHostOf(pid: number, folder: string): Promise<boolean> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words.includes(`\0${folder}/`)
}
