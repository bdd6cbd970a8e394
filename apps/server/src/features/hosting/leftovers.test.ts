import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { endLeftovers, notePid } from './leftovers.js'

it('removes nothing through a link that stands where the folder of programs would be', async () => {
  // Short enough for sockets, whatever the folder for temporary files of the tests is.
  const temporary = await mkdtemp('/tmp/leftovers-')
  const installation = '0123456789abcdef'
  const others = join(temporary, 'others')
  await mkdir(join(others, 'work'), { recursive: true })
  await writeFile(join(others, 'work', 'file'), 'kept')
  const name = `botstead-${process.getuid?.() ?? 0}-${installation.slice(0, 12)}`
  await symlink(others, join(temporary, name))
  vi.stubEnv('TMPDIR', temporary)
  try {
    await expect(endLeftovers(installation, { info: () => {} })).rejects.toThrow('remove it')
    expect(await readFile(join(others, 'work', 'file'), 'utf8')).toBe('kept')
  } finally {
    vi.unstubAllEnvs()
    await rm(temporary, { recursive: true, force: true })
  }
})

it.skipIf(!existsSync('/proc/self/stat'))(
  'a program of a dead server is ended whatever it is called now, and a process with its id is not (needs /proc)',
  async () => {
    const temporary = await mkdtemp('/tmp/leftovers-')
    const installation = '0123456789abcdef'
    const home = join(temporary, `botstead-${process.getuid?.() ?? 0}-${installation.slice(0, 12)}`)
    // No process has such an id.
    const folder = join(home, '99999999-1-1')
    await mkdir(folder, { recursive: true, mode: 0o711 })
    const looping = `process.title = 'another'; console.log(process.title); setInterval(() => {}, 1000)`
    const start = async () => {
      const child = spawn(process.execPath, ['-e', looping], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      await once(child.stdout, 'data')
      return child
    }
    const [left, other] = await Promise.all([start(), start()])
    const ended = once(left, 'exit')
    vi.stubEnv('TMPDIR', temporary)
    try {
      await notePid(folder, 1, Number(left.pid))
      await writeFile(join(folder, '2.pid'), `${other.pid} 1`)
      await endLeftovers(installation, { info: () => {} })
      expect(await ended).toEqual([null, 'SIGKILL'])
      expect(other.kill(0)).toBe(true)
      expect(existsSync(folder)).toBe(false)
    } finally {
      vi.unstubAllEnvs()
      left.kill('SIGKILL')
      other.kill('SIGKILL')
      await rm(temporary, { recursive: true, force: true })
    }
  },
)
