import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestEngine } from './engines.js'

const secret = 'the secret that all processes share'

/** The data of one or several processes of the command. */
export interface CommandPlace extends AsyncDisposable {
  dataDir: string
  /** The settings that name the place. */
  environment: Record<string, string>
}

/** An empty data folder and, with PostgreSQL, an empty database. */
export async function createCommandPlace(engine?: TestEngine): Promise<CommandPlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-command-'))
  const place = engine?.name === 'postgres' ? await engine.createPlace() : undefined
  const url = place?.options.url
  return {
    dataDir,
    environment: {
      BOTSTEAD_DATA_DIR: dataDir,
      ...(url !== undefined && { DATABASE_URL: url, BOTSTEAD_SECRET: secret }),
    },
    async [Symbol.asyncDispose]() {
      await place?.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
