import type { Client } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import {
  newBotWithFiles,
  newEvaluationSet,
  passageOf,
  runOf,
  untilRunEnded,
} from '../../../test/evaluations.js'
import { useFiles } from '../../../test/files.js'
import type { Run } from '../../platform/db/schema.js'
import { recordDocuments } from './documents.js'
import { purgeRun } from './run-removal.js'
import { insertResults } from './runs-store.js'

describeSlow('runs of evaluation sets', (engine) => {
  const bench = useFiles(engine)

  const resultsOf = (runId: string) =>
    bench()
      .database.db.selectFrom('evaluation_results')
      .selectAll()
      .where('run_id', '=', runId)
      .execute()

  it('measures cases and shows what was found instead', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    const { file: pump } = await client.getFile({ id: 'pump.md' })
    const { file: valves } = await client.getFile({ id: 'valves.txt' })
    const lever = await passageOf(bot, 'pump.md', 'red valve')
    const button = await passageOf(bot, 'pump.md', 'yellow button')
    const add = async (input: Omit<Parameters<Client['createEvaluationCase']>[0], 'id'>) =>
      (await client.createEvaluationCase({ id, ...input })).evaluationCase.id
    const good = await add({ question: 'green valve', right: [{ fileId: valves.id }] })
    const passage = await add({
      question: 'red valve left',
      right: [{ fileId: pump.id, passageId: lever }],
      wrong: [{ fileId: valves.id }],
    })
    const missed = await add({
      question: 'spare part',
      right: [{ fileId: pump.id, passageId: button }],
    })
    const quiet = await add({ question: 'frobnicate xyzzy', right: [] })
    const loud = await add({ question: 'pump water', right: [] })
    const run = await runOf(bot, { id, note: 'first' })
    expect(run).toMatchObject({
      state: 'completed',
      note: 'first',
      total: 5,
      done: 5,
      summary: {
        answerable: 3,
        misses: 1,
        wrong: 1,
        gone: 0,
        unanswerable: 2,
        falseHits: 1,
        mean: { recall: expect.closeTo(2 / 3, 9), mrr: expect.closeTo(2 / 3, 9) },
      },
    })
    const results = await client.listEvaluationResults({ id, runId: run.id })
    const byCase = new Map(results.evaluationResults.map((each) => [each.caseId, each]))
    expect(
      results.evaluationResults
        .map(({ caseId }) => caseId)
        .slice(0, 2)
        .toSorted(),
    ).toEqual([missed, loud].toSorted())
    expect(byCase.get(good)).toMatchObject({
      measures: { ndcg: 1, recall: 1, mrr: 1 },
      rank: 1,
      missing: [],
    })
    expect(byCase.get(passage)).toMatchObject({
      rank: 1,
      wrong: 1,
      found: expect.arrayContaining([
        expect.objectContaining({ passageId: lever, verdict: 'right', rank: 1 }),
        expect.objectContaining({ fileId: valves.id, verdict: 'wrong' }),
      ]),
    })
    expect(byCase.get(missed)).toMatchObject({
      measures: { ndcg: 0, recall: 0, mrr: 0 },
      missing: [{ fileKey: 'pump.md', passageId: button, state: 'present' }],
      found: [{ fileKey: 'valves.txt', verdict: 'unjudged' }],
    })
    expect(byCase.get(quiet)).toMatchObject({ score: 0, found: [] })
    expect(byCase.get(quiet)?.measures).toBeUndefined()
    const misses = await client.listEvaluationResults({ id, runId: run.id, only: 'misses' })
    expect(misses.evaluationResults.map(({ caseId }) => caseId).toSorted()).toEqual(
      [missed, loud].toSorted(),
    )
    const wrong = await client.listEvaluationResults({ id, runId: run.id, only: 'wrong' })
    expect(wrong.evaluationResults.map(({ caseId }) => caseId)).toEqual([passage])
    const narrow = await runOf(bot, { id, parameters: { tags: { kb: 'none' } } })
    expect(narrow).toMatchObject({
      parameters: { tags: { kb: 'none' } },
      summary: { mean: { ndcg: 0 }, falseHits: 0 },
    })
  })

  it('compares runs, and names the documents that changed', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    const { file: valves } = await client.getFile({ id: 'valves.txt' })
    const { file: pump } = await client.getFile({ id: 'pump.md' })
    const add = (question: string, fileId: string) =>
      client.createEvaluationCase({ id, question, right: [{ fileId }] })
    await add('green valve', valves.id)
    await add('yellow button', pump.id)
    const first = await runOf(bot, { id })
    await expect(client.compareEvaluationRuns({ id, runId: first.id })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    await bot.uploadAndWait({ key: 'pump.md', index: true }, 'Nothing of it is left.')
    await bot.uploadAndWait({ key: 'new.md', index: true }, 'A new page.')
    await client.deleteFile({ id: 'eval/d1' })
    const second = await runOf(bot, { id })
    const { comparison } = await client.compareEvaluationRuns({ id, runId: second.id })
    expect(comparison).toMatchObject({
      run: { id: second.id },
      baseline: { id: first.id },
      cases: 2,
      measures: { ndcg: { difference: -0.5 } },
      better: 0,
      worse: 1,
      changed: [{ question: 'yellow button', before: 1, after: 0, rankBefore: 1 }],
      documentsChanged: 3,
    })
    expect(comparison.documents.map(({ fileKey, change }) => [fileKey, change]).toSorted()).toEqual(
      [
        ['eval/d1', 'removed'],
        ['new.md', 'added'],
        ['pump.md', 'replaced'],
      ],
    )
    const third = await runOf(bot, { id })
    const same = await client.compareEvaluationRuns({
      id,
      runId: third.id,
      baselineId: second.id,
    })
    expect(same.comparison).toMatchObject({ changed: [], documents: [], documentsChanged: 0 })
    const { evaluationRuns } = await client.listEvaluationRuns({ id })
    expect(evaluationRuns.map((run) => run.id)).toEqual([third.id, second.id, first.id])
  })

  it('continues after the worker stopped, with one result for each case', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    const questions = Array.from({ length: 45 }, (_, at) => `valve ${at}`)
    const lines = questions.map((text, at) => JSON.stringify({ _id: `q${at}`, text })).join('\n')
    await client.importEvaluationCases({ id, lines })
    const { evaluationRun } = await client.startEvaluationRun({ id })
    const runId = evaluationRun.id
    await vi.waitFor(async () => {
      expect((await client.getEvaluationRun({ id, runId })).evaluationRun.done).toBeGreaterThan(0)
    })
    await bench().pauseJobs()
    bench().startJobs()
    expect(await untilRunEnded(bot, id, runId)).toMatchObject({ state: 'completed', done: 45 })
    const { evaluationResults } = await client.listEvaluationResults({ id, runId, pageSize: 100 })
    expect(evaluationResults.map(({ question }) => question).toSorted()).toEqual(
      questions.toSorted(),
    )
  })

  it('come in turn with those of other bots, however many cases one has', async () => {
    const questions = Array.from({ length: 40 }, (_, at) => `valve ${at}`)
    const lines = questions.map((text, at) => JSON.stringify({ _id: `q${at}`, text })).join('\n')
    const [many, one] = [await newBotWithFiles(bench()), await newBotWithFiles(bench())]
    const { id } = await newEvaluationSet(many)
    await many.as().importEvaluationCases({ id, lines })
    const { id: ownId } = await newEvaluationSet(one)
    await one.as().createEvaluationCase({ id: ownId, question: 'Who?', right: [] })
    await bench().pauseJobs()
    const runIds: string[] = []
    for (let at = 0; at < 3; at += 1)
      runIds.push((await many.as().startEvaluationRun({ id })).evaluationRun.id)
    const own = (await one.as().startEvaluationRun({ id: ownId })).evaluationRun
    bench().startJobs()
    const ends: number[] = []
    for (const runId of runIds) {
      const ended = await untilRunEnded(many, id, runId)
      expect(ended).toMatchObject({ state: 'completed', done: 40 })
      ends.push(Date.parse(`${ended.completedAt}`))
    }
    const { completedAt } = await untilRunEnded(one, ownId, own.id)
    expect(ends.filter((end) => end > Date.parse(`${completedAt}`))).toEqual(ends.slice(1))
  })

  it('deletes runs that wait, and limits how many do', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    await bench().pauseJobs()
    const { evaluationRun } = await client.startEvaluationRun({ id })
    expect(evaluationRun).toMatchObject({ state: 'waiting', total: 0, done: 0 })
    for (let at = 1; at < 20; at++) await client.startEvaluationRun({ id })
    await expect(client.startEvaluationRun({ id })).rejects.toMatchObject({
      type: 'QuotaExceeded',
    })
    await client.deleteEvaluationRun({ id, runId: evaluationRun.id })
    const last = await client.startEvaluationRun({ id })
    await expect(
      client.compareEvaluationRuns({ id, runId: last.evaluationRun.id }),
    ).rejects.toMatchObject({ type: 'ReferenceNotFound' })
    bench().startJobs()
    await untilRunEnded(bot, id, last.evaluationRun.id)
    await expect(client.getEvaluationRun({ id, runId: evaluationRun.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('deletes a run at once, and its results in the background', async () => {
    const bot = await newBotWithFiles(bench())
    const client = bot.as()
    const { id } = await newEvaluationSet(bot)
    await client.createEvaluationCase({ id, question: 'Who?', right: [] })
    const { id: runId } = await runOf(bot, { id })
    await bench().pauseJobs()
    await client.deleteEvaluationRun({ id, runId })
    await expect(client.listEvaluationResults({ id, runId })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    expect(await resultsOf(runId)).toHaveLength(1)
    bench().startJobs()
    await vi.waitFor(async () => expect(await resultsOf(runId)).toEqual([]))
  })

  it('leaves no results that a run stores while it is removed', async () => {
    const bot = await newBotWithFiles(bench())
    const { id } = await newEvaluationSet(bot)
    await bot.as().createEvaluationCase({ id, question: 'Who?', right: [] })
    const { id: runId } = await runOf(bot, { id })
    const [result] = await resultsOf(runId)
    if (result === undefined) throw new Error('There is no result')
    const { run } = bench().database
    const late: Run = async (work, options) => {
      const done = await run(work, options)
      // The step that found no result any more.
      if (done === 0) await run((tx) => insertResults(tx, [result]))
      return done
    }
    await purgeRun(late, runId)
    expect(await resultsOf(runId)).toEqual([])
  })

  it('records no documents once it is removed', async () => {
    const bot = await newBotWithFiles(bench())
    const { id } = await newEvaluationSet(bot)
    await bench().pauseJobs()
    const { evaluationRun } = await bot.as().startEvaluationRun({ id })
    const { db, run } = bench().database
    /** Records the documents of the bot for the run, and returns how many are there afterwards. */
    const record = async (through: Run) => {
      const { signal } = new AbortController()
      await recordDocuments({ ...bench(), db, run: through }, bot.id, evaluationRun.id, signal)
      const documents = db.selectFrom('evaluation_documents').select('file_id')
      return (await documents.where('bot_id', '=', bot.id).execute()).length
    }
    // The files were listed already when it goes.
    const late: Run = async (work, options) => {
      await purgeRun(run, evaluationRun.id)
      return await run(work, options)
    }
    expect(await record(late)).toBe(0)
    bench().startJobs()
    await runOf(bot, { id })
    expect(await record(run)).toBe(3)
  })

  it('removes cases, runs and results with their set', async () => {
    const bot = await newBotWithFiles(bench())
    const { id } = await newEvaluationSet(bot)
    await bot.as().createEvaluationCase({ id, question: 'Who?', right: [] })
    await runOf(bot, { id })
    await bot.as().deleteEvaluationSet({ id })
    const { db } = bench().database
    const tables = ['evaluation_cases', 'evaluation_runs', 'evaluation_results'] as const
    await vi.waitFor(async () => {
      for (const table of tables) {
        const rows = await db.selectFrom(table).select('id').where('bot_id', '=', bot.id).execute()
        expect(rows).toEqual([])
      }
    })
  })
})
