import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measure } from '../../domain/ranking-measures.js'
import { readCorpus, readDataset } from './dataset.js'
import { compare, readResults } from './results.js'
import { documentOf } from './upload.js'

describe('questions and documents of strangers', () => {
  let folder: string
  let queries: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-dataset-'))
    queries = join(folder, 'queries.jsonl')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['no text', '{"_id":"a"}', '"text" must be a question of 1 to 2048 bytes of UTF-8'],
    ['a text that is none', '{"_id":"a","text":7}', '"text" must be a question'],
    ['a text that no search takes', `{"_id":"a","text":"${'ä'.repeat(1025)}"}`, '"text" must be'],
    [
      'a list of grades',
      '{"_id":"a","text":"x","relevant":["d1"]}',
      '"relevant" must be an object',
    ],
    ['a grade without bounds', '{"_id":"a","text":"x","relevant":{"d1":1e400}}', 'at most 100'],
    ['a grade beyond all powers', '{"_id":"a","text":"x","relevant":{"d1":1e308}}', 'at most 100'],
  ])('are refused with %s, with their line', async (_, line, reason) => {
    await writeFile(queries, `{"_id":"b","text":"Why?","relevant":{"d1":1}}\n${line}\n`)
    await expect(readDataset(folder)).rejects.toThrow(`${queries}, line 2: `)
    await expect(readDataset(folder)).rejects.toThrow(reason)
  })

  it('are refused with a line that no text can hold, before it is read', async () => {
    const megabyte = Buffer.alloc(1_000_000, 0x20)
    await writeFile(queries, '{"_id":"b","text":"Why?"}\n')
    await writeFile(queries, Array(101).fill(megabyte), { flag: 'a' })
    const reason = `${queries}, line 2: a line has at most 100000000 bytes.`
    await expect(readDataset(folder)).rejects.toThrow(reason)
  })

  it('keep odd ids and texts apart', async () => {
    const ids = ['__proto__', 'constructor', '\\ud800', '\\u0000', '\\u001b[2J', '\\u202e']
    const lines = ids.map((id) => `{"_id":"${id}","text":"${id}?","relevant":{"${id}":100}}`)
    await writeFile(queries, `\ufeff${lines.join('\r\n')}`)
    await writeFile(join(folder, 'corpus.jsonl'), lines.join('\n'))
    const known = ['__proto__', 'constructor', '\ufffd', '\ufffd', '\u001b[2J', '\u202e']
    const { questions } = await readDataset(folder)
    expect(questions.map(({ id }) => id)).toEqual(known)
    expect((await readCorpus(folder)).map(({ id }) => id)).toEqual(known)
    const [first] = questions
    expect(first && measure(['__proto__'], first.relevant)).toEqual({ ndcg: 1, recall: 1, mrr: 1 })
  })

  it('may stand beside files whose keys are no encoded ids', () => {
    expect(documentOf('eval/a%2Fb')).toBe('a/b')
    expect(documentOf('eval/100%')).toBe('eval/100%')
  })

  it('are compared with a baseline that is one', async () => {
    const file = join(folder, 'baseline.json')
    for (const text of ['{"each":null}', '{"each":{"a":null}}', '{"each":[]}', 'null', '7']) {
      await writeFile(file, text)
      await expect(readResults(file)).rejects.toThrow('is no result of "botstead eval --json"')
    }
    await writeFile(file, '{"each":{"__proto__":{"ndcg":0.5,"recall":1,"mrr":1}}}')
    const baseline = await readResults(file)
    expect(compare(baseline, baseline, 'ndcg')).toMatchObject({ questions: 1, difference: 0 })
  })
})
