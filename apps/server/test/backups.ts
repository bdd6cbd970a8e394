import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { expect } from 'vitest'
import type { TestEngine } from './engines.js'
import { startTestServer, type TestServer } from './harness.js'
import { runCommand } from './processes.js'
import { settle, type Tenant, untilIndexed, uploadText } from './tenant.js'

/** A folder for targets and restores of one test file, with a passphrase. */
export interface BackupBench extends AsyncDisposable {
  folder: string
  passphraseFile: string
  /** An empty place to restore to, with the settings that name it. */
  createPlace(engine: TestEngine): Promise<{ dataDir: string; environment: Record<string, string> }>
}

export async function createBackupBench(): Promise<BackupBench> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-backups-'))
  const passphraseFile = join(folder, 'passphrase')
  await writeFile(passphraseFile, 'correct horse battery staple\n')
  const removals: (() => Promise<void>)[] = []
  return {
    folder,
    passphraseFile,
    async createPlace(engine) {
      const dataDir = await mkdtemp(join(folder, 'restored-'))
      if (engine.name === 'sqlite') {
        return { dataDir, environment: { BOTSTEAD_DATA_DIR: dataDir } }
      }
      const place = await engine.createPlace()
      removals.push(place.remove)
      const environment = {
        BOTSTEAD_DATA_DIR: dataDir,
        DATABASE_URL: place.options.url ?? '',
      }
      return { dataDir, environment }
    },
    async [Symbol.asyncDispose]() {
      for (const remove of removals) await remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The settings with which a command works on the data of a server. */
export function environmentOf({ server }: TestServer): Record<string, string> {
  const { dataDir, databaseUrl } = server.config
  return {
    BOTSTEAD_DATA_DIR: dataDir,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
}

/** Runs a command that must succeed; returns what it printed. */
export async function succeed(
  words: readonly string[],
  environment: Record<string, string>,
): Promise<{ stdout: string; stderr: string }> {
  const result = await runCommand(words, environment)
  if (result.status === 0) return result
  throw new Error(`${words.join(' ')} ended with ${result.status}: ${result.stderr}`)
}

/** Runs a command that must fail; returns its errors. */
export async function fail(
  words: readonly string[],
  environment: Record<string, string>,
): Promise<string> {
  const { status, stdout, stderr } = await runCommand(words, environment)
  if (status === 1) return stderr
  throw new Error(`${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
}

/** More than one piece of a backup. */
export const large = randomBytes(5_000_000)

/** A server with files of three sizes and one that can be searched, and an encrypted backup of it. */
export async function startBackedUpServer(engine: TestEngine, bench: BackupBench) {
  const server = await startTestServer(engine, { BOTSTEAD_DATA_DIR: join(bench.folder, 'data') })
  const tenant = await settle(server, server)
  const target = join(bench.folder, 'target')
  const encrypted = ['--passphrase-file', bench.passphraseFile]
  const { runtimeOf, upload } = fileCalls(() => ({ ...tenant, url: server.url }))
  const sizes = { large: large.length, medium: 50_000, small: 500 }
  for (const [key, size] of Object.entries(sizes)) await upload(key, large.subarray(0, size))
  await uploadText(runtimeOf(), 'guide.md', '# Zebras\n\nThe zebra eats grass.', true)
  await untilIndexed(runtimeOf(), 'guide.md')
  await succeed(['backup', target, ...encrypted], environmentOf(server))
  return { server, tenant, target, encrypted }
}

/** Calls of a bot at its server, and at one to which a backup was restored. */
export function fileCalls(bot: () => Tenant & { url: string }) {
  const runtimeOf = (baseUrl = bot().url) => {
    const { botKey: token, botId, workspaceId } = bot()
    return createClient({ baseUrl, token, botId, workspaceId })
  }
  return {
    runtimeOf,
    async upload(key: string, content: Buffer): Promise<string> {
      const { file } = await runtimeOf().upsertFile({ key, size: content.length })
      const sent = await fetch(file.uploadUrl, { method: 'PUT', body: content })
      expect(sent.ok).toBe(true)
      return file.id
    },
    async download(baseUrl: string, key: string): Promise<Buffer> {
      const { file } = await runtimeOf(baseUrl).getFile({ id: key })
      const { pathname, search } = new URL(file.url)
      return Buffer.from(await (await fetch(`${baseUrl}${pathname}${search}`)).arrayBuffer())
    },
  }
}
