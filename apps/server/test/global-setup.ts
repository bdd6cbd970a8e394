import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the PostgreSQL server of this run; empty if there is none. */
    postgresUrl: string
  }
}

/** Starts the one PostgreSQL server that all test files share, each with databases of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    const server = await startPostgres()
    project.provide('postgresUrl', server.url)
    return () => server.stop()
  } catch (error) {
    if (process.env.CI) throw error
    process.stderr.write(`\nPOSTGRES SKIPPED: it could not be started: ${String(error)}\n\n`)
    project.provide('postgresUrl', '')
    return async () => {}
  }
}
