import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { endLeftovers } from './leftovers.js'

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
