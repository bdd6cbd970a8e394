import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import type { Schema } from '../../src/platform/db/schema.js'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { runCommand, startServerProcess } from '../processes.js'

describe('botstead check beside a running server', () => {
  it.concurrent.each(engines.map((engine) => [engine.name, engine] as const))(
    'reports inconsistencies, and repairs them on request on %s',
    async (_, engine) => {
      await using place = await createCommandPlace(engine)
      const token = `bp_pat_${'t'.repeat(43)}`
      await using server = await startServerProcess({
        ...place.environment,
        LOG_LEVEL: 'error',
        BOTSTEAD_ADMIN_TOKEN: token,
      })
      const account = createClient({ baseUrl: server.url, token })
      const [workspace] = (await account.listWorkspaces()).workspaces
      const workspaceId = workspace?.id ?? ''
      const { bot } = await createClient({ baseUrl: server.url, token, workspaceId }).createBot({})
      const client = createClient({ baseUrl: server.url, token, botId: bot.id })
      const { file } = await client.upsertFile({ key: 'a', size: 3 })
      await fetch(file.uploadUrl, { method: 'PUT', body: 'abc' })

      const check = (...more: string[]) => runCommand(['check', ...more], place.environment)
      expect(await check()).toEqual({ status: 0, stdout: '', stderr: 'No problems found.\n' })

      const url = place.environment.DATABASE_URL
      const options = url === undefined ? { file: `${place.dataDir}/botstead.db` } : { url }
      await using database = await openDatabase(options)
      await database.run(async (tx) => {
        const files = tx.withTables<Pick<Schema, 'file_usage'>>()
        await files.updateTable('file_usage').set({ storage_bytes: 5 }).execute()
      })
      const wrong = `usage: workspace ${workspaceId}: 5 bytes of files and 0 indexed are counted, but its files have 3 and 0`
      expect(await check()).toEqual({
        status: 1,
        stdout: `${wrong}\n`,
        stderr:
          '1 problem found: run "npx botstead check --repair" to repair all but lost contents.\n',
      })
      expect(await check('--repair')).toEqual({
        status: 0,
        stdout: `${wrong} (repaired)\n`,
        stderr: 'No problems remain.\n',
      })
      expect((await check()).status).toBe(0)
    },
  )
})

describe('botstead check --audit', () => {
  it.concurrent.each(engines.map((engine) => [engine.name, engine] as const))(
    'names the first record that was changed on %s',
    async (_, engine) => {
      await using place = await createCommandPlace(engine)
      const token = `bp_pat_${'t'.repeat(43)}`
      await using server = await startServerProcess({
        ...place.environment,
        LOG_LEVEL: 'error',
        BOTSTEAD_ADMIN_TOKEN: token,
      })
      const account = createClient({ baseUrl: server.url, token })
      const [workspace] = (await account.listWorkspaces()).workspaces
      const workspaceId = workspace?.id ?? ''
      const client = createClient({ baseUrl: server.url, token, workspaceId })
      for (const name of ['a', 'b', 'c']) await client.createBot({ name })
      const { records } = await client.getAuditRecords({ id: workspaceId })
      const head = `${workspaceId}:${records[0]?.sequence}:${records[0]?.hash}`

      const check = (...more: string[]) => runCommand(['check', ...more], place.environment)
      expect(await check('--audit')).toEqual({
        status: 0,
        stdout: `ok: 3 records, head ${head}\n`,
        stderr: 'No problems found.\n',
      })
      await client.createBot({ name: 'd' })
      expect((await check('--audit-head', head)).status).toBe(0)
      expect((await check('--audit-head', `${workspaceId}:3:${'0'.repeat(64)}`)).status).toBe(1)

      const exported = join(place.dataDir, 'audit.jsonl')
      const response = await fetch(
        `${server.url}/v1/admin/workspaces/${workspaceId}/audit-records/export`,
        { headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId } },
      )
      await writeFile(exported, await response.text())
      const compare = () => check('--audit-export', exported, '--workspace', workspaceId)
      expect((await compare()).status).toBe(0)
      await writeFile(exported, '"sequence","hash"\n')
      expect(await compare()).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('the last line is no record of an audit log as JSON'),
      })
      await writeFile(exported, `${JSON.stringify({ sequence: 3, hash: '0'.repeat(64) })}\n`)
      expect((await compare()).status).toBe(1)

      const url = place.environment.DATABASE_URL
      const options = url === undefined ? { file: `${place.dataDir}/botstead.db` } : { url }
      await using database = await openDatabase(options)
      await database.run(async (tx) => {
        const log = tx.withTables<Pick<Schema, 'audit_records'>>()
        const query = log.updateTable('audit_records').set({ resource_name: 'other' })
        await query.where('sequence', '=', 2).execute()
      })
      expect(await check('--audit')).toEqual({
        status: 1,
        stdout: `broken: workspace ${workspaceId}, record 2: the record is not as it was recorded\n`,
        stderr: '1 audit log is not as it was recorded.\n',
      })
    },
  )
})
