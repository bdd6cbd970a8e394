import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ApiError } from '@botstead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { contentType } from 'mime-types'
import type { HttpContext } from '../context.js'
import { readyContent } from '../ready-content.js'

/** Where the build puts the dashboard: inside of the package, from the sources and from the build. */
const built = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url))

/**
 * Everything from this server; `data:` and `blob:` are for icons in styles and for previews of files, which the
 * page fetches with its session. Previews of documents are frames without scripts.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
}

/** Folder of the files whose names change with their contents. */
const assets = 'assets/'

interface DashboardOptions {
  /** Path below which callers reach the server, without a slash at the end; empty for none. */
  basePath: string
}

type Respond = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * Serves the dashboard: its page for every address below `/dashboard`, because the screens are addresses of
 * the page, and its files, whose names change with their contents.
 */
export function mountDashboard(
  app: FastifyInstance,
  { admitUnmatched }: Pick<HttpContext, 'admitUnmatched'>,
  { basePath }: DashboardOptions,
): void {
  const page = readyContent({
    contentType: 'text/html; charset=utf-8',
    make: async () => {
      const html = await readFile(join(built, 'index.html'), 'utf8').catch(explainAbsence)
      return html.replace('<head>', `<head><base href="${basePath}/dashboard/">`)
    },
    headers: pageHeaders,
  })
  let files: Promise<Map<string, Respond>> | undefined
  const findFile = async (name: string) => {
    files ??= listFiles().catch((error) => {
      files = undefined
      throw error
    })
    return (await files).get(name)
  }

  app.get('/dashboard', { onRequest: admitUnmatched }, page)
  app.get('/dashboard/*', { onRequest: admitUnmatched }, async (request, reply) => {
    const name = String(Reflect.get(Object(request.params), '*'))
    const file = await findFile(name)
    if (file !== undefined) return file(request, reply)
    // A page of an earlier version asks for files that are gone: it must not take this page for one.
    if (name.startsWith(assets)) {
      throw new ApiError('ResourceNotFound', `There is no file ${name}: reload the page.`)
    }
    return page(request, reply)
  })
}

/** The files of the build by their path; each is read and compressed at its first use. */
async function listFiles(): Promise<Map<string, Respond>> {
  const entries = await readdir(built, { recursive: true, withFileTypes: true })
  const files = new Map<string, Respond>()
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(built, path).split(sep).join('/')
    const type = contentType(entry.name)
    if (!entry.isFile() || !name.startsWith(assets) || type === false) continue
    const make = () => readFile(path)
    files.set(name, readyContent({ contentType: type, make, isImmutable: true }))
  }
  return files
}

function explainAbsence(cause: unknown): never {
  throw new ApiError(
    'ResourceNotFound',
    'The dashboard is not built: run "npm run build" in the checkout.',
    { cause },
  )
}
