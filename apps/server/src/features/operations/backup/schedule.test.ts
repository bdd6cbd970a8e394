import { readdir, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import {
  type BackupBench,
  createBackupBench,
  environmentOf,
  fail,
  succeed,
} from '../../../../test/backups.js'
import { createCommandPlace } from '../../../../test/command-place.js'
import { describeSlow } from '../../../../test/engines.js'
import { startTestServer } from '../../../../test/harness.js'
import { startServerProcess } from '../../../../test/processes.js'

const day = 24 * 60 * 60 * 1000

async function backupsIn(target: string): Promise<string[]> {
  const names = await readdir(join(target, 'backups'), { recursive: true }).catch(() => [])
  return names.filter((name) => /\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(name))
}

/** Start of a backup, in milliseconds since the Unix epoch. */
function idTime(path: string): number {
  const text = basename(path).replace(/^(....)(..)(..)T(..)(..)(..)Z-.*$/, '$1-$2-$3T$4:$5:$6Z')
  return Date.parse(text)
}

function settingsOf(bench: BackupBench): Record<string, string> {
  return {
    BOTSTEAD_BACKUP_TARGET: join(bench.folder, 'target'),
    BOTSTEAD_BACKUP_PASSPHRASE_FILE: bench.passphraseFile,
    BOTSTEAD_BACKUP_SCHEDULE: '6h',
    BOTSTEAD_BACKUP_KEEP: '2d',
  }
}

describeSlow('backups by a setting', (engine) => {
  it('are made at intervals, seen in metrics, and removed when they are old', async () => {
    await using bench = await createBackupBench()
    const target = join(bench.folder, 'target')
    const server = await startTestServer(engine, {
      BOTSTEAD_DATA_DIR: join(bench.folder, 'data'),
      ...settingsOf(bench),
    })
    try {
      await vi.waitFor(async () => expect(await backupsIn(target)).toHaveLength(1))
      const [oldest = ''] = await backupsIn(target)
      await server.pass(6 * 60 * 60 * 1000)
      await vi.waitFor(async () => expect(await backupsIn(target)).toHaveLength(2))
      await vi.waitFor(async () => {
        const metrics = await (await server.fetch('/metrics')).text()
        expect(metrics).toMatch(/^botstead_backup_last_success_timestamp_seconds [1-9]/m)
        expect(metrics).toMatch(/^botstead_backup_failures 0$/m)
        expect(metrics).toMatch(/^botstead_backup_running 0$/m)
      })
      const pieces = await readdir(join(target, 'contents'), { recursive: true })
      const longAgo = new Date(Date.now() - 10 * day)
      for (const name of pieces) await utimes(join(target, 'contents', name), longAgo, longAgo)
      await server.pass(3 * day)
      await vi.waitFor(async () => expect(await backupsIn(target)).toHaveLength(1))
      expect(await backupsIn(target)).not.toContain(oldest)
      // Nothing that the remaining backup needs is gone.
      await vi.waitFor(async () => {
        const { jobs } = await server.client().listJobs({ kind: 'server.backup' })
        expect(jobs.map(({ state }) => state)).toEqual(['waiting'])
      })
      const words = ['backup', 'verify', target, '--passphrase-file', bench.passphraseFile]
      // The clock of the server is ahead: which backup is the newest is not known.
      expect(await fail(words, environmentOf(server))).toContain('is from the future')
      const [left = ''] = await backupsIn(target)
      await succeed([...words, '--backup', basename(left)], environmentOf(server))
    } finally {
      await server.close()
    }
  })

  it('go on after a start with a clock that was a year ahead', async () => {
    await using bench = await createBackupBench()
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settingsOf(bench) }
    const target = join(bench.folder, 'target')
    const ahead = await startTestServer(engine, environment)
    const untilMadeAfter = (time: number) =>
      vi.waitFor(async () => {
        const { jobs } = await ahead.client().listJobs({ kind: 'server.backup' })
        expect(jobs.map(({ state }) => state)).toEqual(['waiting'])
        const newest = Math.max(...(await backupsIn(target)).map(idTime))
        expect(newest).toBeGreaterThan(time)
      })
    try {
      await untilMadeAfter(0)
      ahead.clock.advance(365 * day)
      await untilMadeAfter(Date.now() + 300 * day)
    } finally {
      await ahead.close()
    }
    await using server = await startServerProcess(environment)
    const { token, workspaceId } = ahead
    const client = createClient({ baseUrl: server.url, token, workspaceId })
    await vi.waitFor(async () => {
      const { jobs } = await client.listJobs({ kind: 'server.backup' })
      expect(Date.parse(jobs[0]?.nextRunAt ?? '')).toBeLessThanOrEqual(Date.now() + day)
    })
    // It alerts when the last one gets old.
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    const [, seconds] =
      /^botstead_backup_last_success_timestamp_seconds (\S+)$/m.exec(metrics) ?? []
    expect(Number(seconds) * 1000).toBeLessThan(Date.now())
    expect(await server.stop()).toBe(0)
  })

  it('that fail are logged with the reason, counted and tried again', async () => {
    await using bench = await createBackupBench()
    const settings = { ...settingsOf(bench), BOTSTEAD_BACKUP_TARGET: '/dev/null/backups' }
    const server = await startTestServer(engine, {
      BOTSTEAD_DATA_DIR: join(bench.folder, 'data'),
      ...settings,
    })
    try {
      await vi.waitFor(async () => {
        const { jobs } = await server.client().listJobs({ kind: 'server.backup' })
        expect(jobs[0]).toMatchObject({ state: 'waiting', attempts: 1 })
        expect(jobs[0]?.lastError).toContain('ENOTDIR')
      })
      const metrics = await (await server.fetch('/metrics')).text()
      expect(metrics).toMatch(/^botstead_backup_failures 1$/m)
      expect(metrics).toMatch(/^botstead_backup_last_success_timestamp_seconds 0$/m)
    } finally {
      await server.close()
    }
  })
})

describeSlow('backups of several processes', (engine) => {
  it.skipIf(engine.name === 'sqlite')('are made by one of them', async () => {
    await using bench = await createBackupBench()
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settingsOf(bench) }
    const target = join(bench.folder, 'target')
    {
      await using one = await startServerProcess(environment)
      await using other = await startServerProcess(environment)
      await vi.waitFor(async () => expect(await backupsIn(target)).toHaveLength(1))
      expect(await one.stop()).toBe(0)
      expect(await other.stop()).toBe(0)
      const made = `${one.output()}${other.output()}`.match(/backup made/g)
      expect(made).toHaveLength(1)
    }
    expect(await backupsIn(target)).toHaveLength(1)
  })
})
