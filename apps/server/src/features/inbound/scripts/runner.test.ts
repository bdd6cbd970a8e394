import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestClock } from '../../../../test/harness.js'
import { systemClock } from '../../../platform/clock.js'
import { createScriptRunner, ScriptLimitError, ScriptsBusyError } from './runner.js'

describe('workspaces with scripts', () => {
  const log = { warn: (_: unknown, message?: string) => expect.unreachable(message) }
  const runner = createScriptRunner({ clock: systemClock, log })
  afterAll(() => runner.stop())
  const run = (workspaceId: string, script: string) =>
    runner.run({ workspaceId, owner: `${workspaceId} ${script.length}`, script, data: {} })

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
    // Those of the first workspace wait behind each other, not before the one of the second.
    expect(ended.indexOf('few')).toBeLessThan(3)
    expect((await run('many', '1')).result).toBe(1)
  })
})

describe('a machine that stands still', () => {
  const log = { warn: (_: unknown, message?: string) => expect.unreachable(message) }
  const runner = createScriptRunner({ clock: systemClock, log })
  afterAll(() => runner.stop())
  const run = (script: string) => runner.run({ workspaceId: 'w', owner: 'o', script, data: {} })

  it.skipIf(process.platform !== 'linux')('does not use up the time of a script', async () => {
    await run('1')
    const programs = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)])
    const worker = /^ *(\d+) .*script-worker/m.exec(String(programs))?.[1]
    const numbers = `[${Array(100).fill(1)}]`
    const loops = `for_each(${numbers}) -> |_i, v| { for_each(${numbers}) -> |_j, w| { .last = v + w } }`
    const ended = run(`${loops}\n2`)
    await sleep(40)
    process.kill(Number(worker), 'SIGSTOP')
    for (const end = performance.now() + 3000; performance.now() < end; );
    process.kill(Number(worker), 'SIGCONT')
    expect((await ended).result).toBe(2)
  })
})

describe('a script that runs into a limit with the data of an outsider', () => {
  const log = { warn: () => {} }
  const clock = createTestClock()
  const runner = createScriptRunner({ clock, log })
  afterAll(() => runner.stop())
  const nested = '['.repeat(9000) + ']'.repeat(9000)
  const run = (caller: string, body: string) =>
    runner.run({
      workspaceId: 'w',
      owner: 'o',
      caller,
      script: 'parse_json!(.body)',
      data: { body },
    })

  it('is refused for them, and for all only after three of them', async () => {
    const deep = (caller: string) =>
      runner.run({ workspaceId: 'w', owner: 'o', caller, script: nested, data: {} })
    await expect(deep('one')).rejects.toThrow(ScriptLimitError)
    await expect(run('one', '1')).rejects.toThrow('a moment ago')
    expect((await run('two', '1')).result).toBe(1)
    await expect(deep('three')).rejects.toThrow(ScriptLimitError)
    clock.advance(15_000)
    await expect(deep('one')).rejects.toThrow(ScriptLimitError)
    expect((await run('two', '1')).result).toBe(1)
    await expect(deep('four')).rejects.toThrow(ScriptLimitError)
    await expect(run('two', '1')).rejects.toThrow('a moment ago')
    clock.advance(15_000)
    for (const caller of ['one', 'two']) expect((await run(caller, '2')).result).toBe(2)
  })
})
