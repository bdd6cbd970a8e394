import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openControlGroups } from './control-groups.js'

const limits = { memoryBytes: 200_000_000, tasks: 64, processorPercent: 50 }

/** A folder like one of the system. It shows what is written; only the system itself acts on it. */
describe('control groups', () => {
  let folder: string
  const read = (...path: string[]) => readFile(join(folder, ...path), 'utf8')

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-groups-'))
    await writeFile(join(folder, 'cgroup.controllers'), 'cpuset cpu io memory pids\n')
    await writeFile(join(folder, 'cgroup.procs'), `1\n${process.pid}\n`)
  })
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('move the server below the group that they divide, and bound each program', async () => {
    const groups = await openControlGroups(folder, limits)
    expect(groups.boundsProcessor).toBe(true)
    expect(await read('server', 'cgroup.procs')).toBe(String(process.pid))
    expect(await read('cgroup.subtree_control')).toBe('+memory +pids +cpu')
    const group = await groups.create('1')
    await group.add(4711)
    expect(await read('program-1', 'memory.max')).toBe('200000000')
    expect(await read('program-1', 'pids.max')).toBe('64')
    expect(await read('program-1', 'cpu.max')).toBe('50000 100000')
    expect(await read('program-1', 'cgroup.procs')).toBe('4711')
    await group.kill()
    expect(await read('program-1', 'cgroup.kill')).toBe('1')
  })

  it('read what a program uses, and whether it was ended because of that', async () => {
    const group = await (await openControlGroups(folder, limits)).create('1')
    expect([await group.memoryBytes(), await group.ranOutOfMemory()]).toEqual([undefined, false])
    await writeFile(join(folder, 'program-1', 'memory.current'), '123456\n')
    await writeFile(join(folder, 'program-1', 'memory.events'), 'low 0\noom 1\noom_kill 1\n')
    expect([await group.memoryBytes(), await group.ranOutOfMemory()]).toEqual([123_456, true])
  })

  it('leave the server where it is if another process started below already', async () => {
    await writeFile(join(folder, 'cgroup.procs'), '')
    await openControlGroups(folder, limits)
    await expect(access(join(folder, 'server'))).rejects.toThrow('ENOENT')
  })

  it('end what a server left behind that does not live any more', async () => {
    const names = ['program-999999999-1-1-1', 'others']
    for (const name of names) await mkdir(join(folder, name))
    await openControlGroups(folder, limits)
    expect(await read('program-999999999-1-1-1', 'cgroup.kill')).toBe('1')
    await expect(read('others', 'cgroup.kill')).rejects.toThrow('ENOENT')
  })

  it('are not used where the system does not bound memory and processes', async () => {
    await writeFile(join(folder, 'cgroup.controllers'), 'cpu pids\n')
    await expect(openControlGroups(folder, limits)).rejects.toThrow('no controller memory')
    await mkdir(join(folder, 'empty'))
    await expect(openControlGroups(join(folder, 'empty'), limits)).rejects.toThrow('ENOENT')
  })
})
