import { chmod } from 'node:fs/promises'
import type { TestProject } from 'vitest/node'
import { buildServer } from './build.js'
import { bundleCommand, bundlePrograms, bundleWorkers } from './bundle.js'
import { type Keeper, startKeeper } from './keeper.js'
import { memoryFolder } from './memory-folder.js'
import { createTemplates } from './migrated.js'
import { startPostgres } from './postgres-server.js'

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
    /** Folder of the programs that tests start. */
    programs: string
    /** Folder of the bundled workers of the server. */
    workers: string
  }
}

/**
 * Builds the command that some tests start, and starts the one PostgreSQL server that all test
 * files share, each with databases of its own.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeper = startKeeper()
  try {
    return await prepare(project, keeper)
  } catch (error) {
    await keeper.end()
    throw error
  }
}

async function prepare(project: TestProject, keeper: Keeper): Promise<() => Promise<void>> {
  // A broken part ends the run where a change is judged, and not on a machine where people work.
  let broken = ''
  const build = async () => {
    broken = ''
    // The compiler writes what it can: while somebody is at work elsewhere, most tests are still meaningful.
    await buildServer().catch((error) => {
      if (process.env.CI) throw error
      broken = `\nBUILT WITH ERRORS: ${reason(error)}\n\n`
      process.stderr.write(broken)
    })
  }
  const [postgresUrl] = await Promise.all([
    startPostgres(keeper).catch((error): undefined => {
      if (process.env.CI) throw error
      process.stderr.write(`\nPOSTGRES SKIPPED: ${reason(error)}\n\n`)
    }),
    build(),
  ])
  // The data of tests must survive a killed process, and not a power failure. In memory they do not
  // wait for the disk, which hundreds of databases would keep busy, nor does a slow one fail them.
  const memory = await memoryFolder()
  if (memory !== undefined) {
    const folder = await keeper.createFolder(memory)
    // Open to all, as the usual one is: PostgreSQL does not run as root.
    await chmod(folder, 0o1777)
    process.env.TMPDIR = folder
  }
  const bundleServer = async () => {
    const workers = await bundleWorkers(keeper)
    return { workers, command: await bundleCommand(keeper, workers.path) }
  }
  const [templates, { workers, command }, programs] = await Promise.all([
    createTemplates(keeper, postgresUrl),
    bundleServer(),
    bundlePrograms(keeper),
  ])
  project.provide('postgresUrl', postgresUrl ?? '')
  project.provide('migratedFile', templates.file)
  project.provide('migratedDatabase', templates.database)
  project.provide('command', command.path)
  project.provide('programs', programs.path)
  project.provide('workers', workers.path)
  project.onTestsRerun(async () => {
    await build()
    await Promise.all([workers.bundle(), command.bundle(), programs.bundle()])
  })
  return async () => {
    await keeper.end()
    if (broken === '') return
    // Whatever the tests report: what was built is not what is there.
    process.exitCode = 1
    process.stderr.write(broken)
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
