import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@botpress/client'
import { expect, it } from 'vitest'
import { succeed } from '../backups.js'
import { createCommandPlace } from '../command-place.js'
import { readDocument } from '../documents.js'
import { waitFor, waitUntil } from '../patience.js'
import { startServerProcess } from '../processes.js'

const token = 'the-token-of-the-first-account'
const isHere = spawnSync('litestream', ['version']).error === undefined

it.skipIf(!isHere)(
  `Litestream, configured as in the guide, restores any moment${isHere ? '' : ' (skipped: no litestream here)'}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-litestream-'))
    await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token }
    const database = join(place.dataDir, 'botstead.db')
    const config = join(folder, 'litestream.yml')
    await writeFile(config, await configurationOfGuide(database, join(folder, 'copies')))
    await using litestream = replicate(config)

    /** Restores the newest state, or that of a moment, and starts a server on it. */
    let restores = 0
    const restore = async (moment?: Date) => {
      restores += 1
      const dataDir = join(folder, `restored-${restores}`)
      await mkdir(dataDir, { mode: 0o700 })
      const file = join(dataDir, 'botstead.db')
      const until = moment === undefined ? [] : ['-timestamp', moment.toISOString()]
      const words = ['restore', '-config', config, ...until, '-o', file, database]
      await promisify(execFile)('litestream', words)
      await copyFile(join(place.dataDir, 'secret'), join(dataDir, 'secret'))
      return { ...environment, BOTSTEAD_DATA_DIR: dataDir }
    }
    const namesIn = async (restored: Record<string, string>) => {
      await using server = await startServerProcess(restored)
      return await namesAt(server.url)
    }
    const untilCopied = (names: string[]) =>
      waitFor(async () => expect(await namesIn(await restore())).toEqual(names), {
        timeout: 20_000,
        interval: 500,
      })

    let server = await startServerProcess(environment)
    await createBot(server.url, 'first')
    await untilCopied(['first'])
    const moment = new Date()
    // Files have the time of the last tick of the system clock.
    await waitUntil(() => Date.now() > moment.getTime() + 50)
    await createBot(server.url, 'second')
    await untilCopied(['first', 'second'])
    // The server checkpoints its log when it stops.
    expect(await server.stop()).toBe(0)
    server = await startServerProcess(environment)
    await createBot(server.url, 'third')
    await untilCopied(['first', 'second', 'third'])
    await server.kill()
    expect(litestream.child.exitCode).toBeNull()

    expect(await namesIn(await restore(moment))).toEqual(['first'])
    // The additions of Litestream to the database do not disturb the server.
    const newest = await restore()
    const backups = join(folder, 'backups')
    await succeed(['backup', backups, '--no-encryption'], newest)
    await succeed(['backup', 'verify', backups], newest)
  },
)

/** The configuration of the guide, with other places. */
async function configurationOfGuide(database: string, copies: string): Promise<string> {
  const [, text = ''] =
    /```yaml\n(\s*dbs:.*?)```/s.exec(await readDocument('docs/guides/backup.md')) ?? []
  expect(text).toContain('/var/lib/botstead/botstead.db')
  return text
    .replace('/var/lib/botstead/botstead.db', database)
    .replace(/s3:\/\/\S+/, pathToFileURL(copies).href)
}

function replicate(config: string) {
  const child = spawn('litestream', ['replicate', '-config', config], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  }
}

async function adminAt(apiUrl: string): Promise<Client> {
  const { workspaces } = await new Client({ apiUrl, token }).listWorkspaces({})
  return new Client({ apiUrl, token, workspaceId: workspaces[0]?.id ?? '' })
}

async function createBot(apiUrl: string, name: string): Promise<void> {
  await (await adminAt(apiUrl)).createBot({ name })
}

async function namesAt(apiUrl: string): Promise<string[]> {
  const { bots } = await (await adminAt(apiUrl)).listBots({})
  return bots.map(({ name = '' }) => name).toSorted()
}
