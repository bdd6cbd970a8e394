import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../platform/clock.js'
import { createScriptRunner, ScriptsBusyError } from './runner.js'

describe('owners of scripts', () => {
  const log = { warn: (_: unknown, message?: string) => expect.unreachable(message) }
  const runner = createScriptRunner({ clock: systemClock, log })
  afterAll(() => runner.stop())
  const run = (owner: string, script: string) => runner.run({ owner, script, data: {} })

  it('take turns, and have at most fifty scripts that run or wait', async () => {
    const slow = `numbers = [${Array(30).fill(1)}]
for_each(numbers) -> |_i, v| { for_each(numbers) -> |_j, w| { .last = v + w } }`
    const ended: string[] = []
    const many = Array.from({ length: 50 }, async () => {
      await run('many', slow)
      ended.push('many')
    })
    await expect(run('many', '1')).rejects.toThrow(ScriptsBusyError)
    await run('few', '1')
    ended.push('few')
    await Promise.all(many)
    // Those of the first owner wait behind each other, not before the one of the second.
    expect(ended.indexOf('few')).toBeLessThan(3)
    expect((await run('many', '1')).result).toBe(1)
  })
})
