import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { startKeeper } from './keeper.js'
import { otherUser, readablePrograms } from './postgres-server.js'

const run = promisify(execFile)

describe.skipIf(process.getuid?.() !== 0)('the programs of PostgreSQL', () => {
  const folders: string[] = []
  const keeper = startKeeper()
  afterAll(async () => {
    await keeper.end()
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  /** Programs as a package has them, where only those may enter that the mode allows. */
  async function install(mode: number): Promise<string> {
    const closed = await mkdtemp(join(tmpdir(), 'botstead-closed-'))
    folders.push(closed)
    const native = join(closed, 'native')
    for (const name of ['bin', 'lib']) await mkdir(join(native, name), { recursive: true })
    const script = '#!/bin/sh\ncat "$(dirname "$0")/../lib/link"\n'
    await writeFile(join(native, 'bin/postgres'), script, { mode: 0o700 })
    await writeFile(join(native, 'lib/file'), 'it runs', { mode: 0o600 })
    await symlink('file', join(native, 'lib/link'))
    await chmod(join(native, 'bin/postgres'), 0o755)
    await chmod(closed, mode)
    return native
  }

  it('are copied for the other user where only root may enter, as below /root', async () => {
    const user = await otherUser()
    const native = await install(0o700)
    const program = async (at: string) => (await run(join(at, 'bin/postgres'), [], user)).stdout
    await expect(program(native)).rejects.toThrow('EACCES')
    const copy = await readablePrograms(keeper, user, native)
    expect(await program(copy)).toBe('it runs')
  })

  it('stay where they are if everybody may enter, or nobody else is to', async () => {
    const open = await install(0o755)
    expect(await readablePrograms(keeper, await otherUser(), open)).toBe(open)
    const closed = await install(0o700)
    expect(await readablePrograms(keeper, undefined, closed)).toBe(closed)
  })
})
