import { type ChildProcessWithoutNullStreams as ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostingConfig } from '../../config/config.js'
import { hasErrorCode } from '../../platform/disk/files.js'
import type { Log } from '../../platform/telemetry/log.js'
import {
  type Confinement,
  hostFolder,
  hostProgram,
  openConfinement,
  type ResourceLimits,
} from './confinement.js'
import type { ControlGroup } from './control-groups.js'
import { forgetPid, makeFolder, notePid } from './leftovers.js'
import {
  type ProcessorTimes,
  processorTimesOfTree,
  type TreeUsage,
  usageOfTree,
} from './process-tree.js'
import { canHoldSockets, type OpenSocket, openSocket } from './socket.js'

/** Milliseconds that a wrapping command has to end what it started, before it is killed. */
const forceMs = 5000

/** Starts host programs. */
export interface Launcher {
  /** @param name identifies the owner of the code in the list of processes */
  launch(name: string): Promise<Launched>
  /** Removes all folders. */
  close(): Promise<void>
}

/** A host program that was started. */
export interface Launched {
  process: ChildProcess
  /** Opens the socket that it listens on; undefined if it does not listen yet. */
  openSocket(): Promise<OpenSocket | undefined>
  /**
   * Removes the folder of a wrapped program. Call it before the code is loaded, which could otherwise put a link in the
   * place of a folder while it is being removed, and have files of the server removed.
   */
  socketOpened(socket: OpenSocket): Promise<void>
  /** Ends it by force, with whatever it started. */
  kill(): void
  /** Resources that it uses now, with all processes that it started. */
  usage(): Promise<TreeUsage>
  /** Processor time that it has had so far, with all processes that it started. Never rejects. */
  processorTimes(): Promise<ProcessorTimes>
  /** Whether the system ended it because of its memory. */
  ranOutOfMemory(): Promise<boolean>
  /** Removes its folder and control group, and gives back its user. Call it after the end. Never rejects. */
  clear(): Promise<void>
}

export interface LauncherDeps {
  log: Pick<Log, 'warn' | 'info'>
  hosting: HostingConfig
  limits: ResourceLimits
  /** Distinguishes this installation from others on the machine. */
  installation: string
}

/** Makes the folder of programs, and finds out what confines them on this system. */
export async function openLauncher(deps: LauncherDeps): Promise<Launcher> {
  const { log, hosting } = deps
  if (hosting.mode === 'wrapped' && !canHoldSockets()) {
    throw new Error(
      'BOTSTEAD_HOSTING=wrapped needs Linux with /proc, to hold the sockets of programs',
    )
  }
  const folder = await makeFolder(deps.installation, log)
  const confinement = await openConfinement({ ...deps, folder })
  log.info({ hosting: hosting.mode, limits: confinement.inForce }, 'deployed code has these limits')
  let started = 0

  return {
    async launch(name) {
      started += 1
      const number = started
      const own = join(folder, String(number))
      const socket = join(own, 's')
      const user = confinement.takeUser()
      let group: ControlGroup | undefined
      let held: OpenSocket | undefined
      let wasRemoved = false
      let isCleared = false
      const clear = async () => {
        isCleared = true
        const steps = await Promise.allSettled([
          forgetPid(folder, number),
          held?.close(),
          wasRemoved ? undefined : rm(own, { recursive: true, force: true }),
          group?.remove(),
        ])
        // For want of descriptors, for example. The folder is removed when this process ends.
        for (const step of steps) {
          if (step.status === 'rejected') {
            log.warn({ err: step.reason }, 'what a program left behind cannot be removed now')
          }
        }
        if (user !== undefined) confinement.giveBackUser(user)
      }
      let child: ChildProcess & { pid: number }
      try {
        await mkdir(own, { mode: 0o700 })
        if (user !== undefined) await chown(own, user, user)
        group = await confinement.groupOf(`${basename(folder)}-${number}`)
        const words = commandOf(confinement, hosting, { folder: own, socket, name })
        child = await startProcess(`${confinement.commands}exec "$@"`, words, {
          cwd: own,
          env: environmentOf(hosting),
          ...(user !== undefined && { uid: user, gid: user }),
        })
      } catch (error) {
        await clear()
        throw error
      }
      // Writing fails when the process has ended, which `close` reports.
      child.stdin.on('error', () => {})
      const { pid } = child
      try {
        await notePid(folder, number, pid)
        await group?.add(pid)
      } catch (error) {
        child.once('close', () => void clear())
        child.kill('SIGKILL')
        throw error
      }
      if (confinement.isGrouped) child.stdin.write('\n')
      return {
        process: child,
        openSocket: () => openSocket(socket, user ?? process.getuid?.() ?? 0),
        async socketOpened(opened) {
          // It ended meanwhile.
          if (isCleared) return await opened.close()
          held = opened
          if (!opened.isHeld || hosting.mode !== 'wrapped') return
          await rm(own, { recursive: true, force: true })
          wasRemoved = true
        },
        kill: () => kill(child, group, hosting),
        async usage() {
          const memoryBytes = await group?.memoryBytes()
          if (memoryBytes !== undefined) return { memoryBytes, tasks: 1 }
          return await usageOfTree(pid)
        },
        processorTimes: () => processorTimesOfTree(pid),
        ranOutOfMemory: async () => (await group?.ranOutOfMemory()) ?? false,
        clear,
      }
    },

    async close() {
      await rm(folder, { recursive: true, force: true })
      // Fails while other processes of the installation have folders in it.
      await rmdir(dirname(folder)).catch(() => {})
    },
  }
}

/**
 * Starts a shell with commands and arguments.
 * @throws if the system cannot make a process now, as when too many files are open
 */
async function startProcess(
  commands: string,
  words: readonly string[],
  options: { cwd: string; env: Record<string, string | undefined>; uid?: number; gid?: number },
): Promise<ChildProcess & { pid: number }> {
  const child = spawn('/bin/sh', ['-c', commands, 'sh', ...words], {
    ...options,
    stdio: 'pipe',
    // In a group of its own: Ctrl-C in a terminal is for the server, which lets open requests end.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) {
    // Without descriptors it has no streams either. Nobody else would listen to this event in time.
    const [error] = await once(child, 'error')
    throw error
  }
  void lowerSession(pid)
  return Object.assign(child, { pid })
}

/**
 * Niceness of the session of a program, added to that of the server, whose session has more to do than the server alone: a tenth
 * of its share.
 */
const sessionNiceness = 10
/** Tries to lower the share of a session: the system allows few changes a second to servers that are not root. */
const maxTries = 50
/** Milliseconds between two tries. */
const tryMs = 100

/**
 * Lowers the share of a program in the processors. Linux may divide them between sessions (`autogroup`, `man 7 sched`); its
 * niceness counts within its own session alone then. Elsewhere there is no such file.
 */
async function lowerSession(pid: number): Promise<void> {
  for (let times = 1; times <= maxTries; times += 1) {
    try {
      return await writeFile(
        `/proc/${pid}/autogroup`,
        `${Math.min(getPriority() + sessionNiceness, 19)}`,
      )
    } catch (error) {
      if (!hasErrorCode(error, 'EAGAIN')) return
      await sleep(tryMs, undefined, { ref: false })
    }
  }
}

/** The words that start a program. */
function commandOf(
  { flags, prefix }: Confinement,
  { mode, command }: HostingConfig,
  { folder, socket, name }: { folder: string; socket: string; name: string },
): string[] {
  const node = [process.execPath, ...flags, hostProgram, socket, name]
  if (mode !== 'wrapped') return [...prefix, ...node]
  const values: Record<string, string> = {
    folder,
    id: name.replace(/[^\w-]/g, '-'),
    node: process.execPath,
    program: hostFolder,
  }
  const wrapping = command.map((word) =>
    word.replace(/\{(folder|id|node|program)\}/g, (_, key) => values[key] ?? ''),
  )
  return [...wrapping, ...node]
}

/** The environment of the start. That of the code is in the order, because the list of processes can show this one. */
function environmentOf({ mode }: HostingConfig): Record<string, string | undefined> {
  if (mode !== 'wrapped') return { PATH: '/usr/bin:/bin' }
  // A wrapping command needs these to find its programs and their settings.
  // biome-ignore lint/style/noProcessEnv: what the command is started with, not a setting
  const { PATH, HOME } = process.env
  return { PATH, HOME }
}

function kill(child: ChildProcess, group: ControlGroup | undefined, { mode }: HostingConfig): void {
  void group?.kill()
  // A container does not end with its command, but by the signal that the command passes on.
  if (mode === 'wrapped' && child.kill('SIGTERM')) {
    setTimeout(() => child.kill('SIGKILL'), forceMs).unref()
  } else child.kill('SIGKILL')
}
