import { array, assert, asyncProperty, constantFrom, record, string } from 'fast-check'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import {
  newBotWithFiles,
  newEvaluationSet,
  passageOf,
  runOf,
  smallPassages,
} from '../../../test/evaluations.js'
import { useFiles } from '../../../test/files.js'

describeSlow('cases in lines of JSON', (engine) => {
  const bench = useFiles(engine)

  it('exports what it imports, for any cases', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    let number = 0
    const target = constantFrom('pump.md', 'valves.txt', 'eval/d1')
    const line = record({
      text: string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(
        (text) => `Q ${text.replaceAll('\0', '')}`,
      ),
      files: array(target, { maxLength: 2 }),
      wrong: array(target, { maxLength: 1 }),
      note: string({ maxLength: 10 }).map((text) => text.replaceAll('\0', '')),
    }).map(({ wrong, ...other }) => ({
      ...other,
      wrong: wrong.filter((file) => !other.files.includes(file)),
    }))
    await assert(
      asyncProperty(array(line, { minLength: 1, maxLength: 4 }), async (given) => {
        number += 1
        const { id } = await newEvaluationSet(bot, `Set ${number}`)
        const lines = given
          .map(({ text, files, wrong, note }, at) =>
            JSON.stringify({
              _id: `q${at}`,
              text,
              relevant: Object.fromEntries(files.map((file) => [file, 1])),
              ...(wrong.length > 0 && { wrong: wrong.map((file) => ({ file, grade: 1 })) }),
              ...(note !== '' && { note }),
            }),
          )
          .join('\n')
        const imported = await client.importEvaluationCases({ id, lines: `${lines}\n\n` })
        expect(imported).toEqual({ created: given.length, updated: 0 })
        const exported = await client.exportEvaluationSet({ id })
        expect(exported.lines).toBe(`${lines}\n`)
        const again = await client.importEvaluationCases({ id, lines: exported.lines })
        expect(again).toEqual({ created: 0, updated: given.length })
        expect(await client.exportEvaluationSet({ id })).toEqual(exported)
        await client.deleteEvaluationSet({ id })
      }),
      { numRuns: 8 },
    )
  })

  it('names passages by their text, for another bot too', async () => {
    const bot = await newBotWithFiles(bench())
    const { id } = await newEvaluationSet(bot)
    const { file } = await bot.as().getFile({ id: 'pump.md' })
    const passageId = await passageOf(bot, 'pump.md', 'yellow button')
    await bot.as().createEvaluationCase({
      id,
      question: 'How to stop?',
      right: [{ fileId: file.id, passageId }],
    })
    const { lines } = await bot.as().exportEvaluationSet({ id })
    expect(JSON.parse(lines)).toMatchObject({ relevant: { 'pump.md': 1 } })
    const other = await newBotWithFiles(bench())
    const copy = await newEvaluationSet(other)
    await other.as().importEvaluationCases({ id: copy.id, lines })
    const { evaluationCases } = await other.as().listEvaluationCases({ id: copy.id })
    expect(evaluationCases[0]?.right).toMatchObject([
      {
        state: 'present',
        passageId: await passageOf(other, 'pump.md', 'yellow button'),
      },
    ])
    const documents = '{"_id": "q2", "text": "lamp", "relevant": {"d1": 1}}'
    await other.as().importEvaluationCases({ id: copy.id, lines: documents })
    expect(await runOf(other, { id: copy.id })).toMatchObject({
      summary: { answerable: 2, mean: { recall: 1 } },
    })
  })

  it('export files whose keys are names of members of objects, and import them again', async () => {
    const bot = bench().newBot()
    const client = bot.as()
    const keys = ['__proto__', 'constructor', 'toString', 'pump.md']
    for (const key of keys) await bot.uploadAndWait({ key, index: true }, `The pump of ${key}.`)
    const { id } = await newEvaluationSet(bot)
    const relevant = `{${keys.map((key) => `"${key}":2`).join(',')}}`
    const line = `{"_id":"a","text":"Which pump?","relevant":${relevant}}\n`
    await client.importEvaluationCases({ id, lines: line })
    const { lines } = await client.exportEvaluationSet({ id })
    expect(lines).toBe(line)
    expect(await client.importEvaluationCases({ id, lines })).toEqual({ created: 0, updated: 1 })
  })

  it('may name several passages of a file, and be changed before their first run', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    const passages = ['Push the yellow button.', 'Turn the red valve to the left.']
    const lines = JSON.stringify({
      _id: 'a',
      text: 'How does it work?',
      passages: passages.map((text) => ({ file: 'pump.md', text })),
    })
    await client.importEvaluationCases({ id, lines })
    const { evaluationCases } = await client.listEvaluationCases({ id })
    const caseId = evaluationCases[0]?.id ?? ''
    const note = 'Both are needed.'
    const { evaluationCase } = await client.updateEvaluationCase({ id, caseId, note })
    expect(evaluationCase).toMatchObject({ note, right: [{ grade: 1 }, { grade: 1 }] })
  })

  it.each([
    ['quotes', { text: 'no such text', quotes: ['\0', 'yellow\0'] }],
    ['a hash', { text: 'no such text', hash: '\0' }],
    ['a place far behind the end', { text: 'no such text', position: Number.MAX_SAFE_INTEGER }],
    ['half a character', { text: '\ud800', quotes: ['\udc00'] }],
  ])('may describe a passage by odd %s, which is not found', async (_, passage) => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    const lines = JSON.stringify({
      _id: 'a',
      text: 'How?',
      passages: [{ file: 'pump.md', ...passage }],
    })
    await client.importEvaluationCases({ id, lines })
    const { evaluationCases } = await client.listEvaluationCases({ id })
    expect(evaluationCases[0]?.right).toMatchObject([{ state: 'gone' }])
    expect(await runOf(bot, { id })).toMatchObject({ state: 'completed', summary: { gone: 1 } })
  })

  it('looks for all lost passages of a file in one pass over its passages', async () => {
    const bot = bench().newBot()
    const client = bot.as()
    const paragraphs = Array.from(
      { length: 200 },
      (_, at) => `Paragraph ${at} is about valve ${at}.`,
    )
    await bot.uploadAndWait(
      { key: 'long.md', index: true, indexing: smallPassages },
      paragraphs.join('\n\n'),
    )
    const { id } = await newEvaluationSet(bot)
    const lost = (name: string) =>
      Array.from({ length: 20 }, (_, at) => ({
        file: 'long.md',
        text: `lost ${name} ${at}`,
        quotes: [`is about ${name} ${at}`, at === 7 ? 'is about valve 123.' : `not ${name} ${at}`],
      }))
    const lines = Array.from({ length: 10 }, (_, at) =>
      JSON.stringify({
        _id: `q${at}`,
        text: 'How?',
        passages: lost(`r${at}`),
        wrong: lost(`w${at}`),
      }),
    )
    await client.importEvaluationCases({ id, lines: lines.join('\n') })
    const queries = vi.spyOn(bench().database.db.getExecutor(), 'executeQuery')
    const { evaluationCases } = await client.listEvaluationCases({ id })
    const texts = queries.mock.calls.map(([{ sql }]) => sql)
    queries.mockRestore()
    const ofPassages = texts.filter((sql) => sql.includes('from "passages"'))
    expect(ofPassages.length).toBeGreaterThan(0)
    // 400 passages are looked for.
    expect(ofPassages.length).toBeLessThan(100)
    const found = evaluationCases.flatMap(({ right, wrong }) => [right, wrong])
    const expected = found[0]?.[7]?.passageId
    expect(expected).toEqual(expect.any(String))
    for (const targets of found) {
      expect(targets.filter(({ state }) => state === 'gone')).toHaveLength(19)
      expect(targets[7]).toMatchObject({ state: 'moved', passageId: expected })
    }
  })

  it.each([
    ['no JSON', 'line 2', '{"_id": "a", "text": "Who?"}\nno'],
    ['no question', 'line 1', '{"_id": "a"}'],
    [
      'deep nesting',
      'line 2',
      `\n{"_id": "a", "text": "b", "more": ${'['.repeat(501)}${']'.repeat(501)}}`,
    ],
    [
      'very many texts',
      'line 1',
      `{"_id": "a", "text": "b", "more": [${'"",'.repeat(100_000)}""]}`,
    ],
    ['an id twice', 'line 3', '{"_id": "a", "text": "x"}\n\n{"_id": "a", "text": "y"}'],
    ['an unknown file', 'line 1', '{"_id": "a", "text": "x", "relevant": {"none": 1}}'],
    [
      'a file whose key has a NUL',
      'line 1',
      '{"_id": "a", "text": "x", "relevant": {"\\u0000": 1}}',
    ],
    [
      'a file that is right twice',
      'line 1',
      '{"_id": "a", "text": "x", "relevant": {"eval/d1": 1, "d1": 1}}',
    ],
    [
      'a file that is right and wrong',
      'line 1',
      '{"_id": "a", "text": "x", "relevant": {"d1": 1}, "wrong": [{"file": "d1"}]}',
    ],
    ['grades without files', 'line 1', '{"_id": "a", "text": "x", "relevant": [1, 1]}'],
    ['a grade that is none', 'line 1', '{"_id": "a", "text": "x", "relevant": {"d1": "x"}}'],
  ])('are refused with %s, which the error names', async (_, place, lines) => {
    const bot = await newBotWithFiles(bench())
    const { id } = await newEvaluationSet(bot)
    await expect(bot.as().importEvaluationCases({ id, lines })).rejects.toMatchObject({
      message: expect.stringContaining(place),
      metadata: { field: 'lines' },
    })
    expect((await bot.as().getEvaluationSet({ id })).evaluationSet.cases).toBe(0)
  })
})
