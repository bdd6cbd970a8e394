import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { HostingConfig } from '../../config/config.js'
import type { Log } from '../../platform/telemetry/log.js'
import {
  type ControlGroup,
  type ControlGroups,
  findDelegatedGroup,
  openControlGroups,
} from './control-groups.js'

const resolver = createRequire(import.meta.url)
/** The host program. */
export const hostProgram = resolver.resolve('#bot-host')
/** Folder of the package of the host program: the only files that a program may read. */
export const hostFolder = dirname(dirname(hostProgram))

/** First user id of programs: above the ids that systems give to people and services. */
const firstUser = 1_000_000
/** User ids for each process of the server: even with the highest process id of Linux, 4,194,304, Node can set them. */
const usersPerProcess = 500
/** Maximum number of processes and threads of one program: Node has about a dozen, and more with many processors. */
export const maxTasks = 128
/** Added to the niceness of the server: a program gets a third of the server's share of a busy processor. */
const niceness = 5
/** Maximum number of open files of one program. */
const maxFiles = 1024

/** Upper limits of the resources of a program. */
export interface ResourceLimits {
  /** Bytes of the JavaScript heap. */
  heapBytes: number
  /** Bytes of memory in all. */
  memoryBytes: number
  /** Share of a processor in percent. */
  processorPercent: number
}

/** Limits that keep programs from harming others by mistake, as far as Node and this system have them. */
export interface Confinement {
  /** Texts for the operator that describe the limits in force, by what they limit. */
  readonly inForce: Readonly<Record<string, string>>
  /** Flags of Node. */
  readonly flags: readonly string[]
  /** Commands that the shell runs before it executes the program, which inherits their limits. */
  readonly commands: string
  /** Words before the command of the program. */
  readonly prefix: readonly string[]
  /** Whether the shell waits for a line of input, which is sent when its process is in the control group. */
  readonly isGrouped: boolean
  /** Reserves a user id for a program, until it is given back; undefined if it runs as the user of the server. */
  takeUser(): number | undefined
  giveBackUser(user: number): void
  /** A control group for a program, if the system has them. */
  groupOf(name: string): Promise<ControlGroup | undefined>
}

interface ConfinementDeps {
  log: Pick<Log, 'warn' | 'info'>
  hosting: HostingConfig
  limits: ResourceLimits
  /** Folder of the sockets of programs. */
  folder: string
}

/** Finds out which means of confinement this system has. A wrapped program is confined by its wrapping command and by a control group. */
export async function openConfinement(deps: ConfinementDeps): Promise<Confinement> {
  const { hosting, limits } = deps
  const isTrusted = hosting.mode === 'trusted'
  const [groups, hasOwnUsers, endsWithServer] = await Promise.all([
    findGroups(deps),
    isTrusted && canChangeUser(deps),
    isTrusted && canEndWithServer(),
  ])
  const dataKib = Math.round((limits.heapBytes * 4) / 1024) + 1024 * 1024
  /** A limit per user counts everything that the user runs, so that no two programs share one. */
  const usersInUse = new Set<number>()
  const unlessWrapped = (text: string) => (isTrusted ? text : 'as the command says')
  const commands = [
    // A core dump would contain secrets.
    'ulimit -c 0',
    // Some parts of Node write files although the permission flags forbid it.
    ...(isTrusted ? ['ulimit -f 0', `ulimit -n ${maxFiles}`, `ulimit -d ${dataKib}`] : []),
    // A limit per user: without users of their own it would count the server too.
    ...(hasOwnUsers ? [`ulimit -u ${maxTasks} 2>/dev/null || ulimit -p ${maxTasks}`] : []),
    // Here, because all threads and whatever a wrapping command starts inherit it.
    `if command -v nice >/dev/null; then set -- nice -n ${niceness} "$@"; fi`,
    ...(groups ? ['read -r go'] : []),
  ]

  return {
    inForce: {
      memory: memoryInForce(groups, isTrusted, limits, dataKib),
      processor: groups?.boundsProcessor
        ? `${limits.processorPercent} % of a processor (control group)`
        : isTrusted
          ? 'lower priority'
          : 'lower priority, else as the command says',
      tasks:
        groups || hasOwnUsers
          ? `${maxTasks} (${groups ? 'control group' : 'rlimit'})`
          : isTrusted
            ? 'one process, by the permission flags of Node'
            : `${maxTasks} processes and threads below the command (looked at every two seconds), else as the command says`,
      user: hasOwnUsers ? 'one of its own' : unlessWrapped('that of the server'),
      end: endsWithServer
        ? 'by the system, with the server'
        : 'with its input, when the server ends',
    },
    flags: nodeFlags(limits.heapBytes, isTrusted),
    commands: `${commands.join('; ')}; `,
    // Also ends a program in an endless loop, which does not notice that its input ended.
    prefix: endsWithServer ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [],
    isGrouped: groups !== undefined,
    takeUser() {
      if (!hasOwnUsers) return undefined
      let user = firstUser + process.pid * usersPerProcess
      while (usersInUse.has(user)) user += 1
      usersInUse.add(user)
      return user
    },
    giveBackUser: (user) => void usersInUse.delete(user),
    groupOf: async (name) => await groups?.create(name),
  }
}

function memoryInForce(
  groups: ControlGroups | undefined,
  isTrusted: boolean,
  { heapBytes, memoryBytes }: ResourceLimits,
  dataKib: number,
): string {
  const heap = `heap ${mebibytes(heapBytes)}`
  if (groups) return `${heap}, ${mebibytes(memoryBytes)} in all (control group)`
  const looked = `${heap}, ${mebibytes(memoryBytes)} in all (looked at every two seconds)`
  if (!isTrusted) return `${looked}, else as the command says`
  return `${looked}, data ${mebibytes(dataKib * 1024)} (rlimit)`
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}

function nodeFlags(heapBytes: number, isTrusted: boolean): string[] {
  return [
    `--max-old-space-size=${Math.round(heapBytes / 2 ** 20)}`,
    '--disable-warning=ExperimentalWarning',
    // A wrapped program is confined by its wrapping, which may have paths of its own.
    ...(isTrusted ? [...permissionFlags(), '--no-addons'] : []),
  ]
}

/** Flags that take from a program what the guards of the host program cannot, in the words of this version of Node. */
function permissionFlags(): string[] {
  const known = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag)
  return [
    known('--permission') ? '--permission' : '--experimental-permission',
    `--allow-fs-read=${hostFolder}/*`,
    // In versions whose permissions cover the network. The guards let the code connect, and nothing else.
    ...(known('--allow-net') ? ['--allow-net'] : []),
    // It opens any file, whatever the permissions are.
    ...(known('--no-experimental-sqlite') ? ['--no-experimental-sqlite'] : []),
  ]
}

async function findGroups({
  log,
  hosting,
  limits,
}: ConfinementDeps): Promise<ControlGroups | undefined> {
  const folder = hosting.controlGroup ?? (await findDelegatedGroup())
  if (folder === undefined) return undefined
  try {
    return await openControlGroups(folder, { ...limits, tasks: maxTasks })
  } catch (err) {
    const text = 'control groups cannot bound deployed code'
    if (hosting.controlGroup === undefined) log.info({ err, folder }, text)
    else log.warn({ err, folder }, `${text}, although BOTSTEAD_HOSTING_CGROUP is set`)
    return undefined
  }
}

/**
 * Whether programs can run as users of their own: the server is root, and such a user can read Node and the
 * host program, and reach the folder of sockets.
 */
async function canChangeUser({ log, folder }: ConfinementDeps): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const child = spawn(process.execPath, [hostProgram, 'probe', folder], {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    uid: firstUser,
    gid: firstUser,
  })
  const [code] = await once(child, 'exit').catch(() => [1])
  if (code === 0) return true
  log.warn(
    { program: hostProgram, folder },
    'deployed code runs as root, because other users may not read Node or the host program, or reach the temporary folder: run the server as a user of its own',
  )
  return false
}

/** Whether the system can end programs with their server, by `setpriv` of util-linux. */
async function canEndWithServer(): Promise<boolean> {
  try {
    await promisify(execFile)('setpriv', ['--pdeathsig', 'KILL', '--', '/bin/true'], {
      env: { PATH: '/usr/bin:/bin' },
    })
    return true
  } catch {
    return false
  }
}
