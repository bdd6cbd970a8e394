import { array, assert, asyncProperty, constantFrom, record, string } from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { newBotWithFiles, newEvaluationSet, passageOf, runOf } from '../../../test/evaluations.js'
import { useFiles } from '../../../test/files.js'

describeEachEngine('cases in lines of JSON', (engine) => {
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
    })
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

  it.each([
    ['no JSON', 'line 2', '{"_id": "a", "text": "Who?"}\nno'],
    ['no question', 'line 1', '{"_id": "a"}'],
    ['an id twice', 'line 3', '{"_id": "a", "text": "x"}\n\n{"_id": "a", "text": "y"}'],
    ['an unknown file', 'line 1', '{"_id": "a", "text": "x", "relevant": {"none": 1}}'],
    ['a grade that is none', 'line 1', '{"_id": "a", "text": "x", "relevant": {"d1": "x"}}'],
  ])('are refused with %s, which the error names', async (_, place, lines) => {
    const bot = bench().newBot()
    const { id } = await newEvaluationSet(bot)
    await expect(bot.as().importEvaluationCases({ id, lines })).rejects.toMatchObject({
      message: expect.stringContaining(place),
      metadata: { field: 'lines' },
    })
    expect((await bot.as().getEvaluationSet({ id })).evaluationSet.cases).toBe(0)
  })
})
