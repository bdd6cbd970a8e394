import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inject } from 'vitest'
import type { DatabaseOptions } from '../src/platform/db/open.js'

/** The module of a program in the folder beside this file, as bundled for this run. */
export function programEntry(name: string): URL {
  return pathToFileURL(programPath(name))
}

/** As `programEntry`: its path. */
export function programPath(name: string): string {
  return join(inject('programs'), `${name}.mjs`)
}

/** A program that runs as a process of its own and prints what it does, line by line. */
export interface TestProcess {
  readonly process: ChildProcess
  /** The lines it wrote so far, each complete. */
  readonly lines: readonly string[]
  /** Resolves when the process wrote so many lines; rejects if it ends before. */
  written(lines: number): Promise<void>
  /** Resolves with the exit code, or null after a signal. */
  ended(): Promise<number | null>
}

export function startProcess(
  script: 'write-notes' | 'migrate-notes',
  options: DatabaseOptions,
): TestProcess {
  const child = spawn(process.execPath, [programPath(script), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  return {
    process: child,
    lines,
    async written(count) {
      while (lines.length < count) {
        const ended = await Promise.race([
          closed.then(() => true),
          new Promise<false>((resolve) => child.stdout.once('data', () => resolve(false))),
        ])
        if (ended && lines.length < count) throw new Error(`${script} ended too early`)
      }
    },
    async ended() {
      await closed
      return exit
    },
  }
}
