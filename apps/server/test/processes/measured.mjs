// Loaded into a server before its command, with --expose-gc and a channel: says what its process holds.
import { readdirSync } from 'node:fs'
import { getActiveResourcesInfo, memoryUsage } from 'node:process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.send !== undefined) {
  process.on('message', async ({ file }) => {
    const descriptors = readdirSync('/proc/self/fd').length
    const timers = getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    for (let round = 0; round < 2; round++) {
      globalThis.gc()
      await nextTurn()
    }
    const { heapUsed } = memoryUsage()
    if (file !== undefined) writeHeapSnapshot(file)
    process.send({ descriptors, timers, heapUsed })
  })
  process.channel.unref()
}
