// Measures how long hostile schemas and values block a server, compared with parsing them as JSON.
import { findSchemaFault, findViolation } from '@botstead/json-schema'
import { tsImport } from 'tsx/esm/api'
import { sized } from './size.mjs'

const rounds = sized(5, 1)

/** Milliseconds of the fastest of some rounds. */
function fastest(work) {
  const times = Array.from({ length: rounds }, () => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  })
  return Math.min(...times)
}

const milliseconds = (time) => `${time.toFixed(1)} ms`

/** Stores a hostile schema, and validates a value against it when it is not compiled yet. */
export async function measureSchemas() {
  const { hostilePairs } = await tsImport(
    '../packages/json-schema/test/hostile-schemas.ts',
    import.meta.url,
  )
  return hostilePairs.map(({ name, schema, value }) => {
    const texts = [schema, value].map((part) => JSON.stringify(part))
    const read = fastest(() => texts.map((text) => JSON.parse(text)))
    const stored = fastest(() => findSchemaFault(schema))
    // A copy is not cached: its schema is compiled again.
    const copies = Array.from({ length: rounds }, () => structuredClone(schema))
    const judged = fastest(() => findViolation(copies.pop(), value))
    return {
      work: name,
      figure: `stored in ${milliseconds(stored)}, value judged in ${milliseconds(judged)}`,
      against: `its JSON, ${milliseconds(read)}`,
      ratio: read / Math.max(stored, judged),
    }
  })
}
