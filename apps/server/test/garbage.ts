import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Has the engine collect all that nothing refers to; what is freed by callbacks is collected too. */
async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    collect()
    // Objects that weak references held during this turn go with the next.
    await nextTurn()
  }
}

/** Counts the objects behind these references that are still in memory. */
export async function countAlive(refs: readonly WeakRef<object>[]): Promise<number> {
  await collectGarbage()
  return refs.filter((ref) => ref.deref() !== undefined).length
}
