import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { insertRun, pageRuns, type RunRow } from './store.js'

describeEachEngine('pages of the runs of actions', (engine) => {
  const database = useDatabase(engine)

  it('hold those of an alias or an integration once, in order', async () => {
    const run = (id: string, alias: string, integration: string): RunRow => ({
      id,
      bot_id: 'bot',
      alias,
      integration,
      action: 'send',
      input: '{}',
      input_truncated: 0,
      output: null,
      output_truncated: 0,
      cached: 0,
      error: null,
      duration_ms: 1,
      created_at: `2026-01-0${id}T00:00:00.000Z`,
    })
    const rows = [
      run('1', 'post', 'mail'),
      run('2', 'mail', 'mail'),
      run('3', 'mail', 'other'),
      run('4', 'phone', 'phone'),
      run('5', 'mail', 'mail'),
      run('6', 'post', 'mail'),
    ]
    await database().run(async (tx) => {
      for (const row of rows) await insertRun(tx, row)
    })
    const page = async (after?: { value: string; id: string }, from?: string) => {
      const filter = { integration: 'mail', from, until: undefined }
      const found = await pageRuns(database().db, 'bot', filter, {
        sort: 'created_at',
        direction: 'desc',
        size: 2,
        after,
        tokenAfter: ({ id }) => id,
      })
      return { ids: found.rows.map(({ id }) => id), next: found.nextToken }
    }
    expect(await page()).toEqual({ ids: ['6', '5'], next: '5' })
    const after = (id: string) => ({ value: `2026-01-0${id}T00:00:00.000Z`, id })
    expect(await page(after('5'))).toEqual({ ids: ['3', '2'], next: '2' })
    expect(await page(after('2'))).toEqual({ ids: ['1'], next: undefined })
    expect(await page(after('5'), '2026-01-03')).toEqual({ ids: ['3'], next: undefined })
  })
})
