import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { ManualTime } from '../../../../test/manual-time.js'
import type { Clock, Timers } from '../../../platform/clock.js'
import { createIds } from '../../../platform/ids.js'
import { createLog } from '../../../platform/telemetry/log.js'
import type { BackupSource } from './create.js'
import { makeBackup } from './index.js'
import { countFailuresAfter, findLastSuccess, isAnyRunning } from './store.js'

/** Of a process that is suspended: none of them rings before its work goes on. */
const lateTimers: Timers = { after: () => () => {} }
const minute = 60_000
const day = 24 * 60 * minute
const isBackup = /Z-[0-9a-f]{8}$/

describeEachEngine('a backup whose process was suspended', (engine) => {
  const database = useDatabase(engine)
  let folder: string
  let time: ManualTime
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-lease-'))
    time = new ManualTime()
    await database().run((tx) => tx.deleteFrom('backup_runs').execute())
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param onSecrets called when all but the manifest is stored */
  async function backUp(
    onSecrets: () => Promise<void>,
    { keepMs, clock = time }: { keepMs?: number; clock?: Clock } = {},
  ) {
    const { db, run, file, url } = database()
    const source: BackupSource = {
      database: { file, url },
      dataDir: folder,
      blobs: { get: async () => Readable.from([]) },
      installation: 'one',
      secrets: async () => {
        await onSecrets()
        return { secret: String(time.now()).repeat(4) }
      },
      version: '1.0.0',
    }
    const target = join(folder, 'target')
    return await makeBackup(
      {
        db,
        run,
        source,
        clock,
        timers: lateTimers,
        ids: createIds(time),
        log: await createLog({ level: 'silent' }),
      },
      {
        location: { kind: 'folder', folder: target, label: target },
        passphrase: undefined,
        keepMs,
      },
      new AbortController().signal,
      () => {},
    )
  }
  const namesIn = async (part: string, pattern: RegExp) => {
    const names = await readdir(join(folder, 'target', part), { recursive: true })
    return names.filter((name) => pattern.test(name))
  }
  const backups = () => namesIn('backups', isBackup)

  it('longer than its lease stores nothing, because contents may have been removed', async () => {
    await expect(backUp(async () => time.advance(2 * minute))).rejects.toThrow(
      'The backup was suspended for too long',
    )
    expect(await backups()).toEqual([])
    expect(await findLastSuccess(database().db, { now: time.now() })).toBeUndefined()
    expect(await countFailuresAfter(database().db, '', time.now())).toBe(1)
  })

  it('less than its lease is stored', async () => {
    await backUp(async () => time.advance(minute / 2))
    expect(await backups()).toHaveLength(1)
  })

  it('while another one was made leaves only that one', async () => {
    let made: string | undefined
    const late = backUp(async () => {
      time.advance(2 * minute)
      made = (await backUp(async () => {})).manifest.id
    })
    await expect(late).rejects.toThrow('The backup was suspended for too long')
    const [only = '', ...others] = await backups()
    expect(only.endsWith(made ?? 'none')).toBe(true)
    expect(others).toEqual([])
  })

  it('and had begun with a clock that was ahead keeps neither contents nor later backups', async () => {
    const { db } = database()
    const ahead = new ManualTime(time.now() + 365 * day)
    const never = backUp(
      async () => {
        expect(await isAnyRunning(db, ahead.now())).toBe(true)
        // The clock is put right; the process does not come back.
        expect(await isAnyRunning(db, time.now())).toBe(false)
        await backUp(async () => {})
      },
      { clock: ahead },
    )
    await expect(never).rejects.toThrow('The backup was suspended for too long')
    expect(await backups()).toHaveLength(1)
  })

  it('before it removes old backups and pieces leaves them, because another one may need them', async () => {
    await backUp(async () => {})
    const pieces = () => namesIn('contents', /[0-9a-f]{64}$/)
    const before = await pieces()
    const longAgo = new Date(Date.now() - 100 * day)
    for (const name of before) {
      await utimes(join(folder, 'target', 'contents', name), longAgo, longAgo)
    }
    time.advance(10 * day)
    const manifests = join(folder, 'target', 'backups')
    const suspended: Clock = {
      now() {
        const names = readdirSync(manifests, { recursive: true, encoding: 'utf8' })
        const isStored = names.filter((name) => isBackup.test(name)).length > 1
        return time.now() + (isStored ? 2 * minute : 0)
      },
    }
    await expect(backUp(async () => {}, { keepMs: day, clock: suspended })).rejects.toThrow(
      'The backup was suspended for too long',
    )
    expect(await backups()).toHaveLength(2)
    expect(await pieces()).toEqual(expect.arrayContaining(before))
    // One that is not suspended removes them, so that they were old enough.
    time.advance(5 * minute)
    await backUp(async () => {}, { keepMs: day })
    expect(await pieces()).not.toEqual(expect.arrayContaining(before))
  })
})
