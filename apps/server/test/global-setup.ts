import type { TestProject } from 'vitest/node'
import { buildServer } from './build.js'
import { bundleCommand } from './bundle.js'
import { createTemplates } from './migrated.js'
import { startPostgres } from './postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the PostgreSQL server of this run; empty if there is none. */
    postgresUrl: string
    /** SQLite file that has all migrations and no rows; to be copied. */
    migratedFile: string
    /** The same on the PostgreSQL server: name of a database to make others of. */
    migratedDatabase: string
    /** Script of the command that tests start. */
    command: string
  }
}

/**
 * Builds the command that some tests start, and starts the one PostgreSQL server that all test
 * files share, each with databases of its own.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [server] = await Promise.all([
    startPostgres().catch((error) => tolerate('POSTGRES SKIPPED', error)),
    // The compiler writes what it can: while somebody is at work elsewhere, most tests still tell.
    buildServer().catch((error) => tolerate('BUILT WITH ERRORS', error)),
  ])
  const [templates, command] = await Promise.all([createTemplates(server?.url), bundleCommand()])
  project.provide('postgresUrl', server?.url ?? '')
  project.provide('migratedFile', templates.file)
  project.provide('migratedDatabase', templates.database)
  project.provide('command', command.path)
  project.onTestsRerun(async () => {
    await buildServer()
    await command.bundle()
  })
  return async () => {
    await Promise.all([templates.remove(), command.remove()])
    await server?.stop()
  }
}

/** What is no reason to stop on a machine where people work is one where a change is judged. */
function tolerate(headline: string, error: unknown): undefined {
  if (process.env.CI) throw error
  process.stderr.write(`\n${headline}: ${error instanceof Error ? error.message : error}\n\n`)
}
