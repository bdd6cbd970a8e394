import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { succeed } from '../backups.js'
import { type CommandPlace, createCommandPlace } from '../command-place.js'
import { diagnose, failure, warning } from '../doctor.js'
import { describeEachEngine } from '../engines.js'
import { registered, startHostileProvider } from '../identity-provider.js'
import { ownCertificateFile, startMailServer } from '../mail-server.js'
import { freePort } from '../ports.js'
import { runCommand, startServerProcess } from '../processes.js'

describeEachEngine('botstead doctor', (engine) => {
  let place: CommandPlace
  let PORT: string
  let environment: Record<string, string>
  beforeAll(async () => {
    place = await createCommandPlace(engine)
    PORT = String(await freePort())
    environment = { ...place.environment, PORT, BOTSTEAD_ADMIN_TOKEN: `bp_pat_${'t'.repeat(43)}` }
    // The first start makes the folder what it is.
    const server = await startServerProcess(environment)
    expect(await server.stop()).toBe(0)
  })
  afterAll(async () => await place[Symbol.asyncDispose]())

  /** Changes the database, which no server uses meanwhile. */
  async function change(...statements: string[]): Promise<void> {
    await using database = await openDatabase(place.options)
    await database.run(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx)
    })
  }

  it('finds nothing wrong while the server runs, but that there is no backup', async () => {
    const server = await startServerProcess({
      ...environment,
      BOTSTEAD_PUBLIC_URL: `http://127.0.0.1:${PORT}`,
    })
    const found = await diagnose({ ...environment, BOTSTEAD_PUBLIC_URL: server.url })
    expect(await server.stop()).toBe(0)
    // The PostgreSQL of a test may lack an extension, which the server does without.
    const unusual = found.checks.filter(
      ({ status, message }) => status !== 'ok' && !message.startsWith('The part "vectors"'),
    )
    expect(unusual).toEqual([
      expect.objectContaining({ check: 'backups', ...warning(/^There is no backup/) }),
    ])
    expect(found.exit).toBe(0)
    expect([...new Set(found.checks.map(({ check }) => check))]).toEqual([
      'version',
      'settings',
      'data folder',
      'clock',
      'database',
      'contents',
      'server',
      'public address',
      'jobs',
      'deliveries',
      'backups',
      'mail',
      'single sign-on',
      'passkeys',
    ])
    const running = found.checks.find(({ check }) => check === 'server')
    expect(running?.message).toMatch(/^It runs at .*, version \d.*, and is ready$/)
    const address = found.checks.find(({ check }) => check === 'public address')
    expect(address?.message).toBe(`${server.url} leads to this server`)
  })

  it('says that a server does not run, and changes no file', async () => {
    const before = await filesOf(place.dataDir)
    const found = await diagnose(environment)
    expect(found.of('server')).toMatchObject([warning(/^No server runs: nothing responds at/)])
    expect([found.exit, found.status]).toEqual([0, 'warning'])
    expect(await filesOf(place.dataDir)).toEqual(before)
  })

  /** Waits until a process has noted its address, which it does beside its first responses. */
  const untilNoted = (pid: number | undefined) =>
    vi.waitFor(async () => {
      const note = await readFile(join(place.dataDir, 'server.address'), 'utf8')
      expect(JSON.parse(note)).toMatchObject({ pid })
    })

  it('finds a server that listens elsewhere than these settings say', async () => {
    const elsewhere = String(await freePort())
    await using server = await startServerProcess({
      ...environment,
      PORT: elsewhere,
      BOTSTEAD_PUBLIC_URL: 'https://bots.example.com',
    })
    await untilNoted(server.child.pid)
    const found = await diagnose(environment)
    const [running] = found.checks.filter(({ check }) => check === 'server')
    expect(running).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(`^It runs at ${server.url}, version .*, and is ready$`),
    })
    expect(found.of('server')).toContainEqual(
      expect.objectContaining(
        warning(`^The server listens at ${server.url}, but these settings say .*:${PORT}\\.$`),
      ),
    )
    expect(found.exit).toBe(0)
    // Without a port of its own a command has nothing to compare.
    const any = await diagnose({ ...environment, PORT: '0' })
    expect(any.of('server').map(({ message }) => message)).not.toContainEqual(
      expect.stringContaining('these settings say'),
    )
  })

  it('says that the server on the folder does not respond, and later that it was killed', async () => {
    const elsewhere = String(await freePort())
    await using server = await startServerProcess({ ...environment, PORT: elsewhere })
    await untilNoted(server.child.pid)
    server.child.kill('SIGSTOP')
    const stuck = await diagnose(environment)
    expect(stuck.of('server')).toMatchObject([
      failure(
        `^The server of this folder listens at ${server.url} \\(process ${server.child.pid}\\), but does not respond`,
      ),
    ])
    expect(stuck.exit).toBe(1)
    await server.kill()
    const killed = await diagnose(environment)
    expect(killed.of('server')).toMatchObject([
      warning(
        `^No server runs: .* The last one, process ${server.child.pid} at ${server.url}, was killed`,
      ),
    ])
    // The next one replaces the note, and removes it when it stops.
    const next = await startServerProcess(environment)
    expect(await next.stop()).toBe(0)
    expect((await diagnose(environment)).of('server')[0]?.message).not.toContain('The last one')
  })

  it('prints a line for each check, with what to do', async () => {
    const { status, stdout } = await runCommand(['doctor'], environment)
    expect(status).toBe(0)
    expect(stdout).toMatch(/^ok {7}version {9}Botstead \d/)
    expect(stdout).toMatch(/\nWARNING {2}backups {9}There is no backup\.\n {25}→ Make one with/)
    expect(stdout).toMatch(/\n\n0 failed, \d warnings\.\n$/)
  })

  it('reports dead jobs, receivers that fail, and what has waited for long', async () => {
    const long = '2020-01-01T00:00:00.000Z'
    await change(
      `insert into jobs (id, kind, key, payload, state, priority, due_at, attempts, max_attempts,
         deadline_milliseconds, claims, interruptions, last_error, created_at, updated_at)
       values ('job_dead', 'files.index', 'k', '{}', 'dead', 1, null, 5, 5, 1000, 5, 0, 'it broke', '${long}', '${long}'),
         ('job_late', 'files.index', 'l', '{}', 'waiting', 1, '${long}', 0, 5, 1000, 0, 0, null, '${long}', '${long}')`,
      `insert into delivery_receivers (bot_id, integration, failures, failing_since, paused, paused_at, reason, releasing)
       values ('bot_1', '', 7, '${long}', 'failures', '${long}', 'connection refused', 0)`,
    )
    try {
      const found = await diagnose(environment)
      expect(found.of('jobs')).toMatchObject([
        warning(/^1 job is dead, the last: files\.index job_dead: it broke$/),
        warning(/^A job has been due for \d+ days/),
      ])
      expect(found.of('deliveries')).toMatchObject([
        warning(
          /^1 bot or integration does not receive deliveries: bot_1, paused by failures \(connection refused\)$/,
        ),
      ])
      expect(found.exit).toBe(0)
    } finally {
      await change(
        `delete from jobs where id in ('job_dead', 'job_late')`,
        `delete from delivery_receivers where bot_id = 'bot_1'`,
      )
    }
  })

  it('judges the age of the last backup by the schedule', async () => {
    const target = join(place.dataDir, '..', `doctor-${randomUUID()}`)
    const scheduled = {
      ...environment,
      BOTSTEAD_BACKUP_TARGET: target,
      BOTSTEAD_BACKUP_ENCRYPTION: 'off',
    }
    const insert = (days: number) => {
      const at = new Date(Date.now() - days * 86_400_000).toISOString()
      return change(
        'delete from backup_runs',
        `insert into backup_runs (id, owner, target, state, started_at, lease_until, ended_at)
         values ('b', 'o', '${target}', 'succeeded', '${at}', '${at}', '${at}')`,
      )
    }
    await succeed(['backup', target, '--no-encryption'], environment)
    await insert(1)
    expect((await diagnose(scheduled)).of('backups')).toEqual([])
    await insert(4)
    expect((await diagnose(scheduled)).of('backups')).toMatchObject([warning(/is 4 days old\.$/)])
    await insert(30)
    const found = await diagnose(scheduled)
    expect(found.of('backups')).toMatchObject([
      failure(/is 30 days old, although one is due every/),
    ])
    expect(found.exit).toBe(1)
    await rm(target, { recursive: true })
    await change('delete from backup_runs')
  })

  it('looks for the backups where they were stored, and whether the passphrase opens them', async () => {
    const target = join(place.dataDir, '..', `doctor-${randomUUID()}`)
    const file = `${target}-passphrase`
    await writeFile(file, 'correct horse battery staple\n', { mode: 0o600 })
    const scheduled = {
      ...environment,
      BOTSTEAD_BACKUP_TARGET: target,
      BOTSTEAD_BACKUP_PASSPHRASE_FILE: file,
    }
    await succeed(['backup'], scheduled)
    expect((await diagnose(scheduled)).of('backups')).toEqual([])
    await chmod(file, 0o644)
    await chmod(target, 0o777)
    expect((await diagnose(scheduled)).of('backups')).toMatchObject([
      warning(/^Others may read \S+-passphrase, which has the passphrase/),
      warning(/^Others may write to \S+, and remove the backups/),
    ])
    await writeFile(file, 'another horse battery staple\n')
    const locked = await diagnose(scheduled)
    expect(locked.of('backups')).toMatchObject([failure(/The passphrase does not open/)])
    expect(locked.exit).toBe(1)
    // As where the disk is not mounted.
    await rm(target, { recursive: true })
    await mkdir(target)
    const lost = await diagnose(scheduled)
    expect(lost.of('backups')).toMatchObject([failure(/^There are no backups in .* any more/)])
    expect(await readdir(target)).toEqual([])
    await rm(target, { recursive: true })
    await rm(file)
    await change('delete from backup_runs')
  })

  it('refuses a database of a newer release, and does not migrate one of an earlier', async () => {
    await change(`insert into migrations values ('9999-later', '2020-01-01T00:00:00.000Z')`)
    const newer = await diagnose(environment)
    expect(newer.of('database')).toMatchObject([failure(/newer release, which added 9999-later/)])
    expect(newer.exit).toBe(1)
    const [last] = await namesOfMigrations()
    expect(last).toBe('9999-later')
    await change(`delete from migrations where name = '9999-later'`)

    const [own = ''] = await namesOfMigrations()
    await change(`delete from migrations where name = '${own}'`)
    const earlier = await diagnose(environment)
    expect(earlier.of('database')).toMatchObject([
      warning(/of an earlier release: it lacks \d{4}-[a-z-]+\. Jobs/),
    ])
    expect(await namesOfMigrations()).not.toContain(own)
    await change(`insert into migrations values ('${own}', '2020-01-01T00:00:00.000Z')`)
  })

  async function namesOfMigrations(): Promise<string[]> {
    await using database = await openDatabase(place.options)
    const query = sql<{ name: string }>`select name from migrations order by name desc`
    return (await query.execute(database.db)).rows.map(({ name }) => name)
  }

  it('notices a clock that was set back', async () => {
    const [name] = await namesOfMigrations()
    const future = new Date(Date.now() + 10 * 86_400_000).toISOString()
    await change(`update migrations set applied_at = '${future}' where name = '${name}'`)
    const found = await diagnose(environment)
    expect(found.of('clock')).toMatchObject([
      failure(/10 days behind that of the last upgrade of the database/),
    ])
    await change(
      `update migrations set applied_at = '2020-01-01T00:00:00.000Z' where name = '${name}'`,
    )
  })

  it('tells a wrong public address from the right one', async () => {
    await using _ = await startServerProcess(environment)
    await using page = await serve((_, response) => response.end('<html>'))
    await using other = await serve((_, response) =>
      response.end(JSON.stringify({ status: 'ok', instance: '0000000000000000' })),
    )
    await using moved = await serve((_, response) =>
      response.writeHead(301, { location: 'https://bots.example.com/' }).end(),
    )
    const closed = `http://127.0.0.1:${await freePort()}`
    const addressFor = async (url: string) => {
      const found = await diagnose({ ...environment, BOTSTEAD_PUBLIC_URL: url })
      expect(found.exit).toBe(1)
      return found.of('public address')
    }
    expect(await addressFor(page.url)).toMatchObject([
      failure(/returns 200, which is not the response of a Bot/),
    ])
    expect(await addressFor(other.url)).toMatchObject([failure(/leads to another installation/)])
    expect(await addressFor(moved.url)).toMatchObject([failure(/redirects to https:\/\/bots\.ex/)])
    expect(await addressFor(closed)).toMatchObject([failure(/cannot be reached: .*ECONNREFUSED/)])
    expect((await addressFor(closed))[0]?.next).toMatch(/^Check the proxy/)
  })

  it('finds another program where the server should be', async () => {
    await using other = await serve((_, response) => response.end('hello'))
    const found = await diagnose({ ...environment, PORT: new URL(other.url).port })
    expect(found.of('server')).toMatchObject([failure(/another program responds there/)])
    expect(found.exit).toBe(1)
  })

  it('reports files that others may read, and a damaged secret', async () => {
    const secret = join(place.dataDir, 'secret')
    const before = await readFile(secret, 'utf8').catch(() => undefined)
    await writeFile(secret, 'short\n')
    await chmod(secret, 0o644)
    try {
      const { BOTSTEAD_SECRET: _, ...without } = environment
      const found = await diagnose(without)
      expect(found.of('data folder')).toMatchObject([
        { ...warning(/^Others may read or write .*secret/), next: `Run: chmod 600 '${secret}'` },
        failure(/^The secret in .* is damaged/),
      ])
      expect(found.exit).toBe(1)
    } finally {
      if (before === undefined) await rm(secret)
      else await writeFile(secret, before)
      await chmod(secret, 0o600).catch(() => undefined)
    }
  })

  it('says so while a restore has not ended', async () => {
    const marker = join(place.dataDir, 'restoring')
    await writeFile(marker, '20260101T000000Z-00000000\n', { mode: 0o600 })
    const found = await diagnose(environment)
    expect(found.of('data folder')).toMatchObject([failure(/^The restore of the backup 2026/)])
    await rm(marker)
  })

  it('says whether the mail server can be used, with its certificate', async () => {
    await using mails = await startMailServer({ disabledCommands: [] })
    const withMail = {
      ...environment,
      BOTSTEAD_SMTP_URL: `smtp://localhost:${mails.port}?tls=required`,
      BOTSTEAD_MAIL_FROM: 'bots@example.com',
    }
    const stranger = await diagnose(withMail)
    expect(stranger.of('mail')).toMatchObject([failure(/did not prove its identity/)])
    const NODE_EXTRA_CA_CERTS = ownCertificateFile
    const known = await diagnose({ ...withMail, NODE_EXTRA_CA_CERTS })
    expect(known.of('mail')).toEqual([])
    expect(mails.mails).toEqual([])
  })

  it('says whether the provider of single sign-on can be used', async () => {
    await using provider = await startHostileProvider()
    const withProvider = {
      ...environment,
      BOTSTEAD_OIDC_ISSUER: provider.issuer,
      BOTSTEAD_OIDC_CLIENT_ID: registered.clientId,
    }
    expect((await diagnose(withProvider)).of('single sign-on')).toEqual([])
    const withNewcomers = {
      ...withProvider,
      BOTSTEAD_OIDC_DOMAINS: 'example.com',
      BOTSTEAD_OIDC_WORKSPACE: 'wkspace_gone',
    }
    expect((await diagnose(withNewcomers)).of('single sign-on')).toMatchObject([
      failure(/There is no workspace wkspace_gone/),
    ])
    provider.metadata = { issuer: 'https://evil.example' }
    expect((await diagnose(withProvider)).of('single sign-on')).toMatchObject([
      failure(/was not accepted/),
    ])
    await provider[Symbol.asyncDispose]()
    expect((await diagnose(withProvider)).of('single sign-on')).toMatchObject([
      failure(/does not respond/),
    ])
  })

  it('says where passkeys work, and that people have some for another address', async () => {
    const at = async (BOTSTEAD_PUBLIC_URL: string) => {
      const { checks } = await diagnose({ ...environment, BOTSTEAD_PUBLIC_URL })
      return checks.filter(({ check }) => check === 'passkeys')
    }
    const ok = (message: string) => [{ check: 'passkeys', status: 'ok', message }]
    const origin = `http://localhost:${PORT}`
    expect(await at(origin)).toEqual(ok(`they work at ${origin}`))
    const numeric = `http://127.0.0.1:${PORT}`
    expect(await at(numeric)).toMatchObject(ok(expect.stringMatching(/^none: browsers/)))
    await change(
      `insert into passkeys (id, account_id, credential_id, public_key, counter, transports, host, name, is_syncable, is_backed_up, created_at)
        select 'passkey_1', id, 'a', 'a', 0, '[]', 'old.example.com', 'Laptop', 0, 0, created_at from accounts limit 1`,
    )
    const lost = /for other addresses \(1 for old.example.com\): only those for localhost work/
    expect(await at(origin)).toMatchObject([warning(lost)])
    expect(await at(numeric)).toMatchObject([warning(/: none work at http:\/\/127/)])
    await change(`update passkeys set host = 'localhost'`)
    expect(await at(origin)).toEqual(ok(`they work at ${origin}`))
  })
})

/** Names, sizes, times and permissions of all files of a folder. */
async function filesOf(folder: string) {
  const names = await readdir(folder, { recursive: true })
  const found = await Promise.all(
    names.sort().map(async (name) => {
      const { size, mode, mtimeMs } = await stat(join(folder, name))
      return { name, size, mode, mtimeMs }
    }),
  )
  return found
}

/** Serves one response to everything, at a free port. */
async function serve(respond: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
