import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { checkout, withoutProxies } from '../documents.js'
import type { TestServer } from '../harness.js'
import { pdfOf } from '../pdf.js'

/** A command that was run. */
interface Ran {
  stdout: string
}

interface RunOptions {
  /** The command is ended when it has written this: for one that does not end by itself. */
  until?: RegExp
  /** Variables that the reader of the command sets. */
  variables?: Record<string, string>
}

/** A page with a sentence. */
const manual = pdfOf([
  '<< /Type /Catalog /Pages 2 0 R >>',
  '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] /Contents 4 0 R
   /Resources << /Font << /F1 5 0 R >> >> >>`,
  '<< /Length 52 >>\nstream\nBT /F1 12 Tf 20 340 Td (Begin with the green key.) Tj ET\nendstream',
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
])

/**
 * A shell in a folder with the files that commands of the dashboard name. It finds `npx botstead`; its curl fails for
 * refusals, and its npm installs what the checkout has.
 */
export async function useShell({ url, token, server }: TestServer) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-shell-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  await mkdir(join(folder, 'handbook'), { recursive: true })
  await mkdir(bin)
  const programs = {
    npx: `[ "$1" = botstead ] || exit 1\nshift\nexec '${process.execPath}' '${inject('command')}' "$@"`,
    curl: `PATH=\${PATH#*:}\nexec curl --fail-with-body --silent --show-error "$@"`,
    npm: `PATH=\${PATH#*:}
if [ "$1" = install ]; then
  exec ls -d "${checkout}/node_modules/$2/package.json"
fi
exec npm --prefix '${checkout}' --silent "$@"`,
  }
  for (const [name, body] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(bin, name), 0o755)
  }
  const content = 'Trips are paid within 30 days.\n'
  await writeFile(join(folder, 'travel.txt'), content)
  await writeFile(join(folder, 'handbook', 'travel.txt'), content)
  await writeFile(join(folder, 'manual.pdf'), manual)
  const environment = {
    ...withoutProxies(process.env),
    HOME: folder,
    PATH: `${bin}:${process.env.PATH}`,
    npm_config_cache: join(bin, 'cache'),
    BOT_PORT: '0',
    BOTSTEAD_URL: url,
    BOTSTEAD_TOKEN: token,
    // Of commands that open the data of the server.
    BOTSTEAD_DATA_DIR: server.config.dataDir,
    BOTSTEAD_PUBLIC_URL: url,
    DATABASE_URL: server.config.databaseUrl ?? '',
  }
  const before = await readdir(folder)

  /** Runs a command as it stands; rejects with what it wrote if it fails. */
  async function run(command: string, { until, variables = {} }: RunOptions = {}): Promise<Ran> {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: folder,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what it started ends with it.
      detached: true,
    })
    let stdout = ''
    let written = ''
    let isOver = false
    const closed = once(child, 'close').finally(() => {
      isOver = true
    })
    const isDone = () => until?.test(written) === true
    const end = () => {
      if (child.pid !== undefined && !isOver) process.kill(-child.pid, 'SIGKILL')
    }
    onTestFinished(end)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      written += text
      if (isDone()) end()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      written += text
      if (isDone()) end()
    })
    const [status] = await closed
    if (until === undefined ? status !== 0 : !isDone()) {
      throw new Error(`${command}\nended with status ${status}:\n${written}`)
    }
    return { stdout }
  }

  return {
    run,
    /** Names of what commands created in the folder. */
    created: async () => (await readdir(folder)).filter((name) => !before.includes(name)),
  }
}
