import { readdir, readFile } from 'node:fs/promises'
import { maxTasks } from './confinement.js'

/** Resources that a process uses, together with everything below it. */
export interface TreeUsage {
  /** Bytes of memory that they do not share with others; undefined if the system does not show it. */
  memoryBytes: number | undefined
  /** Number of processes and threads. Beyond the limit, it is at least one more than the limit. */
  tasks: number
}

/** Milliseconds between two looks at the resources of a program. */
export const watchMs = 2000

/** Bytes of a page of memory, in which `/proc` counts. */
const pageBytes = 4096

/** Adds up the resources of a process and all below it, as Linux shows them. Once there are too many tasks, it looks no further. */
export async function usageOfTree(pid: number): Promise<TreeUsage> {
  const { pids, tasks } = await treeOf(pid)
  if (tasks > maxTasks) return { memoryBytes: undefined, tasks }
  const used = (await Promise.all(pids.map(memoryOf))).filter((bytes) => bytes !== undefined)
  const memoryBytes = used.length > 0 ? used.reduce((sum, bytes) => sum + bytes, 0) : undefined
  return { memoryBytes, tasks }
}

/** Processor time of the first thread of a process so far: Node has its event loop there. */
interface ProcessorTime {
  ranMs: number
  /** Time in which it could have run and had no processor. A wait counts only once it is over. */
  waitedMs: number
  /** Whether it runs now, or waits for a processor. */
  isRunnable: boolean
}

/** By the id of the process. */
export type ProcessorTimes = ReadonlyMap<number, ProcessorTime>

/** Processor time of a process and all below it. Empty if the system does not show it. */
export async function processorTimesOfTree(pid: number): Promise<ProcessorTimes> {
  const { pids } = await treeOf(pid)
  // A program that has more is ended for that, and thousands of files would hold the event loop until then.
  const some = pids.slice(0, maxTasks)
  const times = await Promise.all(some.map(async (at) => [at, await processorTimeOf(at)] as const))
  return new Map(times.filter((time): time is [number, ProcessorTime] => time[1] !== undefined))
}

/**
 * Milliseconds between two looks for which the processes of the later one had no processor although they could have run,
 * in all. The system says nothing of a wait that goes on: of a process that can run now, all counts in which it did not,
 * unless it is new.
 *
 * @param elapsedMs milliseconds between the looks
 */
export function starvedMsBetween(
  earlier: ProcessorTimes,
  later: ProcessorTimes,
  elapsedMs: number,
): number {
  let sum = 0
  for (const [pid, { ranMs, waitedMs, isRunnable }] of later) {
    const before = earlier.get(pid)
    const starved =
      before && isRunnable ? elapsedMs - (ranMs - before.ranMs) : waitedMs - (before?.waitedMs ?? 0)
    sum += Math.max(0, starved)
  }
  return sum
}

/** A process and all below it, and how many processes and threads they are: no more are looked at if those are too many. */
async function treeOf(pid: number): Promise<{ pids: number[]; tasks: number }> {
  const pids = [pid]
  let tasks = 0
  // Those that are added meanwhile are looked at, too.
  for (const parent of pids) {
    const folder = `/proc/${parent}/task`
    const threads = await readdir(folder).catch(() => [])
    tasks += threads.length
    if (tasks > maxTasks) break
    // Each thread has a list of the processes that it started.
    const lists = await Promise.all(
      threads.map((thread) => readFile(`${folder}/${thread}/children`, 'utf8').catch(() => '')),
    )
    pids.push(...lists.flatMap((list) => list.split(' ').map(Number)).filter((child) => child > 0))
    if (pids.length > maxTasks) break
  }
  return { pids, tasks: Math.max(tasks, pids.length) }
}

/** The reason for which a program with this usage is ended; undefined if it is not. */
export function excessOf({ memoryBytes, tasks }: TreeUsage, maxBytes: number): string | undefined {
  if (tasks > maxTasks) return `it ran more than ${maxTasks} processes and threads`
  if (memoryBytes === undefined || memoryBytes <= maxBytes) return undefined
  return `it used ${Math.round(memoryBytes / 2 ** 20)} MiB of memory`
}

/**
 * Looks regularly at the resources of a program, and reports once the reason to end it.
 * @param usage never rejects
 * @returns a function that ends the watch
 */
export function watchUsage(
  usage: () => Promise<TreeUsage>,
  maxBytes: number,
  onExcess: (reason: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined = setTimeout(look, watchMs)
  async function look(): Promise<void> {
    const excess = excessOf(await usage(), maxBytes)
    if (timer === undefined) return
    if (excess === undefined) timer = setTimeout(look, watchMs)
    else onExcess(excess)
  }
  return () => {
    clearTimeout(timer)
    timer = undefined
  }
}

async function memoryOf(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  const [, resident, shared] = text.split(' ').map(Number)
  if (resident === undefined || shared === undefined) return undefined
  return (resident - shared) * pageBytes
}

async function processorTimeOf(pid: number): Promise<ProcessorTime | undefined> {
  const [times = '', stat = ''] = await Promise.all(
    ['schedstat', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
  )
  return processorTimeIn(times, stat)
}

/**
 * Reads the files `schedstat` and `stat` of a process.
 * @returns undefined if the system does not show or does not count the time
 */
export function processorTimeIn(schedstat: string, stat: string): ProcessorTime | undefined {
  // Nanoseconds in which the thread ran, those in which it waited, and how often it ran.
  const [ran, waited] = schedstat.split(' ')
  if (ran === undefined || waited === undefined) return undefined
  // Whatever runs has run for a moment: this system does not count, and would have it wait always.
  if (Number(ran) === 0) return undefined
  // The state follows the name, which may contain anything.
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6, isRunnable: state === 'R' }
}
