import { readdir, readFile } from 'node:fs/promises'
import { mostTasks } from './confinement.js'

/** What a process uses, together with everything below it. */
export interface TreeUsage {
  /** Bytes of memory that they do not share with others; undefined if the system does not show it. */
  memoryBytes: number | undefined
  /** How many processes there are, at most one more than were to be counted. */
  processes: number
}

/** Bytes of a page of memory, in which `/proc` counts. */
const pageBytes = 4096

/** Adds up what a process and all below it use, as Linux shows it. @param most processes that are looked at */
export async function usageOfTree(pid: number, most: number): Promise<TreeUsage> {
  const pids = [pid]
  // Those that are added meanwhile are looked at, too.
  for (const parent of pids) {
    if (pids.length > most) break
    pids.push(...(await childrenOf(parent)))
  }
  const some = pids.slice(0, most + 1)
  const used = await Promise.all(some.map(memoryOf))
  const known = used.filter((bytes) => bytes !== undefined)
  const sum = known.reduce((total, bytes) => total + bytes, 0)
  return { memoryBytes: known.length > 0 ? sum : undefined, processes: some.length }
}

/** Why a program that uses so much is ended; undefined if it is not. */
export function excessOf(
  { memoryBytes, processes }: TreeUsage,
  mostBytes: number,
): string | undefined {
  if (processes > mostTasks) return `it ran more than ${mostTasks} processes`
  if (memoryBytes === undefined || memoryBytes <= mostBytes) return undefined
  return `it used ${Math.round(memoryBytes / 2 ** 20)} MiB of memory`
}

/** Each thread has a list of the processes that it started. */
async function childrenOf(pid: number): Promise<number[]> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`${folder}/${thread}/children`, 'utf8').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').map(Number)).filter((child) => child > 0)
}

async function memoryOf(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  const [, resident, shared] = text.split(' ').map(Number)
  if (resident === undefined || shared === undefined) return undefined
  return (resident - shared) * pageBytes
}
