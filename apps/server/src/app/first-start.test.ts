import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DatabasePlace, engines } from '../../test/engines.js'
import { createSlices } from '../../test/slices.js'
import { migrations } from '../migrations/index.js'
import { migrate } from '../platform/db/migrate.js'
import { type Database, openDatabase } from '../platform/db/open.js'
import { createLog } from '../platform/telemetry/log.js'
import { firstStart } from './first-start.js'

const given = 'a-token-that-the-operator-chose'

describe.each(engines.map((engine) => [engine.name, engine] as const))(
  'the first start on %s',
  (_, engine) => {
    let folder: string
    const places: DatabasePlace[] = []
    const databases: Database[] = []

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'botstead-first-'))
    })

    afterAll(async () => {
      for (const database of databases) await database.close()
      for (const place of places) await place.remove()
      await rm(folder, { recursive: true })
    })

    async function newPlace(): Promise<DatabasePlace> {
      const place = await engine.createPlace()
      places.push(place)
      return place
    }

    const newFolder = () => mkdtemp(join(folder, 'data-'))

    async function open(place: DatabasePlace): Promise<Database> {
      const database = await openDatabase(place.options)
      databases.push(database)
      await migrate(database, migrations)
      return database
    }

    async function start(database: Database, dataDir: string, adminToken?: string) {
      const lines: string[] = []
      const log = await createLog({ level: 'info', destination: { write: (l) => lines.push(l) } })
      const tenants = await createSlices(database)
      const made = await firstStart({ ...tenants, signIn: true, dataDir, adminToken, log })
      return { made, lines, tenants }
    }

    it('creates an account, a workspace and a token for it', async () => {
      const dataDir = await newFolder()
      const { made, tenants } = await start(await open(await newPlace()), dataDir)
      const token = made?.token ?? ''
      const account = await tenants.access.authenticator.account(token, 'account:read')
      const { rows } = await tenants.workspaces.list(account, {})
      expect(rows.map(({ workspace }) => [workspace.id, workspace.name])).toEqual([
        [made?.workspaceId, 'Default'],
      ])
      expect(made?.tokenFile).toBe(join(dataDir, 'admin-token'))
      expect((await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()).toBe(token)
      expect((await stat(join(dataDir, 'admin-token'))).mode & 0o777).toBe(0o600)
    })

    it('happens once', async () => {
      const dataDir = await newFolder()
      const database = await open(await newPlace())
      const { made } = await start(database, dataDir)
      const again = await start(database, dataDir)
      expect(again.made).toBeUndefined()
      expect(await again.tenants.tokens.listAll()).toHaveLength(1)
      expect((await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()).toBe(made?.token)
    })

    it('uses the token that the operator gives', async () => {
      const dataDir = await newFolder()
      await writeFile(join(dataDir, 'admin-token'), 'a token of an earlier database\n')
      const { made, tenants } = await start(await open(await newPlace()), dataDir, given)
      expect(made?.token).toBe(given)
      expect(await tenants.tokens.isKnown(given)).toBe(true)
      expect(await readFile(join(dataDir, 'admin-token'), 'utf8')).toBe(`${given}\n`)
    })

    it('reuses the token of a start that ended before the account was stored', async () => {
      const dataDir = await newFolder()
      await writeFile(join(dataDir, 'admin-token'), 'bp_pat_of-a-start-that-crashed\n')
      const { made } = await start(await open(await newPlace()), dataDir)
      expect(made?.token).toBe('bp_pat_of-a-start-that-crashed')
    })

    it('refuses a truncated token', async () => {
      const dataDir = await newFolder()
      await writeFile(join(dataDir, 'admin-token'), 'bp_pat_')
      await expect(start(await open(await newPlace()), dataDir)).rejects.toThrow('is damaged')
    })

    it.each([
      ['one data folder', 1],
      ['data folders of their own', 4],
    ])('is done by one of several processes with %s', async (_name, folders) => {
      const place = await newPlace()
      const dataDirs = await Promise.all(Array.from({ length: folders }, newFolder))
      const processes = await Promise.all(Array.from({ length: 4 }, () => open(place)))
      const starts = await Promise.all(
        processes.map((database, i) => start(database, dataDirs[i % folders] ?? folder)),
      )
      const made = starts.flatMap((each) => each.made ?? [])
      expect(made).toHaveLength(1)
      const { tenants } = await start(await open(place), folder)
      expect(await tenants.tokens.listAll()).toHaveLength(1)
      expect(await tenants.tokens.isKnown(made[0]?.token ?? '')).toBe(true)
      // No other folder keeps a token without an account.
      const kept = await Promise.all(dataDirs.map((dataDir) => readdir(dataDir)))
      expect(kept.flat()).toEqual(['admin-token'])
    })

    it('is followed by starts that add a token the operator gives, once', async () => {
      const dataDir = await newFolder()
      const database = await open(await newPlace())
      const { made } = await start(database, dataDir)
      const second = await start(database, dataDir, given)
      expect(second.made).toBeUndefined()
      expect(second.lines.join()).toContain('BOTSTEAD_ADMIN_TOKEN was added')
      expect(second.lines.join()).not.toContain(given)
      const third = await start(database, dataDir, given)
      expect(third.lines).toEqual([])

      const { authenticator } = third.tenants.access
      const account = await authenticator.account(given, 'account:read')
      expect(account.accountId).toBe(
        (await authenticator.account(made?.token ?? '', 'account:read')).accountId,
      )
      const notes = (await third.tenants.access.service.listPersonal(account)).map((t) => t.note)
      expect(notes).toEqual(['BOTSTEAD_ADMIN_TOKEN', 'First start'])
    })
  },
)
