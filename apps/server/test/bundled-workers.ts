import childProcess from 'node:child_process'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import workerThreads from 'node:worker_threads'
import { inject } from 'vitest'
import { bundleOf } from './bundle.js'

const folder = inject('workers')

/** The bundle of a worker of the server, if a path is that of one; otherwise the path. */
function bundled<T>(path: T): T | string {
  if (typeof path !== 'string' || !path.endsWith('-worker.js')) return path
  const bundle = bundleOf(folder, path)
  return existsSync(bundle) ? bundle : path
}

/** Set by the first test file of the process. */
const done = Symbol.for('botstead.bundled-workers')

// A server in the process of a test starts the same bundles as the bundled command does. Both are told only where the
// module is: it is the built one in one file.
if (!(done in workerThreads)) {
  const { Worker } = workerThreads
  const { spawn } = childProcess
  Object.assign(workerThreads, {
    [done]: true,
    Worker: class extends Worker {
      constructor(...[path, options]: ConstructorParameters<typeof Worker>) {
        super(bundled(path), options)
      }
    },
  })
  Object.assign(childProcess, {
    spawn: (file: string, words: unknown, ...rest: unknown[]) =>
      Reflect.apply(spawn, childProcess, [
        file,
        Array.isArray(words) ? words.map(bundled) : words,
        ...rest,
      ]),
  })
  syncBuiltinESMExports()
}
