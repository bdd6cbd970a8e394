import { beforeAll, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { jobRow } from '../../../../test/job-rows.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'
import type { JobRow } from '../../../platform/jobs/store.js'

describeEachEngine('background jobs', (engine) => {
  const server = useServer(engine)
  let client: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    client = server().client({ workspaceId: undefined })
  })

  const store = (rows: readonly JobRow[]) =>
    inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        for (const row of rows) await tx.insertInto('jobs').values(row).execute()
      }),
    )
  const refusal = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      ({ type, message }: { type: string; message: string }) => `${type}: ${message}`,
    )

  it('are listed by kind and state, on pages, each with its error', async () => {
    const rows = Array.from({ length: 7 }, (_, i) =>
      jobRow({ state: i % 2 === 0 ? 'dead' : 'waiting', kind: i < 5 ? 'test.later' : 'test.else' }),
    )
    await store(rows)
    const listAll = async (filter: { kind?: string; state?: 'dead' | 'waiting' }) => {
      const found: string[] = []
      let nextToken: string | undefined
      do {
        const page = await client.listJobs({
          ...filter,
          pageSize: 2,
          ...(nextToken && { nextToken }),
        })
        expect(page.kinds === undefined).toBe(nextToken !== undefined)
        found.push(...page.jobs.map(({ id }) => id))
        nextToken = page.meta.nextToken
      } while (nextToken !== undefined)
      return found
    }
    const idsOf = (wanted: (row: JobRow) => boolean) =>
      rows
        .filter(wanted)
        .map(({ id }) => id)
        .toReversed()
    for (const kind of ['test.later', 'test.else']) {
      expect(await listAll({ kind })).toEqual(idsOf((row) => row.kind === kind))
      for (const state of ['dead', 'waiting'] as const) {
        expect(await listAll({ kind, state })).toEqual(
          idsOf((row) => row.kind === kind && row.state === state),
        )
      }
    }
    const { kinds, jobs } = await client.listJobs({ kind: 'test.later', state: 'dead' })
    expect(kinds).toContainEqual({
      kind: 'test.later',
      about: 'Unknown to this version of the server.',
      waiting: 2,
      running: 0,
      dead: 3,
      mayBeDropped: false,
      dropping: 'Refused: nobody knows what it is for.',
    })
    expect(jobs[0]).toMatchObject({ attempts: 5, maxAttempts: 5, lastError: 'It failed' })
    expect(JSON.stringify(jobs)).not.toContain('never shown')
  })

  it('are explained, every kind that the server has', async () => {
    const { kinds = [] } = await client.listJobs()
    const own = kinds.filter(({ kind }) => !kind.startsWith('test.'))
    expect(own.length).toBeGreaterThan(20)
    expect(own.filter(({ about }) => about.startsWith('Unknown'))).toEqual([])
  })

  it('that are dead are retried one by one, or all of a kind', async () => {
    const rows = Array.from({ length: 4 }, () => jobRow({ kind: 'test.retried' }))
    const waiting = jobRow({ kind: 'test.retried', state: 'waiting' })
    await store([...rows, waiting])
    const [first] = rows
    const { job } = await client.retryJob({ id: first?.id ?? '' })
    expect(job).toMatchObject({ id: first?.id, state: 'waiting', attempts: 0 })
    expect(await refusal(client.retryJob({ id: waiting.id }))).toBe(
      `RelationConflict: The job ${waiting.id} is waiting, and not dead.`,
    )
    expect(await refusal(client.retryJob({ id: 'job_none' }))).toMatch('ResourceNotFound')
    expect(await client.retryJobs({ kind: 'test.retried' })).toEqual({ retried: 3, hasMore: false })
    expect(await client.retryJobs({ kind: 'test.retried' })).toEqual({ retried: 0, hasMore: false })
    expect(await refusal(client.retryJobs({ kind: 'test.none' }))).toMatch('ReferenceNotFound')
  })

  it('that are dead are dropped, unless nothing else would do their work', async () => {
    const [droppable, needed] = [
      jobRow({ kind: 'deliveries.replay', key: 'replay_none' }),
      jobRow({ kind: 'bots.purge', key: 'bot_none' }),
    ]
    const waiting = jobRow({ state: 'waiting' })
    await store([droppable, needed, waiting])
    expect(await refusal(client.dropJob({ id: droppable.id }))).toBe('done')
    expect(await refusal(client.dropJob({ id: droppable.id }))).toMatch('ResourceNotFound')
    expect(await refusal(client.dropJob({ id: waiting.id }))).toMatch('RelationConflict')
    expect(await refusal(client.dropJob({ id: needed.id }))).toBe(
      'ReferenceConstraint: A job of the kind bots.purge. Refused: nothing else would ever remove these rows. Retry it.',
    )
    const { jobs } = await client.listJobs({ kind: 'bots.purge', state: 'dead' })
    expect(jobs.map(({ id }) => id)).toEqual([needed.id])
  })

  it('that recur have the time of their last and next run, and run now on request', async () => {
    const find = async (kind: string) =>
      (await client.listJobSchedules()).schedules.find((each) => each.kind === kind)
    const kind = 'server.housekeeping'
    await vi.waitFor(async () => {
      expect(await find(kind)).toMatchObject({ state: 'waiting', lastRunAt: expect.any(String) })
    })
    const before = await find(kind)
    expect(Date.parse(before?.nextRunAt ?? '') - Date.parse(before?.lastRunAt ?? '')).toBeLessThan(
      (before?.everyMs ?? 0) + 60_000,
    )
    await server().pass(1000)
    const { schedule } = await client.runJobSchedule({ kind })
    expect(schedule).toMatchObject({ kind, everyMs: 3_600_000 })
    await vi.waitFor(async () => {
      const after = await find(kind)
      expect((after?.lastRunAt ?? '') > (before?.lastRunAt ?? '')).toBe(true)
      expect(after?.state).toBe('waiting')
    })
    expect(await refusal(client.runJobSchedule({ kind: 'search.index' }))).toMatch(
      'ResourceNotFound',
    )
  })

  it('are for the operator only', async () => {
    const { token } = await addAccount(server())
    const other = server().client({ token, workspaceId: undefined })
    const refused = /^Forbidden: Only the operator of the server/
    const calls = [
      other.listJobs(),
      other.retryJob({ id: 'job_none' }),
      other.retryJobs({ kind: 'search.index' }),
      other.dropJob({ id: 'job_none' }),
      other.listJobSchedules(),
      other.runJobSchedule({ kind: 'server.housekeeping' }),
    ]
    for (const message of await Promise.all(calls.map(refusal))) expect(message).toMatch(refused)
  })
})
