import { fork, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./processes/keeper.mjs', import.meta.url))

/** Every folder of a run begins with it. */
const prefix = 'botstead-run-'
/** A folder untouched for so many milliseconds belongs to a killed keeper. */
const leftAloneMilliseconds = 600_000

/** A program that a run starts outside of its own processes. */
interface Program {
  file: string
  args: readonly string[]
  options?: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>
}

/** A process that cleans up after the test run that started it. */
export interface Keeper {
  /** Makes a folder that is removed with the run, and removes there what killed ones have left. */
  createFolder(parent: string): Promise<string>
  /** Runs a program to its end; rejects with what it said if that is not a good one. */
  run(program: Program): Promise<void>
  /** Starts a program and waits until it says that; rejects with what it said if it ends before. */
  start(program: Program, ready: string): Promise<void>
  /** Stops the programs and removes the folders; the end of this process does the same. */
  end(): Promise<void>
}

interface News {
  id: number
  said?: string
  failed?: string
  ended?: number | string
}

/** Starts a keeper. */
export function startKeeper(): Keeper {
  // In a group of its own: a Ctrl+C is not for it, and neither is a signal to the group of the run.
  const child = fork(script, { execArgv: [], stdio: 'ignore', detached: true })
  const gone = once(child, 'exit')
  const tell = (message: object) => {
    if (!child.connected) throw new Error('The keeper has ended')
    // If it no longer reads messages, its exit event reports that.
    child.send(message, () => {})
  }
  let programs = 0

  const follow = ({ file, args, options }: Program, ready?: string) =>
    new Promise<void>((resolve, reject) => {
      const id = programs++
      let output = ''
      const settle = (error?: string) => {
        child.off('message', hear).off('exit', die)
        if (error === undefined) resolve()
        else reject(new Error(`${file} ${error}${output && `:\n${output.trim()}`}`))
      }
      const die = () => settle('has lost its keeper')
      const hear = (news: News) => {
        if (news.id !== id) return
        output += news.said ?? ''
        if (news.failed !== undefined) settle(`cannot be started: ${news.failed}`)
        else if (ready !== undefined && output.includes(ready)) settle()
        else if (news.ended !== undefined) {
          settle(news.ended === 0 && ready === undefined ? undefined : `ended with ${news.ended}`)
        }
      }
      child.on('message', hear).once('exit', die)
      tell({ start: { id, file, args, options } })
    })

  return {
    async createFolder(parent) {
      await sweep(parent)
      const folder = mkdtempSync(join(parent, prefix))
      tell({ folder })
      return folder
    },
    run: (program) => follow(program),
    start: follow,
    async end() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

/** Removes leftovers of killed keepers, as far as this user may remove them. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue
    const path = join(parent, name)
    const seen = await stat(path).catch(() => undefined)
    if (!seen || Date.now() - seen.mtimeMs < leftAloneMilliseconds) continue
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
