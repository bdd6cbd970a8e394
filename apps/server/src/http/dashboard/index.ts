import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '@botstead/contract'
import type { FastifyInstance } from 'fastify'
import { packageFile } from '../../platform/package-files.js'
import { assets, createBuiltFiles } from '../built-files.js'
import type { HttpContext } from '../context.js'
import { readyContent } from '../ready-content.js'

/** Folder of the built dashboard, which is inside of the package for sources and for builds. */
const built = packageFile('dist/dashboard')

/**
 * Everything from this server; `data:` and `blob:` are for icons in styles and for previews of files, which the
 * page fetches with its session.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Of the files: workers, which read documents of users, take their policy from their script. They may decode pictures
 * and load the fonts of the build, and make no other request.
 */
const filesPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; font-src 'self'"

const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
}

interface DashboardOptions {
  /** Path below which callers reach the server, without a slash at the end; empty for none. */
  basePath: string
}

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
  const files = createBuiltFiles(built, { 'content-security-policy': filesPolicy })

  app.get('/dashboard', { onRequest: admitUnmatched }, page)
  app.get('/dashboard/*', { onRequest: admitUnmatched }, async (request, reply) => {
    const name = String(Reflect.get(Object(request.params), '*'))
    const file = await files.find(name)
    if (file !== undefined) return file(request, reply)
    // A page of an earlier version asks for files that are gone: it must not take this page for one.
    if (name.startsWith(assets)) {
      throw new ApiError('ResourceNotFound', `There is no file ${name}: reload the page.`)
    }
    return page(request, reply)
  })
}

function explainAbsence(cause: unknown): never {
  throw new ApiError(
    'ResourceNotFound',
    'The dashboard is not built: run "npm run build" in the checkout.',
    { cause },
  )
}
