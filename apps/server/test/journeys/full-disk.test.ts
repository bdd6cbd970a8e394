import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { settle } from '../tenant.js'

const megabyte = 1024 * 1024
const dataDir = mkdtempSync(join(tmpdir(), 'botstead-full-'))
const blobs = join(dataDir, 'blobs')

/** A small disk of its own for contents; only the superuser of Linux can make one. */
function mountSmallDisk(): boolean {
  mkdirSync(blobs)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', blobs], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isMounted = mountSmallDisk()

describe.skipIf(!isMounted)('a full disk', () => {
  let server: TestServer
  beforeAll(async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: dataDir })
  })
  afterAll(async () => {
    await server.close()
    execFileSync('umount', [blobs])
    rmSync(dataDir, { recursive: true, force: true })
  })

  it.each([
    ['whole', 'PUT', {}],
    [
      'in parts',
      'PATCH',
      {
        'tus-resumable': '1.0.0',
        'upload-offset': '0',
        'content-type': 'application/offset+octet-stream',
      },
    ],
  ])(
    'refuses a content sent %s, keeps nothing of it and takes it later',
    async (_, method, headers) => {
      const client = server.client(await settle(server, server))
      const { file: large } = await client.upsertFile({ key: 'large', size: 6 * megabyte })
      const response = await fetch(large.uploadUrl, {
        method,
        headers,
        body: Buffer.alloc(6 * megabyte, 1),
      })
      expect(response.status).toBe(507)
      expect(await response.json()).toMatchObject({
        code: 507,
        type: 'Internal',
        message: expect.stringContaining('no room left'),
      })
      expect((await client.getFile({ id: large.id })).file.status).toBe('upload_pending')

      const { file: small } = await client.upsertFile({ key: 'small', size: 2 * megabyte })
      const content = Buffer.alloc(2 * megabyte, method)
      const accepted = await fetch(small.uploadUrl, { method, headers, body: content })
      expect(accepted.ok).toBe(true)
      const { url } = (await client.getFile({ id: small.id })).file
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)
      await client.deleteFile({ id: small.id })
      await expect.poll(async () => await freeMegabytes(), { timeout: 5000 }).toBeGreaterThan(2.5)
    },
  )
})

async function freeMegabytes(): Promise<number> {
  const [, line = ''] = execFileSync('df', ['-k', blobs], { encoding: 'utf8' }).split('\n')
  return Number(line.split(/\s+/)[3]) / 1024
}
