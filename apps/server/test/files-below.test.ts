import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readBelow } from './files-below.js'

it('what goes while files are read is left out, and other failures are not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-below-'))
  try {
    await mkdir(join(folder, 'full'))
    await mkdir(join(folder, 'gone'))
    await writeFile(join(folder, 'gone', 'inside'), 'never read')
    for (const name of ['a', 'full/b', 'c']) await writeFile(join(folder, name), name)
    const read = async (path: string, isFile: boolean) => {
      if (path.endsWith('/gone')) await rm(path, { recursive: true })
      if (path.endsWith('/c')) await rm(path)
      return isFile ? await readFile(path, 'utf8') : undefined
    }
    expect(Object.fromEntries(await readBelow(folder, read))).toEqual({
      a: 'a',
      'full/b': 'full/b',
    })
    await expect(readBelow(folder, (path) => readFile(path, 'utf8'))).rejects.toThrow('EISDIR')
  } finally {
    await rm(folder, { recursive: true })
  }
})
