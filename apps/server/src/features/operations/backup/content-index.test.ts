import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIndexWriter, readIndex } from './content-index.js'
import { createDiskSet } from './disk-collections.js'
import type { ContentEntry } from './manifest.js'
import { createPieceWriter } from './pieces.js'
import { pieceBytes } from './sealing.js'
import { type BackupTarget, prepareTarget } from './target.js'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

function entryOf(key: string, pieces: number): ContentEntry {
  return {
    key,
    size: pieces * pieceBytes - 1,
    sha256: hash(key),
    pieces: Array.from({ length: pieces }, (_, at) => hash(`${key}/${at}`)),
  }
}

describe('the list of the contents of a backup', () => {
  let folder: string
  let target: BackupTarget
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-index-'))
    const location = { kind: 'folder', folder, label: folder } as const
    target = await prepareTarget(location, { passphrase: undefined, installation: 'one' })
  })
  afterEach(() => rm(folder, { recursive: true }))

  async function write(entries: readonly ContentEntry[]): Promise<readonly string[]> {
    using present = createDiskSet()
    const index = createIndexWriter(
      createPieceWriter(target, present, new AbortController().signal),
    )
    for (const entry of entries) await index.add(entry)
    return await index.end()
  }
  async function read(index: readonly string[]): Promise<ContentEntry[]> {
    const entries: ContentEntry[] = []
    for await (const entry of readIndex(target, index)) entries.push(entry)
    return entries
  }

  it('has a content of 545 GB, whose pieces do not fit into one part of the list, among others', async () => {
    const entries = [
      entryOf('a-small-one', 1),
      entryOf('large-one', 130_000),
      entryOf('small-one', 2),
    ]
    const index = await write(entries)
    expect(index.length).toBeGreaterThan(2)
    const found = await read(index)
    expect(found.map(({ key, size, pieces }) => [key, size, pieces.length])).toEqual(
      entries.map(({ key, size, pieces }) => [key, size, pieces.length]),
    )
    expect(found).toEqual(entries)
  })

  it('is refused when a part of a large content is missing, twice there, or in another location', async () => {
    const index = await write([entryOf('large-one', 130_000)])
    const [first = '', second = '', third = ''] = index
    for (const wrong of [
      [first, second],
      [second, third],
      [first, first, second],
      [first, second, third, third],
    ]) {
      await expect(read(wrong)).rejects.toThrow('The list of contents of the backup is damaged.')
    }
  })

  it('is read in time when it has a line for each piece, as no server writes it', async () => {
    using present = createDiskSet()
    const { write } = createPieceWriter(target, present, new AbortController().signal)
    const { key, size, sha256, pieces } = entryOf('large-one', 120_000)
    const lines = pieces.map(
      (name, at) => `${at === 0 ? `${key} ${size} ${sha256}` : '+'} ${name}\n`,
    )
    const index = [
      await write(Buffer.from(lines.slice(0, 60_000).join(''))),
      await write(Buffer.from(lines.slice(60_000).join(''))),
    ]
    const before = process.cpuUsage()
    const [found] = await read(index)
    const { user, system } = process.cpuUsage(before)
    expect(found?.pieces).toEqual(pieces)
    // With a copy of the list for each line, it takes more than a minute, of the processor and not of a busy machine.
    expect((user + system) / 1e6).toBeLessThan(40)
  })

  it('does not take a content of more than 4 TiB', async () => {
    const large = { ...entryOf('large-one', 1), size: 2 ** 42 + 1 }
    await expect(write([large])).rejects.toThrow('more than a backup can contain')
  })
})
