import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'
import { advisedMinScore, separate } from '../../../domain/ranking-measures.js'
import { officeFiles, officeQuestions, otherQuestions } from './office.fixture.js'

/** Makes each section a passage. */
const small = {
  configuration: {
    parsing: { minimumParagraphLength: 0 },
    chunking: { maximumChunkLength: 300 },
  },
}

describeEachEngine('the scores in a small office', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    for (const [key, content] of officeFiles) {
      await bot.uploadAndWait({ key, index: true, indexing: small }, content)
    }
  })

  const ask = async (query: string, minScore = 0) =>
    (await bot.as().searchFiles({ query, contextDepth: 0, minScore })).passages

  it.each(officeQuestions)('%s: the passage in %s comes first', async (question, key, passage) => {
    const [first] = await ask(question)
    expect(first?.file.key).toBe(key)
    expect(first?.content).toContain(passage)
  })

  it('keep the questions that have an answer, and refuse the others', async () => {
    const best = async (question: string) => ({
      question,
      score: (await ask(question))[0]?.score ?? 0,
    })
    const answered = await Promise.all(officeQuestions.map(([question]) => best(question)))
    const others = await Promise.all(otherQuestions.map(best))
    const lost = answered.filter(({ score }) => score < advisedMinScore)
    const found = others.filter(({ score }) => score >= advisedMinScore)
    // If too many questions are on the wrong side, the failure names them.
    expect(lost.length <= 0.1 * answered.length ? [] : lost).toEqual([])
    expect(found.length <= 0.1 * others.length ? [] : found).toEqual([])
    const scoresOf = (some: readonly { score: number }[]) => some.map(({ score }) => score)
    expect(separate(scoresOf(answered), scoresOf(others)).chance).toBeGreaterThan(0.97)
  })

  describe('of a question none of whose words occurs', () => {
    it.each(['What is love?', 'How do I bake bread?', 'Who wrote Hamlet?', 'Is the sky blue?'])(
      '%s: are low, whatever looks like them',
      async (question) => {
        expect(await ask(question, 0.3)).toEqual([])
      },
    )
  })

  it.each([
    ['signaturs', 'purchase/orders.md'],
    ['pasword', 'it/passwords.md'],
    ['vaccation', 'people/vacation.md'],
    ['refridgerator', 'office/kitchen.md'],
    ['warrenty', 'sales/warranty.md'],
  ])('of %s, which is mistyped, are those of what was meant', async (question, key) => {
    const [first] = await ask(question, advisedMinScore)
    expect(first?.file.key).toBe(key)
  })

  it.each([
    ['4711-AB/3', 'it/printer.md'],
    ['4711AB3', 'it/printer.md'],
    ['4711–AB–3', 'it/printer.md'],
    ['881204', 'purchase/suppliers.md'],
    ['88-120-4', 'purchase/suppliers.md'],
    ['٨٨١٢٠٤', 'purchase/suppliers.md'],
    ['８８-１２０-４', 'purchase/suppliers.md'],
  ])('of the number %s, in any notation, are high', async (question, key) => {
    const passages = await ask(question, 0.6)
    expect(passages.map(({ file }) => file.key)).toEqual([key])
  })

  it('are not changed by the threshold, which leaves out what is below it', async () => {
    const all = await ask('hotel bill')
    const least = all[1]?.score ?? 0
    expect((await ask('hotel bill', least)).map(({ score }) => score)).toEqual(
      all.map(({ score }) => score).filter((score) => score >= least),
    )
  })
})
