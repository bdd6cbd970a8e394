import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { DatabaseOptions } from '../src/platform/db/open.js'
import type { TestEngine } from './engines.js'

const secret = 'the secret that all processes share'

/** The data folder and database that one or several processes of the command use. */
export interface CommandPlace extends AsyncDisposable {
  dataDir: string
  /** The settings that name the place. */
  environment: Record<string, string>
  /** Its database. */
  options: DatabaseOptions
}

/**
 * Makes a data folder and, with PostgreSQL, a database.
 * @param options.isEmpty whether the first start has to create the tables; otherwise there are all
 * tables without rows
 */
export async function createCommandPlace(
  engine?: TestEngine,
  { isEmpty = false } = {},
): Promise<CommandPlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-command-'))
  const place = engine?.name === 'postgres' ? await engine.createPlace(!isEmpty) : undefined
  const url = place?.options.url
  const file = join(dataDir, 'botstead.db')
  if (url === undefined && !isEmpty) {
    await copyFile(inject('migratedFile'), file)
    // A database without its secret is one that has lost it, of which a start warns.
    await writeFile(join(dataDir, 'secret'), secret, { mode: 0o600 })
  }
  return {
    dataDir,
    environment: {
      BOTSTEAD_DATA_DIR: dataDir,
      ...(url !== undefined && { DATABASE_URL: url, BOTSTEAD_SECRET: secret }),
    },
    options: url === undefined ? { file } : { url },
    async [Symbol.asyncDispose]() {
      await place?.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
