import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { serveTasks } from '../../../platform/workers/worker-task.js'
import {
  enginePages,
  type ScriptInput,
  type ScriptOutput,
  type ScriptProgress,
} from './script-task.js'

type Engine = typeof import('@bpinternal/verel')
let loading: Promise<Engine> | undefined

/** The engine is 13 MB of WebAssembly, and takes a second or more to load. */
async function load(): Promise<Engine> {
  // The memory of WebAssembly is outside of the heap, so that the limit of the heap does not apply to it.
  setFlagsFromString(`--wasm-max-mem-pages=${enginePages}`)
  const engine = await import('@bpinternal/verel')
  // The first execution also compiles the engine, which must not count as time of a script.
  engine.execute('.a = parse_json!(.b)', { b: '{}' })
  return engine
}

/** Runs in a process of its own: scripts come from developers of integrations, and their data from anybody. */
serveTasks<ScriptInput, ScriptOutput, ScriptProgress>(async ({ script, data }, report) => {
  loading ??= load()
  const { execute } = await loading
  report({ begins: true }, { milestone: true })
  // The report is sent before the script occupies the thread.
  await setImmediate()
  try {
    const { event, result }: { event: unknown; result: unknown } = execute(script, JSON.parse(data))
    return { data: event, result }
  } catch (error) {
    // Out of memory, or nested too deeply: the engine is in an undefined state and cannot be used again.
    if (isBroken(error)) process.exit(1)
    return { failure: error instanceof Error ? error.message : String(error) }
  }
})

function isBroken(error: unknown): boolean {
  return error instanceof Error && (error.name === 'RuntimeError' || error instanceof RangeError)
}
