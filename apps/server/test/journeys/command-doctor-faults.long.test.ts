import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { diagnose, failure, warning } from '../doctor.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'
import { useTestS3 } from '../s3/server.js'

describe('botstead doctor about settings', () => {
  it('names misspelt variables, and values that are not safe', async () => {
    await using place = await createCommandPlace()
    const found = await diagnose({
      ...place.environment,
      PORT: String(await freePort()),
      BOTSTEAD_PUBLIC_ULR: 'https://bots.example.com',
      HOST: '0.0.0.0',
      BOTSTEAD_HOSTING: 'trusted',
      BOTSTEAD_METRICS: 'public',
      BOTSTEAD_ALLOWED_NETWORKS: 'any',
      BOTSTEAD_CHAT_SECRET: 'short',
    })
    expect(found.of('settings').map(({ message }) => message.split(/[:,]/)[0])).toEqual([
      'BOTSTEAD_PUBLIC_ULR is not a setting',
      'BOTSTEAD_CHAT_SECRET is shorter than 32 bytes',
      'HOST is 0.0.0.0',
      'BOTSTEAD_METRICS is public',
      'BOTSTEAD_HOSTING is trusted and HOST is 0.0.0.0',
      'BOTSTEAD_ALLOWED_NETWORKS is any',
    ])
    expect(found.of('settings')[0]?.message).toContain('did you mean BOTSTEAD_PUBLIC_URL?')
  })

  it('fails with what is wrong where a value cannot be used', async () => {
    const found = await diagnose({ PORT: 'eighty', BOTSTEAD_ROLES: 'boss' })
    expect(found.of('settings')).toMatchObject([
      failure(/^PORT accepts/),
      failure(/^BOTSTEAD_ROLES/),
    ])
    expect(found.exit).toBe(1)
  })
})

describe('botstead doctor about a database', () => {
  it('fails within its time when PostgreSQL does not respond', async () => {
    await using place = await createCommandPlace()
    const PORT = String(await freePort())
    const away = { ...place.environment, PORT, BOTSTEAD_SECRET: 's'.repeat(32) }
    const closed = await diagnose({
      ...away,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${await freePort()}/x`,
    })
    expect(closed.of('database')).toMatchObject([failure(/cannot be reached: .*ECONNREFUSED/)])
    expect(closed.exit).toBe(1)

    // Takes connections, and never says a word.
    const silent = createNetServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const late = await diagnose({
      ...away,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/x`,
    })
    silent.close()
    expect(late.of('database')).toMatchObject([failure(/cannot be reached: .*timeout/)])
  })

  it('recognises a damaged file, also where only a part of it is damaged', async () => {
    await using place = await createCommandPlace()
    const PORT = String(await freePort())
    const file = join(place.dataDir, 'botstead.db')
    const { size } = await stat(file)
    await truncate(file, Math.floor(size / 2 / 4096) * 4096)
    const cut = await diagnose({ ...place.environment, PORT })
    expect(cut.of('database')).toMatchObject([failure(/is damaged: /)])
    expect(cut.exit).toBe(1)

    await writeFile(file, createHash('sha512').update('no database').digest('hex').repeat(100))
    const garbage = await diagnose({ ...place.environment, PORT })
    expect(garbage.of('database')).toMatchObject([failure(/is damaged: /)])
    expect(garbage.of('database')[0]?.next).toMatch(/restore the last backup/)
  })

  it('reads what a server left in the log when it was killed, and leaves it there', async () => {
    await using place = await createCommandPlace()
    const PORT = String(await freePort())
    const environment = { ...place.environment, PORT }
    const server = await startServerProcess(environment)
    await server.kill()
    const log = join(place.dataDir, 'botstead.db-wal')
    const before = await readFile(log)
    expect(before.length).toBeGreaterThan(0)
    const found = await diagnose(environment)
    expect(found.of('database')).toEqual([])
    expect(found.of('server')).toMatchObject([warning(/^No server runs/)])
    expect((await readFile(log)).equals(before)).toBe(true)
  })
})

describe('botstead doctor about the data folder', () => {
  const isRoot = process.getuid?.() === 0

  it.runIf(isRoot)('fails where a file belongs to another user than the folder', async () => {
    await using place = await createCommandPlace()
    const file = join(place.dataDir, 'botstead.db')
    await chown(file, 65_534, 65_534)
    const found = await diagnose({ ...place.environment, PORT: String(await freePort()) })
    const [first] = found.of('data folder').filter(({ status }) => status === 'failed')
    expect(first).toMatchObject({
      ...failure(/botstead\.db belongs to another user \(65534\) than the folder \(0\)/),
      next: `Run: chown 0 '${file}'`,
    })
    expect(found.exit).toBe(1)
  })

  it.skipIf(isRoot)('fails where this user may not use the folder', async () => {
    await using place = await createCommandPlace()
    await chmod(place.dataDir, 0)
    const found = await diagnose({ ...place.environment, PORT: String(await freePort()) })
    await chmod(place.dataDir, 0o700)
    expect(found.of('data folder')).toMatchObject([failure(/^The user .* may not read and write/)])
    expect(found.of('database')).toMatchObject([failure(/cannot be read/)])
    expect(found.exit).toBe(1)
  })

  it('fails where there is a file in its place', async () => {
    await using place = await createCommandPlace()
    const file = join(place.dataDir, 'file')
    await writeFile(file, '')
    const found = await diagnose({ BOTSTEAD_DATA_DIR: file, PORT: String(await freePort()) })
    expect(found.of('data folder')).toMatchObject([failure(/is a file\.$/)])
    expect(found.exit).toBe(1)
  })
})

describe('botstead doctor about an object store', () => {
  const s3 = useTestS3()

  it('writes, reads and deletes a probe, and reports what refuses it', async () => {
    await using place = await createCommandPlace()
    const PORT = String(await freePort())
    const withStore = (url: string) => ({ ...place.environment, PORT, BOTSTEAD_BLOBS_URL: url })
    const prefix = randomUUID()
    const before = s3().keys()
    const fine = await diagnose(withStore(s3().url({ prefix })))
    expect(fine.of('contents')).toEqual([])
    expect(s3().keys()).toEqual(before)
    const probed = s3().seen.filter(({ key }) => key.includes(`${prefix}/doctor-`))
    expect(probed.map(({ method }) => method)).toEqual(['PUT', 'GET', 'DELETE'])
    const clock = fine.checks.find(({ check }) => check === 'clock')
    expect(clock).toMatchObject({ status: 'ok', message: expect.stringContaining('object store') })

    const refused = await diagnose(withStore(s3().url({ secret: 'wrong' })))
    expect(refused.of('contents')).toMatchObject([failure(/refuses the credentials/)])
    expect(refused.exit).toBe(1)
    const missing = await diagnose(withStore(s3().url({ bucket: 'nothing' })))
    expect(missing.of('contents')).toMatchObject([failure(/There is no bucket nothing/)])

    s3().fault = ({ method }, response) => {
      if (method !== 'PUT') return undefined
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return 'handled'
    }
    const readOnly = await diagnose(withStore(s3().url()))
    s3().fault = undefined
    expect(readOnly.of('contents')).toMatchObject([failure(/may not use the bucket/)])
  })
})
