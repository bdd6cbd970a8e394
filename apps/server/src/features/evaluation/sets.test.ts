import { assert, asyncProperty, integer } from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import {
  newBotWithFiles,
  newEvaluationSet,
  passageOf,
  pumpManual,
  smallPassages,
} from '../../../test/evaluations.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

describeSlow('evaluation sets', (engine) => {
  const bench = useFiles(engine)

  describe('of a set', () => {
    it('creates, lists, renames and deletes it', async () => {
      const bot = bench().newBot()
      const client = bot.as()
      const { id } = await newEvaluationSet(bot, 'One')
      await newEvaluationSet(bot, 'Two')
      const names = async () =>
        (await client.listEvaluationSets()).evaluationSets.map(({ name }) => name)
      expect(await names()).toEqual(['Two', 'One'])
      await client.updateEvaluationSet({ id, name: 'Three' })
      expect((await client.getEvaluationSet({ id })).evaluationSet).toMatchObject({
        name: 'Three',
        cases: 0,
      })
      const taken = { type: 'AlreadyExists' }
      await expect(newEvaluationSet(bot, 'Two')).rejects.toMatchObject(taken)
      await expect(client.updateEvaluationSet({ id, name: 'Two' })).rejects.toMatchObject(taken)
      await client.deleteEvaluationSet({ id })
      expect(await names()).toEqual(['Two'])
      await expect(client.getEvaluationSet({ id })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
    })

    it('refuses other bots as if it did not exist, and integrations', async () => {
      const bot = bench().newBot()
      const { id } = await newEvaluationSet(bot)
      const other = bench().newBot().as()
      const unknown = { type: 'ResourceNotFound' }
      await expect(other.getEvaluationSet({ id })).rejects.toMatchObject(unknown)
      await expect(other.deleteEvaluationSet({ id })).rejects.toMatchObject(unknown)
      await expect(other.startEvaluationRun({ id })).rejects.toMatchObject(unknown)
      await expect(
        other.createEvaluationCase({ id, question: 'Who?', right: [] }),
      ).rejects.toMatchObject(unknown)
      const app = bot.as(integration('int_1'))
      await expect(app.listEvaluationSets()).rejects.toMatchObject({ type: 'Forbidden' })
      await expect(app.getEvaluationSet({ id })).rejects.toMatchObject({ type: 'Forbidden' })
    })
  })

  describe('of cases', () => {
    let bot: TestBot
    let setId: string

    beforeAll(async () => {
      bot = await newBotWithFiles(bench())
      setId = (await newEvaluationSet(bot)).id
    })

    it('adds, changes and deletes them', async () => {
      const client = bot.as()
      const { file } = await client.getFile({ id: 'pump.md' })
      const passageId = await passageOf(bot, 'pump.md', 'red valve')
      const added = await client.createEvaluationCase({
        id: setId,
        key: 'q1',
        question: 'Which valve?',
        right: [{ fileId: file.id, passageId, grade: 3 }],
        note: 'from a customer',
      })
      expect(added.evaluationCase).toMatchObject({
        key: 'q1',
        question: 'Which valve?',
        right: [
          {
            fileId: file.id,
            fileKey: 'pump.md',
            passageId,
            text: expect.stringContaining('red valve'),
            grade: 3,
            state: 'present',
          },
        ],
        wrong: [],
      })
      expect((await client.getEvaluationSet({ id: setId })).evaluationSet.cases).toBe(1)
      const caseId = added.evaluationCase.id
      const { file: other } = await client.getFile({ id: 'valves.txt' })
      const changed = await client.updateEvaluationCase({
        id: setId,
        caseId,
        wrong: [{ fileId: other.id }],
      })
      expect(changed.evaluationCase).toMatchObject({
        question: 'Which valve?',
        right: [{ passageId }],
        wrong: [{ fileKey: 'valves.txt', state: 'present' }],
      })
      const { evaluationCases } = await client.listEvaluationCases({ id: setId })
      expect(evaluationCases).toEqual([changed.evaluationCase])
      await expect(
        client.createEvaluationCase({ id: setId, key: 'q1', question: 'Again?', right: [] }),
      ).rejects.toMatchObject({ type: 'AlreadyExists' })
      await client.deleteEvaluationCase({ id: setId, caseId })
      expect((await client.getEvaluationSet({ id: setId })).evaluationSet.cases).toBe(0)
      await expect(client.deleteEvaluationCase({ id: setId, caseId })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
    })

    it('refuses what they cannot refer to', async () => {
      const client = bot.as()
      const { file } = await client.getFile({ id: 'pump.md' })
      const foreign = await bench().newBot().upload({ key: 'x.md' }, 'x')
      const passageId = await passageOf(bot, 'pump.md', 'red valve')
      const add = (right: { fileId: string; passageId?: string }[], question = 'Which?') =>
        client.createEvaluationCase({ id: setId, question, right })
      const unknown = { type: 'ReferenceNotFound' }
      await expect(add([{ fileId: foreign.id }])).rejects.toMatchObject(unknown)
      await expect(add([{ fileId: file.id, passageId: 'none' }])).rejects.toMatchObject(unknown)
      const invalid = { type: 'InvalidPayload' }
      await expect(add([{ fileId: file.id }, { fileId: file.id }])).rejects.toMatchObject(invalid)
      await expect(
        add([{ fileId: file.id }, { fileId: file.id, passageId }]),
      ).rejects.toMatchObject(invalid)
      await expect(add([], ' ')).rejects.toMatchObject(invalid)
    })

    it('lists them in pages of any size, each once', async () => {
      const paged = await newEvaluationSet(bot, 'Paged')
      for (let at = 0; at < 7; at++) {
        const question = `Question ${at}?`
        await bot.as().createEvaluationCase({ id: paged.id, question, right: [] })
      }
      await assert(
        asyncProperty(integer({ min: 1, max: 8 }), async (pageSize) => {
          const found: string[] = []
          let nextToken: string | undefined
          do {
            const page = await bot.as().listEvaluationCases({
              id: paged.id,
              pageSize,
              ...(nextToken && { nextToken }),
            })
            found.push(...page.evaluationCases.map(({ question }) => question))
            nextToken = page.meta.nextToken
          } while (nextToken !== undefined)
          expect(found).toEqual(Array.from({ length: 7 }, (_, at) => `Question ${at}?`))
        }),
        { numRuns: 8 },
      )
    })

    it('limits how many a bot has, and says so', async () => {
      const full = bench().newBot()
      const { id } = await newEvaluationSet(full)
      const lines = Array.from({ length: 50 }, (_, at) =>
        JSON.stringify({ _id: `q${at}`, text: 'Who?' }),
      ).join('\n')
      await full.as().importEvaluationCases({ id, lines })
      await expect(
        full.as().createEvaluationCase({ id, question: 'Who?', right: [] }),
      ).rejects.toMatchObject({
        type: 'QuotaExceeded',
        message: expect.stringContaining('BOTSTEAD_EVALUATION_CASES'),
      })
    })

    it('follows passages through new indexing, and says when they are gone', async () => {
      const moving = await newBotWithFiles(bench())
      const client = moving.as()
      const { id } = await newEvaluationSet(moving)
      const { file } = await client.getFile({ id: 'pump.md' })
      const passageId = await passageOf(moving, 'pump.md', 'yellow button')
      await client.createEvaluationCase({
        id,
        question: 'How does it stop?',
        right: [{ fileId: file.id, passageId }],
      })
      const target = async () => {
        const { evaluationCases } = await client.listEvaluationCases({ id })
        return evaluationCases[0]?.right[0]
      }
      await moving.uploadAndWait(
        { key: 'pump.md', index: true, indexing: smallPassages },
        `${pumpManual}\nOne more paragraph.`,
      )
      expect(await target()).toMatchObject({ state: 'present' })
      await moving.uploadAndWait(
        { key: 'pump.md', index: true, indexing: smallPassages },
        pumpManual.replace('# Pump', '# Pump\n\nAn introduction that was missing.'),
      )
      expect(await target()).toMatchObject({
        state: 'present',
        passageId: await passageOf(moving, 'pump.md', 'yellow button'),
      })
      await moving.uploadAndWait({ key: 'pump.md', index: true }, `${pumpManual}\nThen wait.`)
      const moved = await target()
      expect(moved).toMatchObject({
        state: 'moved',
        passageId: await passageOf(moving, 'pump.md', 'yellow button'),
        text: expect.stringContaining('yellow button'),
      })
      await moving.uploadAndWait({ key: 'pump.md', index: true }, 'Something else.')
      expect(await target()).toMatchObject({ state: 'gone' })
      const { evaluationCases } = await client.listEvaluationCases({ id })
      const kept = await client.updateEvaluationCase({
        id,
        caseId: evaluationCases[0]?.id ?? '',
        right: [{ fileId: file.id, passageId }],
      })
      expect(kept.evaluationCase.right).toMatchObject([{ state: 'gone' }])
      await client.deleteFile({ id: file.id })
      expect(await target()).toMatchObject({ state: 'gone', fileKey: 'pump.md' })
    })
  })
})
