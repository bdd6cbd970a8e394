import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOfLiveProcess } from './leftovers.js'

/** Limits of a control group of the system. */
export interface GroupLimits {
  /** Bytes of memory of all processes in it. */
  memoryBytes: number
  /** Processes and threads in it. */
  tasks: number
  /** Share of a processor in percent: 100 is a whole one. */
  processorPercent: number
}

/** The control group of one program and of whatever it starts. */
export interface ControlGroup {
  add(pid: number): Promise<void>
  /** Ends everything in it by force. */
  kill(): Promise<void>
  /** Bytes of memory that everything in it uses; undefined if that cannot be read. */
  memoryBytes(): Promise<number | undefined>
  /** Whether the system ended something in it because of its memory. */
  ranOutOfMemory(): Promise<boolean>
  /** Ends what is left in it, and removes it. */
  remove(): Promise<void>
}

/** Control groups (cgroup v2) below a folder that was delegated to this server. */
export interface ControlGroups {
  /** Whether processor time is bounded too. */
  readonly boundsProcessor: boolean
  /** @param name begins with the process id and start time of the server, and is unique in the folder */
  create(name: string): Promise<ControlGroup>
}

const root = '/sys/fs/cgroup'
/** Microseconds in which a share of processor time is counted. */
const periodUs = 100_000
/** Before the names of the groups of programs. */
const prefix = 'program-'
/** Attempts to remove a group, and milliseconds between them: a killed process takes a moment to end. */
const removal = { tries: 20, pauseMs: 50 }

/**
 * The folder of the group of this process, if a service manager delegated it to the server, as write access
 * shows. Undefined for root, who may write to every group, delegated or not.
 */
export async function findDelegatedGroup(): Promise<string | undefined> {
  if (process.getuid?.() === 0) return undefined
  const text = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
  const path = /^0::(\/.*)$/m.exec(text)?.[1]
  if (path === undefined) return undefined
  const folder = join(root, path)
  try {
    await access(join(folder, 'cgroup.subtree_control'), constants.W_OK)
    return folder
  } catch {
    return undefined
  }
}

/**
 * Prepares a folder of control groups. A group with groups below it must have no processes of its own, so this
 * process moves into one below.
 * @throws Error if the system does not bound memory and processes there
 */
export async function openControlGroups(
  folder: string,
  limits: GroupLimits,
): Promise<ControlGroups> {
  const known = (await readFile(join(folder, 'cgroup.controllers'), 'utf8')).trim().split(/\s+/)
  for (const needed of ['memory', 'pids']) {
    if (!known.includes(needed)) throw new Error(`The group has no controller ${needed}.`)
  }
  const used = ['memory', 'pids', 'cpu'].filter((name) => known.includes(name))
  const own = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).trim().split(/\s+/)
  if (own.includes(String(process.pid))) {
    const below = join(folder, 'server')
    await mkdir(below, { recursive: true })
    await writeFile(join(below, 'cgroup.procs'), String(process.pid))
  }
  await writeFile(join(folder, 'cgroup.subtree_control'), used.map((name) => `+${name}`).join(' '))
  await removeLeftovers(folder)
  const boundsProcessor = used.includes('cpu')

  return {
    boundsProcessor,
    async create(name) {
      const group = join(folder, `${prefix}${name}`)
      const write = (file: string, value: string | number) =>
        writeFile(join(group, file), String(value))
      await mkdir(group)
      await write('memory.max', limits.memoryBytes)
      // Without swap space the system has no such file.
      await write('memory.swap.max', 0).catch(() => {})
      await write('pids.max', limits.tasks)
      if (boundsProcessor) {
        await write(
          'cpu.max',
          `${Math.round((limits.processorPercent * periodUs) / 100)} ${periodUs}`,
        )
      }
      return toControlGroup(group)
    },
  }
}

/** Ends what a killed server left behind, and removes its groups. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || (await isOfLiveProcess(name.slice(prefix.length)))) continue
    await toControlGroup(join(folder, name)).remove()
  }
}

function toControlGroup(group: string): ControlGroup {
  const read = (file: string) => readFile(join(group, file), 'utf8').catch(() => undefined)
  // Linux before 5.14 has no such file: there only the program itself is killed, by the signal of the launcher.
  const kill = () => writeFile(join(group, 'cgroup.kill'), '1').catch(() => {})
  return {
    add: (pid) => writeFile(join(group, 'cgroup.procs'), String(pid)),
    kill,
    async memoryBytes() {
      const bytes = Number(await read('memory.current'))
      return Number.isFinite(bytes) ? bytes : undefined
    },
    async ranOutOfMemory() {
      const [, kills = '0'] = /^oom_kill (\d+)$/m.exec((await read('memory.events')) ?? '') ?? []
      return Number(kills) > 0
    },
    async remove() {
      await kill()
      for (let tries = 0; tries < removal.tries; tries++) {
        const code = await rmdir(group).then(() => undefined, codeOf)
        if (code !== 'EBUSY') return
        await sleep(removal.pauseMs)
      }
    },
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
