import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startKeeper } from './keeper.js'

describe('the keeper of a run', () => {
  let parent = ''
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'botstead-keeper-'))
  })
  afterAll(() => rm(parent, { recursive: true, force: true }))

  const shell = (line: string) => ({ file: '/bin/sh', args: ['-c', line] })

  it('stops the programs and removes the folders when the run is gone', async () => {
    const keeper = startKeeper()
    const folders = [await keeper.createFolder(parent), await keeper.createFolder(parent)]
    // It writes while it is stopped, and needs a moment for that.
    const trap = `trap 'sleep 0.1; touch ${folders[0]}/last ${parent}/stopped; exit' INT`
    await keeper.start(shell(`${trap}; echo ready >&2; while :; do sleep 0.01; done`), 'ready')
    expect(folders.map(existsSync)).toEqual([true, true])
    // All that it sees of the run's end, whatever that was.
    await keeper.end()
    expect(await readdir(parent)).toEqual(['stopped'])
  })

  it('ends even when the run ends before it has started', async () => {
    await startKeeper().end()
  })

  it('removes only the leftovers of killed keepers', async () => {
    const old = new Date(Date.now() - 3_600_000)
    const names = ['botstead-run-dead', 'botstead-run-alive', 'botstead-data']
    for (const name of names) {
      await mkdir(join(parent, name, 'data'), { recursive: true })
      if (!name.endsWith('alive')) await utimes(join(parent, name), old, old)
    }
    const keeper = startKeeper()
    await keeper.createFolder(parent)
    await keeper.end()
    expect((await readdir(parent)).filter((name) => names.includes(name)).sort()).toEqual(
      names.slice(1).sort(),
    )
  })

  it('reports how a program ended, and its output', async () => {
    const keeper = startKeeper()
    try {
      await keeper.run(shell(`echo done > ${parent}/done`))
      expect(await readFile(join(parent, 'done'), 'utf8')).toBe('done\n')
      await expect(keeper.run(shell('echo no room >&2; exit 3'))).rejects.toThrow(
        '/bin/sh ended with 3:\nno room',
      )
      await expect(keeper.start(shell('echo no >&2'), 'ready')).rejects.toThrow('ended with 0:\nno')
      await expect(keeper.run({ file: '/bin/none-such', args: [] })).rejects.toThrow(
        '/bin/none-such cannot be started: spawn /bin/none-such ENOENT',
      )
    } finally {
      await keeper.end()
    }
    await expect(keeper.createFolder(parent)).rejects.toThrow('The keeper has ended')
  })
})
