import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkout } from './documents.js'

// The rules of STYLE.md for all files that can be checked in their text.

interface Source {
  path: string
  text: string
}

const sources = await readSources('apps/server/src')

async function readSources(folder: string): Promise<Source[]> {
  const names = await readdir(join(checkout, folder), { recursive: true })
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(checkout, path), 'utf8') })),
  )
}

/** Paths of the files of the server that have something in them, other than those that may. */
function having(what: RegExp, allowed: readonly RegExp[]): string[] {
  return sources
    .filter(({ path, text }) => !/\.test\.ts$|conformance\.ts$/.test(path) && what.test(text))
    .map(({ path }) => path)
    .filter((path) => !allowed.some((each) => each.test(path)))
}

const parts = {
  database: /\/platform\/db\//,
  migrations: /\/migrations\//,
  /** The keyword index and the vectors, each once per engine. */
  searchIndexes: /\/features\/search\/(keywords|vectors)\//,
}

describe('the files of the server', () => {
  it('have their queries in stores', () => {
    const query = /\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql(<[^>]+>)?`/
    const stores = /\/(store|[a-z-]+-store)\.ts$/
    const log = /\/platform\/events\/(publisher|read|trim)\.ts$/
    expect(having(query, [stores, log, ...Object.values(parts)])).toEqual([])
    expect(having(query, []).length).toBeGreaterThan(50)
  })

  it('use the name of the engine for display only', () => {
    const display = /\/src\/app\/(metrics|container)\.ts$/
    const asking = /\bdialect\.name\b|\.name === '(sqlite|postgres)'/
    expect(having(asking, [display, parts.database, parts.migrations])).toEqual([])
  })

  it('commands print through one function, which escapes control characters', () => {
    const printing =
      /process\s*\.\s*(stdout|stderr)|\bconsole\b|\.write\(|writeSync|\/dev\/(tty|std)/
    const rooms = /\/src\/(?!cli\/)|\/cli\/terminal\.ts$/
    expect(having(printing, [rooms])).toEqual([])
    // Elsewhere the outputs are only handed to the log, and watched for their end. The server reads what a worker writes,
    // and a process that is about to be killed says why in words of its own.
    const elsewhere = /process\s*\.\s*(stdout|stderr)\s*\.\s*write|\bconsole\.\w|writeSync\([12],/
    const workers = /\/platform\/workers\/(worker-task|thread-end)\.ts$/
    expect(having(elsewhere, [/\/cli\/terminal\.ts$/, workers])).toEqual([])
    expect(having(/from '(\.\.?\/)+terminal\.js'/, []).length).toBeGreaterThan(20)
  })

  it('start the programs beside them, which is where the package has them', () => {
    const elsewhere = /new URL\('(?!\.\/)[^']+-worker\.js'/
    expect(having(elsewhere, [])).toEqual([])
    expect(having(/new URL\('\.\/[^']+-worker\.js'/, []).length).toBeGreaterThan(5)
  })
})

describe('the tests of the server', () => {
  it('wait with the patience of all of them', async () => {
    const files = [...sources, ...(await readSources('apps/server/test'))]
    const impatient = files.filter(({ text }) => /\bexpect\s*\.poll\(/.test(text))
    expect(impatient.map(({ path }) => path)).toEqual([])
  })

  it('wait for pages from outside: the pages forbid to evaluate a text again and again in them', async () => {
    const files = await readSources('apps/server/test')
    const inside = files.filter(({ text }) => /\.waitForFunction\(/.test(text))
    expect(inside.map(({ path }) => path)).toEqual([])
  })
})

describe('the packages that are installed', () => {
  it('all packages support the oldest Node, so that npm warns of none', async () => {
    const { packages } = JSON.parse(await readFile(join(checkout, 'package-lock.json'), 'utf8'))
    const oldest = versionIn(packages[''].engines.node)
    const installed = Object.entries<{ engines?: { node?: string }; optional?: true }>(packages)
    const newer = installed.filter(([, { engines, optional }]) => {
      const ranges = engines?.node?.split('||').filter((range) => /\d/.test(range)) ?? []
      const isRefused = (range: string) => !/</.test(range) && versionIn(range) > oldest
      return !optional && ranges.length > 0 && ranges.every(isRefused)
    })
    expect(newer.map(([path]) => path)).toEqual([])
  })
})

/** The first version in a range, as a number: 20.19 is 20019. */
function versionIn(range: string): number {
  const [, major = '0', minor = '0'] = /(\d+)(?:\.(\d+))?/.exec(range) ?? []
  return Number(major) * 1000 + Number(minor)
}
