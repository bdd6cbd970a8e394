import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ExtractionError } from '@botstead/documents'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createIngestPool,
  type IngestPool,
  type IngestRequest,
  ingest,
  listPassageWords,
} from './ingest.js'
import type { Ingestion, IngestProgress } from './ingest-task.js'

const onError = (error: Error) => {
  throw error
}
let pool: IngestPool
beforeAll(() => {
  pool = createIngestPool({ onError, workers: 1 })
})
afterAll(() => pool[Symbol.asyncDispose]())

function ingestText(
  text: string,
  contentType = 'text/markdown',
  request: Partial<IngestRequest> = {},
): Promise<Ingestion> {
  const content = { bytes: new TextEncoder().encode(text) }
  return ingest(pool, { content, contentType, key: 'file', ...request })
}

describe('a file becomes passages', () => {
  test('with title, place, headings and index words', async () => {
    expect(await ingestText('# Pump\n\nKeep it dry.')).toEqual({
      title: 'Pump',
      reading: { omissions: [] },
      passages: [
        {
          content: '# Pump\n\nKeep it dry.',
          type: 'chunk',
          subtype: 'title',
          position: 0,
          headings: [],
          ownHeadings: ['Pump'],
          start: 0,
          end: 20,
          fields: { folders: '', name: 'file', headings: 'pump', body: 'pump keep it dry' },
          words: [
            { word: 'file', reversed: 'elif' },
            { word: 'pump', reversed: 'pmup' },
            { word: 'keep', reversed: 'peek' },
          ],
        },
      ],
    })
  })

  test('with every word once, in its first passage', async () => {
    const parts = Array.from({ length: 120 }, (_, at) => `## Part\n\nPumpe ${'abc'[at % 3]}eta`)
    const { passages } = await ingestText(`# Größe\n\n${parts.join('\n\n')}`)
    const listed = passages.map(({ words }) => words.map(({ word }) => word))
    expect(passages.length).toBeGreaterThan(100)
    expect(listed.flat()).toEqual(['file', 'groesse', 'part', 'pumpe', 'aeta', 'beta', 'ceta'])
    for (const [at, { fields }] of passages.entries()) {
      expect(Object.values(fields).join(' ').split(' ')).toEqual(
        expect.arrayContaining(listed[at] ?? []),
      )
    }
  })

  test('or an error, when a worker fails on passages that were made before', async () => {
    const text = { content: 'Keep it dry.', headings: ['Pump'], ownHeadings: [] }
    const to = { key: 'a.md', context: {} }
    expect(await listPassageWords(pool, [text, text], to)).toMatchObject([
      { fields: { headings: 'pump' }, words: [{ word: 'pump' }, { word: 'keep' }] },
      { fields: { headings: 'pump' }, words: [] },
    ])
    const message = 'Flatten it.'
    const givesUp = { ...pool, run: async () => ({ failure: 'too_deep' as const, message }) }
    await expect(listPassageWords(givesUp, [text], to)).rejects.toThrow(
      new ExtractionError('too_deep', message),
    )
  })

  test('from a path', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ingest-'))
    try {
      const path = join(folder, 'content')
      await writeFile(path, '<main><h1>Page</h1><p>Text</p></main>')
      const request = { content: { path }, contentType: '', key: 'dir/page.html' }
      expect(await ingest(pool, request)).toMatchObject({ title: 'Page', passages: [{}] })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('from a part of a larger buffer', async () => {
    const larger = new TextEncoder().encode('skip# Part')
    const content = { bytes: larger.subarray(4) }
    const ingestion = await ingest(pool, { content, contentType: 'text/markdown', key: 'a' })
    expect(ingestion.title).toBe('Part')
    expect(larger.byteLength).toBe(10)
  })

  test('from a stream, which leaves nothing behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ingest-'))
    vi.stubEnv('TMPDIR', folder)
    try {
      const pieces = ['# Str', 'eam\n\n', 'Text'].map((text) => Buffer.from(text))
      const request = { contentType: 'text/markdown', key: 'a' }
      const content = { stream: Readable.from(pieces) }
      expect(await ingest(pool, { ...request, content })).toMatchObject({ title: 'Stream' })
      const endless = { stream: Readable.from(forever()) }
      await expect(
        ingest(pool, { ...request, content: endless, maxBytes: 1000 }),
      ).rejects.toMatchObject({ failure: 'too_large' })
      expect(await readdir(folder)).toEqual([])
    } finally {
      vi.unstubAllEnvs()
      await rm(folder, { recursive: true })
    }
  })

  test('only if it is the uploaded content', async () => {
    const sha256 = createHash('sha256').update('# Pump').digest('hex')
    expect(await ingestText('# Pump', 'text/markdown', { sha256 })).toMatchObject({ title: 'Pump' })
    const changed = ingestText('# Bump', 'text/markdown', { sha256 })
    await expect(changed).rejects.toMatchObject({
      failure: 'lost',
      message: expect.stringContaining('The stored content is not what was uploaded'),
    })
  })

  test('and reports the progress', async () => {
    const heard: IngestProgress[] = []
    const content = { bytes: Buffer.from('# Part\n\nA sentence about a pump.\n\n'.repeat(20_000)) }
    const request = { content, contentType: 'text/markdown', key: 'a', maxPassages: 50_000 }
    await ingest(pool, request, undefined, { onProgress: (progress) => heard.push(progress) })
    const percents = heard.map(({ percent }) => percent)
    expect(percents.length).toBeGreaterThan(1)
    expect(percents).toEqual(percents.toSorted((a, b) => a - b))
    expect(heard.at(-1)?.passages).toBeGreaterThan(0)
    expect(percents.at(-1)).toBeLessThan(100)
  })

  test('as without the options that require a model', async () => {
    const configuration = {
      parsing: { mode: 'agent', smartCleanup: true },
      summarization: { enable: true },
      vision: { transcribePages: [1, 2], indexPages: {} },
    } as const
    const ingestion = await ingestText('# A\n\nOne.', 'text/markdown', { configuration })
    expect(ingestion).toEqual(await ingestText('# A\n\nOne.', 'text/markdown'))
  })

  test('as the configuration requires', async () => {
    const configuration = {
      parsing: { minimumParagraphLength: 0, mode: 'standard' },
      chunking: { maximumChunkLength: 80, embedBreadcrumb: false },
    } as const
    const text = `# A\n\nOne.\n\nTwo.\n\n${'Three is long. '.repeat(10)}`
    const { passages } = await ingestText(text, 'text/markdown', { configuration })
    expect(passages.slice(0, 2).map((passage) => passage.content)).toEqual(['# A\n\nOne.', 'Two.'])
    expect(passages[1]?.fields.headings).toBe('')
    for (const { content } of passages) expect(content.length).toBeLessThanOrEqual(80)
  })
})

describe('a file that cannot be indexed fails with a reason', () => {
  test('and the next file does not', async () => {
    await expect(ingestText('GIF89a', 'image/gif')).rejects.toMatchObject({
      name: 'ExtractionError',
      failure: 'unsupported',
      message: expect.stringContaining('text recognition'),
    })
    expect(await ingestText('fine')).toMatchObject({ passages: [{ content: 'fine' }] })
  })

  test('if it is larger than allowed', async () => {
    await expect(ingestText('12345', 'text/plain', { maxBytes: 4 })).rejects.toMatchObject({
      failure: 'too_large',
      message: expect.stringContaining('5 bytes; at most 4'),
    })
  })

  test('if it takes too long', async () => {
    await using hasty = createIngestPool({ onError, workers: 1, timeLimitMs: 0 })
    const request = { content: { bytes: new Uint8Array(1) }, contentType: '', key: 'a' }
    await expect(ingest(hasty, request)).rejects.toMatchObject({ failure: 'too_slow' })
  })

  test('if it results in too much text', async () => {
    await using narrow = createIngestPool({
      onError,
      workers: 1,
      maxOutputBytes: 10,
    })
    const content = { bytes: Buffer.from('a text of more than ten bytes') }
    const request = { content, contentType: 'text/plain', key: 'a' }
    await expect(ingest(narrow, request)).rejects.toMatchObject({ failure: 'too_large' })
  })

  test('but not if the pool is busy', async () => {
    await using busy = createIngestPool({ onError, workers: 1, maxQueue: 0 })
    const ask = () =>
      ingest(busy, { content: { bytes: Buffer.from('a') }, contentType: 'text/plain', key: 'a' })
    const first = ask()
    await expect(ask()).rejects.toMatchObject({ name: 'WorkerLimitError', limit: 'queue' })
    await first
  })

  test('and a cancelled one with the reason of the cancellation', async () => {
    const signal = AbortSignal.abort(new Error('file was deleted'))
    const request = { content: { bytes: Buffer.from('a') }, contentType: 'text/plain', key: 'a' }
    await expect(ingest(pool, request, signal)).rejects.toThrow('file was deleted')
  })
})

describe('a hostile file fails alone or is harmless', () => {
  const wide = `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n`
  test.each([
    ['quotes without end', 'text/markdown', '>'.repeat(200_000), 'too_deep'],
    ['lists without end', 'text/markdown', `${'- '.repeat(100_000)}x`, 'too_deep'],
    ['images in images', 'text/markdown', `${'!['.repeat(3000)}a${'](b)'.repeat(3000)}`, 'indexed'],
    ['elements without end', 'text/html', '<div><p><b>'.repeat(50_000), 'too_deep'],
    ['tables in tables', 'text/html', '<table><tr><td>'.repeat(5000), 'too_deep'],
    ['a line of 50 MB', 'text/plain', 'x'.repeat(50_000_000), 'too_large'],
    ['a line of 50 MB in Markdown', 'text/markdown', 'x '.repeat(25_000_000), 'too_large'],
    ['a line of 10 MB', 'text/plain', 'x'.repeat(10_000_000), 'too_many_passages'],
    ['a table of a million cells', 'text/markdown', wide + '|b'.repeat(1_000_000), 'too_large'],
    ['zeros', 'text/plain', '\0'.repeat(10_000), 'binary'],
    ['a binary', 'text/markdown', '\x01\x02\x03word'.repeat(1000), 'binary'],
    ['open brackets', 'text/markdown', '['.repeat(200_000), 'indexed'],
    ['emphasis that never closes', 'text/markdown', '*a _b '.repeat(50_000), 'indexed'],
    ['backticks of every length', 'text/markdown', ticks(900), 'indexed'],
    ['open comments', 'text/html', '<!--'.repeat(100_000), 'empty'],
    ['open tags', 'text/html', '<a href="'.repeat(100_000), 'empty'],
    ['formatting that never closes', 'text/html', '<b><i><u><a>x'.repeat(300), 'too_deep'],
    ['front matter that grows', 'text/markdown', bomb(), 'indexed'],
    ['marks on one letter', 'text/plain', `e${'\u0301'.repeat(200_000)}`, 'indexed'],
    ['blank lines', 'text/plain', '\n'.repeat(2_000_000), 'empty'],
    [
      'an image of 20 MB',
      'text/markdown',
      `![a](data:image/png;base64,${'A'.repeat(2e7)})`,
      'indexed',
    ],
    ['cells of all sizes', 'text/html', spans(), 'indexed'],
    ['blanks', 'text/markdown', ' '.repeat(5_000_000), 'empty'],
  ])('%s', async (_, contentType, text, expected) => {
    const outcome = await ingestText(text, contentType).then(
      () => 'indexed',
      (error: Error) => ('failure' in error ? error.failure : error),
    )
    expect(outcome).toBe(expected)
    expect(await ingestText('fine')).toMatchObject({ passages: [{ content: 'fine' }] })
  })
})

function spans(): string {
  return `<table>${`<tr>${'<td colspan=500 rowspan=500>x'.repeat(20)}`.repeat(20)}`
}

function ticks(count: number): string {
  return Array.from({ length: count }, (_, index) => `${'`'.repeat(index)}a`).join('')
}

/** YAML whose aliases expand to 10^9 words. */
function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, index) => {
    return `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(10)}]`
  })
  return `---\na0: &a0 word\n${levels.join('\n')}\ntitle: *a9\n---\ntext`
}

function* forever() {
  for (;;) yield Buffer.alloc(100)
}
