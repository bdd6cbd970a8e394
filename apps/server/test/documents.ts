import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestServer } from './harness.js'

/** The folder of the checkout. */
export const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Reads a document of the checkout. */
export async function readDocument(path: string): Promise<string> {
  return await readFile(join(checkout, path), 'utf8')
}

/**
 * The shell commands of a document that are meant to be pasted in order: its tour.
 * @param name of the comments around them
 */
export async function tourOf(path: string, name = 'tour'): Promise<string> {
  const around = new RegExp(`<!-- ${name} -->(.*?)<!-- /${name} -->`, 'gs')
  const tours = (await readDocument(path)).matchAll(around)
  const blocks = [...tours].flatMap(([, tour = '']) => [...tour.matchAll(/^```sh\n(.*?)^```$/gms)])
  if (blocks.length === 0) throw new Error(`${path} has no ${name}`)
  return blocks.map(([, commands]) => commands).join('')
}

/** The commands of the first guide, which set the variables that the other guides use. */
export async function fiveMinutes(): Promise<string> {
  return await tourOf('docs/guides/getting-started.md', 'five-minutes')
}

/**
 * Runs commands in a shell, as a person does who has just started the server in the folder of a checkout.
 * The first command that fails ends it.
 * @returns what the commands wrote
 */
export async function runAsPasted(commands: string, server: TestServer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-tour-'))
  try {
    await symlink(server.server.config.dataDir, join(folder, 'data'))
    for (const part of ['ARCHITECTURE.md', 'docs', 'examples', 'node_modules']) {
      await symlink(join(checkout, part), join(folder, part))
    }
    const script = `set -e\n${commands.replaceAll('http://localhost:8787', server.url)}`
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], {
      cwd: folder,
      env: withoutProxies(process.env),
    })
    if (stderr !== '') throw new Error(`The commands complain:\n${stderr}`)
    return stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The server is on this machine, where no proxy leads. */
export function withoutProxies(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(https?|all)_proxy$/i.test(name)),
  )
}
