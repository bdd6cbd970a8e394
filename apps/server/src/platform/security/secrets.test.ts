import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../telemetry/log.js'
import { deriveKey, keepSecretFile, loadServerSecret, replaceSecretFile } from './secrets.js'

let root: string
let folders = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'botstead-secrets-'))
})

afterAll(() => rm(root, { recursive: true }))

async function load(
  options: { dataDir?: string; secret?: string; shared?: boolean; hasData?: boolean } = {},
) {
  const lines: string[] = []
  const log = await createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } })
  const dataDir = options.dataDir ?? join(root, `data-${folders++}`)
  const secret = await loadServerSecret({
    dataDir,
    secret: options.secret,
    shared: options.shared ?? false,
    hasData: options.hasData ?? false,
    log,
  })
  return { secret: Buffer.from(secret), dataDir, lines }
}

describe('the server secret', () => {
  it('is made once, for its owner only, and found again', async () => {
    const first = await load()
    const again = await load({ dataDir: first.dataDir })
    expect(again.secret).toEqual(first.secret)
    expect(first.secret.length).toBeGreaterThanOrEqual(32)
    expect((await stat(join(first.dataDir, 'secret'))).mode & 0o777).toBe(0o600)
    expect(await readdir(first.dataDir)).toEqual(['secret'])
    expect((await load()).secret).not.toEqual(first.secret)
  })

  it('is the same for processes that start together', async () => {
    const dataDir = join(root, 'race')
    const all = await Promise.all(Array.from({ length: 20 }, () => load({ dataDir })))
    expect(new Set(all.map(({ secret }) => secret.toString())).size).toBe(1)
    expect(await readdir(dataDir)).toEqual(['secret'])
  })

  it('is the configured one when there is one, and then nothing is written', async () => {
    const configured = await load({ secret: 'a configured secret of 32 letters' })
    expect(configured.secret.toString()).toBe('a configured secret of 32 letters')
    await expect(stat(configured.dataDir)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('stays the same when it moves from the folder into the environment', async () => {
    const made = await load()
    const text = await readFile(join(made.dataDir, 'secret'), 'utf8')
    expect((await load({ secret: text.trim() })).secret).toEqual(made.secret)
  })

  it('is made with a warning beside a database that was used with another one', async () => {
    const made = await load({ hasData: true })
    expect(made.lines).toEqual([expect.stringContaining('there was no secret beside the database')])
    expect((await load({ dataDir: made.dataDir, hasData: true })).lines).toEqual([])
    expect((await load()).lines).toEqual([])
  })

  it('that was cut short stops the start', async () => {
    const { dataDir } = await load()
    await writeFile(join(dataDir, 'secret'), 'abc')
    await expect(load({ dataDir })).rejects.toThrow('is damaged')
  })

  it('draws a warning only when it is generated for a shared database', async () => {
    expect((await load({ shared: true })).lines.join()).toContain('BOTSTEAD_SECRET is not set')
    expect((await load({ shared: true, secret: 's'.repeat(32) })).lines).toEqual([])
    expect((await load()).lines).toEqual([])
  })
})

describe('derived keys', () => {
  it('are fixed per purpose and secret, and differ otherwise', () => {
    const secret = Buffer.from('s'.repeat(32))
    expect(deriveKey(secret, 'page-tokens')).toEqual(deriveKey(secret, 'page-tokens'))
    expect(deriveKey(secret, 'page-tokens')).toHaveLength(32)
    expect(deriveKey(secret, 'page-tokens')).not.toEqual(deriveKey(secret, 'files'))
    expect(deriveKey(secret, 'files')).not.toEqual(deriveKey(Buffer.from('t'.repeat(32)), 'files'))
  })

  it('do not change between releases', () => {
    expect(deriveKey(Buffer.from('botstead'), 'page-tokens').toString('hex')).toMatchInlineSnapshot(
      `"1eb460e89cdba2a1368afc0e819cace7a903f799f89b2d973752e1d4c6df4cd9"`,
    )
  })
})

describe('a secret file', () => {
  it('keeps what was there', async () => {
    const path = join(root, 'admin-token')
    expect(await keepSecretFile(path, () => 'first')).toBe('first')
    expect(await keepSecretFile(path, () => 'second')).toBe('first')
  })

  it('is replaced whole, also by several at once', async () => {
    const path = join(root, 'replaced')
    const all = Array.from({ length: 20 }, (_, i) => `token ${i}`)
    await Promise.all(all.map((content) => replaceSecretFile(path, content)))
    expect(all).toContain((await readFile(path, 'utf8')).trim())
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await readdir(root)).filter((name) => name.startsWith('replaced.'))).toEqual([])
  })
})
