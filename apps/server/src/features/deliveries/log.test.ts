import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useDispatching } from '../../../test/dispatching.js'
import { checkout } from '../../../test/documents.js'
import { engines, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import type { Run } from '../../platform/db/schema.js'

/** The lines of the log that the guide explains, with their levels. */
async function explainedLines(): Promise<{ msg: string; level: string }[]> {
  const guide = await readFile(join(checkout, 'docs/guides/deliveries.md'), 'utf8')
  const chapter = guide.split('\n## ').find((text) => text.startsWith('Troubleshooting'))
  const rows = chapter?.matchAll(/^\| `([^`]+)` \((\w+)\) \|/gm) ?? []
  return [...rows].map(([, msg = '', level = '']) => ({ msg, level }))
}

describe('the log of deliveries', () => {
  const [sqlite] = engines
  if (sqlite === undefined) throw new Error('There is no engine to test on')
  const database = useDatabase(sqlite)
  const dispatching = useDispatching(database)

  it('has the lines that the guide explains, and failures are handled as it says', async () => {
    const { bench, botId, enqueue, callOf, nextCallOf, pingOf, statusOf, changed } = dispatching()
    const fault = new Error('The disk is full')
    let broken = false
    const run: Run = async (body) => {
      if (broken) throw fault
      return await bench.run(body)
    }
    const lineOf = (msg: string) => bench.logged.find((line) => String(line.msg).startsWith(msg))
    const logs = (msg: string) =>
      eventually(() => {
        const line = lineOf(msg)
        if (line === undefined) throw new Error(`The log does not say: ${msg}`)
        return line
      })
    // Shorter than the shortest pause between two attempts, so that the second failure pauses the
    // receiver.
    const pausing = { afterMs: 500, afterFailures: 2, probeEveryMs: 30_000 }
    await bench.start({ run, pausing })

    const refused = await enqueue('refused')
    ;(await callOf('refused')).respond(400, '{"message":"Not today"}')
    expect(await logs('a delivery was given up')).toMatchObject({ delivery: refused, botId })

    const unsettled = await enqueue('unsettled')
    const call = await callOf('unsettled')
    broken = true
    call.respond(200)
    expect(await logs('a delivery failed for a reason of the server')).toMatchObject({
      delivery: unsettled,
      err: { message: fault.message },
    })
    broken = false
    const begun = bench.time.now()
    const repeat = await nextCallOf('unsettled', call)
    expect(repeat.attempt).toBe(2)
    expect(bench.time.now() - begun).toBeLessThanOrEqual(31_000)
    repeat.respond(200)
    await eventually(async () => expect(await statusOf(unsettled)).toBe('delivered'))

    broken = true
    const unclaimed = await enqueue('unclaimed')
    await logs('deliveries cannot be claimed, trying again later')
    broken = false
    await bench.rest()
    bench.time.advance(5000)
    ;(await callOf('unclaimed')).respond(200)
    await eventually(async () => expect(await statusOf(unclaimed)).toBe('delivered'))

    await enqueue('failing')
    let attempt = await callOf('failing')
    attempt.respond(500)
    attempt = await nextCallOf('failing', attempt)
    attempt.respond(500)
    expect(await logs('deliveries are paused until the receiver answers a ping')).toMatchObject({
      botId,
      error: expect.stringContaining('500'),
    })
    const unheard = await pingOf()
    broken = true
    unheard.respond(200)
    await logs('a paused receiver cannot be pinged')
    broken = false
    // Any response below 500 shows that the receiver is up.
    ;(await pingOf()).respond(404)
    ;(await callOf('failing')).respond(200)
    await eventually(async () => expect((await bench.receiver(botId))?.paused).toBeNull())

    bench.withoutAddress.add(botId)
    await changed()
    await enqueue('withoutAddress')
    await logs('deliveries wait: the receiver has no address')

    const explained = await explainedLines()
    expect(explained.length).toBeGreaterThan(5)
    for (const { msg, level } of explained) {
      expect({ msg, level: lineOf(msg)?.level }).toEqual({ msg, level })
    }
  })
})
