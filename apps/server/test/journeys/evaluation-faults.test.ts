import { type Client, createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/platform/db/open.js'
import { createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { type ServerProcess, startServerProcess } from '../processes.js'
import { inDatabase } from '../tenancy/seed.js'

const token = 'a-token-for-tests-only'
const settings = { BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
const tables = [
  'evaluation_sets',
  'evaluation_cases',
  'evaluation_runs',
  'evaluation_results',
  'evaluation_documents',
] as const

/** A set of questions about one file; returns its id and the questions. */
async function newSet(client: Client, cases: number) {
  const text = 'A valve closes a pipe.'
  const { file } = await client.upsertFile({ key: 'valves.txt', size: text.length, index: true })
  await fetch(file.uploadUrl, { method: 'PUT', body: text })
  await client.getFile({ id: file.id, waitFor: 'indexing_completed' })
  const { evaluationSet } = await client.createEvaluationSet({ name: 'Questions' })
  const { id } = evaluationSet
  const questions = Array.from({ length: cases }, (_, at) => `valve ${at}`)
  const lines = questions.map((text, at) => JSON.stringify({ _id: `q${at}`, text })).join('\n')
  await client.importEvaluationCases({ id, lines })
  return { id, questions }
}

/** Waits until a run has results, and returns their number. */
async function untilDone(client: Client, id: string, runId: string): Promise<number> {
  return await vi.waitFor(
    async () => {
      const { done } = (await client.getEvaluationRun({ id, runId })).evaluationRun
      expect(done).toBeGreaterThan(0)
      return done
    },
    { timeout: 20_000, interval: 5 },
  )
}

describeSlow('evaluation runs under kill -9', (engine) => {
  it('go on where they were, and so do those that wait, with one result for each case', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings }
    let server = await startServerProcess(environment)
    await using database = await openDatabase(place.options)
    const baseUrl = server.url
    const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
    const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
    const { bot } = await admin.createBot({})
    const clientOf = ({ url }: ServerProcess) =>
      createClient({ baseUrl: url, token, botId: bot.id })
    const { id, questions } = await newSet(clientOf(server), 30)
    const runIds: string[] = []
    for (const note of ['under way', 'waiting']) {
      runIds.push((await clientOf(server).startEvaluationRun({ id, note })).evaluationRun.id)
    }
    const [underWay = ''] = runIds
    const done = await untilDone(clientOf(server), id, underWay)
    await server.kill()
    await takeOver(database)
    server = await startServerProcess(environment)
    const { evaluationRun } = await clientOf(server).getEvaluationRun({ id, runId: underWay })
    expect(evaluationRun.done).toBeGreaterThanOrEqual(done)
    const client = clientOf(server)
    for (const runId of runIds) {
      const run = await vi.waitFor(
        async () => {
          const { evaluationRun } = await client.getEvaluationRun({ id, runId })
          expect(evaluationRun.state).toBe('completed')
          return evaluationRun
        },
        { timeout: 20_000, interval: 20 },
      )
      expect(run).toMatchObject({ done: 30, total: 30, summary: { unanswerable: 30 } })
      const results = await client.listEvaluationResults({ id, runId, pageSize: 100 })
      expect(results.evaluationResults.map(({ question }) => question).toSorted()).toEqual(
        questions.toSorted(),
      )
    }
    expect(await server.stop()).toBe(0)
  })
})

/** Ends the leases of a killed process, instead of waiting for that. */
async function takeOver({ run }: Database): Promise<void> {
  const due_at = new Date().toISOString()
  await run(async (tx) => {
    await tx.updateTable('jobs').set({ due_at }).where('kind', '=', 'search.evaluation').execute()
  })
}

describeSlow('an evaluation run that is under way', (engine) => {
  const server = useServer(engine)

  it.each(['bot', 'workspace'])('ends with its %s, and leaves nothing behind', async (what) => {
    const { id: workspaceId } = await server().client().createWorkspace({ name: 'Gone' })
    const admin = server().client({ workspaceId })
    const { bot } = await admin.createBot({})
    const client = server().client({ workspaceId, botId: bot.id })
    const { id } = await newSet(client, 1000)
    const { evaluationRun } = await client.startEvaluationRun({ id })
    await client.startEvaluationRun({ id })
    await untilDone(client, id, evaluationRun.id)
    if (what === 'bot') await admin.deleteBot({ id: bot.id })
    else await admin.deleteWorkspace({ id: workspaceId })
    await expect(client.getEvaluationRun({ id, runId: evaluationRun.id })).rejects.toMatchObject({
      type: 'Unauthorized',
    })
    // Rows of a bot are deleted some seconds after it.
    server().clock.advance(15_000)
    await inDatabase(server(), async ({ db }) => {
      await vi.waitFor(
        async () => {
          const jobs = db.selectFrom('jobs').select('state').where('kind', '=', 'search.evaluation')
          expect(await jobs.where('key', '=', bot.id).execute()).toEqual([])
          for (const table of tables) {
            const rows = db.selectFrom(table).select('bot_id').where('bot_id', '=', bot.id)
            expect(await rows.execute(), table).toEqual([])
          }
        },
        { timeout: 20_000, interval: 20 },
      )
    })
  })
})
