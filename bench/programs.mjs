// The one place that starts programs. Each is the first of a process group, and a guard ends the groups that are left
// when the benchmark ends, also when it is killed.
import { fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./guard.mjs', import.meta.url))

/** @type {import('node:child_process').ChildProcess | undefined} */
let guard

/** @param {{ started?: number, ended?: number, folder?: string }} news */
function tell(news) {
  // In a group of its own, so that a Ctrl+C does not reach it. It does not keep the benchmark running.
  guard ??= fork(script, { execArgv: [], stdio: 'ignore', detached: true })
  guard.unref()
  guard.channel?.unref()
  guard.send(news)
}

/**
 * Makes a folder that is removed with the end of the benchmark. What this process makes in the temporary folder of the
 * system is in it from now on.
 */
export async function createRunFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  tell({ folder })
  process.env.TMPDIR = folder
  return folder
}

/** Stops what still runs, and removes the folder of the run. */
export async function endPrograms() {
  if (guard === undefined) return
  const gone = once(guard, 'exit')
  guard.ref()
  guard.disconnect()
  await gone
}

/**
 * @template {import('node:child_process').ChildProcess} Child
 * @param {Child} child
 * @returns {Child & { readonly pid: number }}
 */
function watched(child) {
  const { pid } = child
  if (pid !== undefined) {
    tell({ started: pid })
    child.once('exit', () => guard?.connected && tell({ ended: pid }))
  }
  return /** @type {Child & { readonly pid: number }} */ (child)
}

/**
 * Starts a script of Node with a channel for messages. It writes to standard error, because standard output has the table alone.
 * @param {string} path
 * @param {import('node:child_process').ForkOptions & { args?: string[] }} options
 */
export function startScript(path, { args = [], ...options } = {}) {
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = ['ignore', 2, 2, 'ipc']
  return watched(fork(path, args, { execArgv: [], stdio, ...options, detached: true }))
}

/**
 * Starts a program, which writes to the errors of the benchmark.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
export function startProgram(file, args, env = process.env) {
  return watched(spawn(file, args, { env, stdio: ['ignore', 2, 2], detached: true }))
}

/**
 * Runs a program to its end, and returns what it writes.
 * @param {string} file
 * @param {string[]} args
 */
export async function outputOf(file, args) {
  const child = watched(spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true }))
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (status !== 0) throw new Error(`${file} ended with ${status}`)
  return output
}

/**
 * The text that a program writes about itself and then ends; undefined if it is not installed.
 * @param {string} file
 * @param {string[]} args
 */
export function tryProgram(file, args) {
  const { stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' })
  return error === undefined ? `${stdout}${stderr}` : undefined
}

/**
 * Tells a program to stop, and waits until it has.
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => void} tell
 */
export async function stopped(child, tell) {
  // One that has failed sends no event any more.
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  tell()
  await gone
}

/**
 * The first message of a program.
 * @param {import('node:child_process').ChildProcess} child
 * @throws Error if it ends before
 */
export async function firstMessage(child) {
  const ended = new AbortController()
  const fail = () => ended.abort()
  child.once('exit', fail)
  try {
    const [message] = await once(child, 'message', { signal: ended.signal })
    return message
  } catch (cause) {
    throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`, { cause })
  } finally {
    child.off('exit', fail)
  }
}
