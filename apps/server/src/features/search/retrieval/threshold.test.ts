import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
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

describeSlow('the scores in a small office', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    for (const [key, content] of officeFiles) {
      await bot.uploadAndWait({ key, index: true, indexing: small, tags: { page: key } }, content)
    }
  })

  const ask = async (query: string, minScore = 0, tags: Record<string, string> = {}) =>
    (await bot.as().searchFiles({ query, contextDepth: 0, minScore, tags })).passages

  it.each(officeQuestions)('%s: the passage in %s comes first', async (question, key, passage) => {
    const [first] = await ask(question)
    expect(first?.file.key).toBe(key)
    expect(first?.content).toContain(passage)
  })

  it.each([
    ['How long may I wait to submit my hotel bill?', 'within 30 days'],
    ['When do I submit the bill for my meals?', 'within 30 days'],
    ['What is the deadline for hotel bills?', 'within 30 days'],
    ['By when must I submit my hotel bill?', 'within 30 days'],
    ['How soon must hotel bills be submitted?', 'within 30 days'],
  ])(
    '%s: the words of its section count for the passage that answers',
    async (question, answer) => {
      const [first] = await ask(question)
      expect(first?.content).toContain(answer)
      expect(first?.score).toBeGreaterThanOrEqual(advisedMinScore)
    },
  )

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

  it('are the same whatever words other bots have', async () => {
    const scoresOf = async () =>
      await Promise.all(
        officeQuestions.map(async ([question]) => (await ask(question)).map(({ score }) => score)),
      )
    const alone = await scoresOf()
    const words = officeQuestions.map(([question]) => `${question}\n`).join('\n')
    const others = Array.from({ length: 30 }, (_, at) => `# Part ${at}\n\n${words}`)
    await bench().newBot().uploadAndWait({ key: 'other.md', index: true }, others.join('\n\n'))
    expect(await scoresOf()).toEqual(alone)
  })

  describe('with a filter that leaves the passages of one file', () => {
    const best = async (question: string, page: string) => ({
      question,
      page,
      score: (await ask(question, 0, { page }))[0]?.score ?? 0,
    })

    it('keep the questions that it answers', async () => {
      const answered = await Promise.all(officeQuestions.map(([text, key]) => best(text, key)))
      const lost = answered.filter(({ score }) => score < advisedMinScore)
      expect(lost.length <= 0.1 * answered.length ? [] : lost).toEqual([])
    })

    it('refuse those that other files answer, and those about something else', async () => {
      const questions = officeQuestions.map(([text, key]) => ({ text, key }))
      const foreign = otherQuestions.map((text) => ({ text, key: undefined }))
      const others: Awaited<ReturnType<typeof best>>[] = []
      for (const [at, { text, key }] of [...questions, ...foreign].entries()) {
        const pages = officeFiles.map(([page]) => page).filter((page) => page !== key)
        // Every third page, another third for each question.
        const some = pages.filter((_, page) => (page + at) % 3 === 0)
        others.push(...(await Promise.all(some.map((page) => best(text, page)))))
      }
      const found = others.filter(({ score }) => score >= advisedMinScore)
      expect(found.length <= 0.02 * others.length ? [] : found).toEqual([])
    })
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

const frequentlyAsked: readonly (readonly [question: string, answer: string])[] = [
  [
    'How do I export all messages of a board?',
    'Open the menu and choose Export. A file comes by mail.',
  ],
  [
    'How do I share a board with people who have no account?',
    'Create a link for guests in the menu.',
  ],
  ['How do I mark a card as done?', 'Move it to the last list of the board.'],
  ['Who can see my profile?', 'Everybody with an account can, unless you hide it in the settings.'],
  ['How do I change my password?', 'Open the settings of your account, and choose a new one.'],
  ['How do I search for cards of a member?', 'Type the name of the member after an @ sign.'],
  ['Can I use one account on several computers?', 'Yes. Sign in on each of them.'],
  ['How do I turn off the sounds of messages?', 'Open the settings and choose Quiet.'],
]

describeSlow('the scores among questions with answers', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    for (const [at, [question, answer]] of frequentlyAsked.entries()) {
      await bot.uploadAndWait({ key: `${at}.md`, index: true }, `# ${question}\n\n${answer}\n`)
    }
  })

  const best = async (query: string) => {
    const { passages } = await bot.as().searchFiles({ query, contextDepth: 0 })
    return { content: passages[0]?.content ?? '', score: passages[0]?.score ?? 0 }
  }

  it.each([
    ['Exporting the messages of my board', 'Export'],
    ['Is there a way to share my board with somebody without an account?', 'guests'],
    ['Marking cards as done', 'last list'],
    ['Can people see my profile?', 'hide it'],
    ['I want to change the password', 'new one'],
    ['Using the same account on two computers', 'Sign in'],
    ['Turning the sounds of messages off', 'Quiet'],
  ])('keep %s', async (question, answer) => {
    const { content, score } = await best(question)
    expect(content).toContain(answer)
    expect(score).toBeGreaterThanOrEqual(advisedMinScore)
  })

  it.each([
    'How do I delete my account for good?',
    'Which languages does the board support?',
    'How do I restore a card that I archived?',
    'Can a member leave a board?',
    'How do I schedule messages for tomorrow?',
    'What happens to my account if I do not pay?',
  ])('refuse %s, which only has the subject of others', async (question) => {
    const { content, score } = await best(question)
    expect([content, score < advisedMinScore]).toEqual([content, true])
    expect(score).toBeLessThan(advisedMinScore)
  })
})
