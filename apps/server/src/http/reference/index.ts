import { fileURLToPath } from 'node:url'
import { allOperations, createOpenApi } from '@botstead/contract'
import negotiate from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { builtFile } from '../built-files.js'
import type { HttpContext } from '../context.js'
import { addToVary, readyContent } from '../ready-content.js'
import {
  icon,
  referencePage,
  referenceScript,
  referenceStyle,
  startPage,
  startStyle,
} from './pages.js'

/** Only what this server sends; `data:` is for the arrows in the style of the reference. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

interface ReferenceOptions {
  version: string
  /** Whether browsers that open `/` are sent to the dashboard. */
  hasDashboard: boolean
}

/**
 * The pages for browsers: a start page with the next steps, the reference at `/docs`, and its
 * document, `/openapi.json`. Everything is served from here, so that it works without
 * internet access, and is rendered at first use, so that it does not slow down the start.
 */
export function mountReference(
  app: FastifyInstance,
  { admitUnmatched }: Pick<HttpContext, 'admitUnmatched'>,
  { version, hasDashboard }: ReferenceOptions,
): void {
  const serve = (path: string, contentType: string, make: () => Promise<string | Buffer>) =>
    app.get(path, { onRequest: admitUnmatched }, readyContent({ contentType, make }))
  const page = (make: () => string) =>
    readyContent({
      contentType: html,
      make: async () => make(),
      headers: { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' },
    })

  serve('/openapi.json', 'application/json; charset=utf-8', async () =>
    JSON.stringify(createOpenApi(allOperations, { version })),
  )
  serve('/favicon.ico', 'image/svg+xml', async () => icon)
  serve('/start.css', css, async () => startStyle)
  serve('/docs/reference.css', css, async () => referenceStyle)
  serve('/docs/reference.js', javascript, async () => referenceScript)
  const serveFile = (path: string, contentType: string, file: string) =>
    app.get(
      path,
      { onRequest: admitUnmatched },
      readyContent({ contentType, ...builtFile(() => fileURLToPath(import.meta.resolve(file))) }),
    )
  serveFile('/docs/swagger-ui.css', css, '#swagger-ui/swagger-ui.css')
  serveFile('/docs/swagger-ui.js', javascript, '#swagger-ui/swagger-ui-bundle.js')

  const reference = page(() => referencePage)
  app.get('/docs', { onRequest: admitUnmatched }, async (request, reply) =>
    // The page refers to its parts by relative addresses, so that it works below any path of a proxy.
    /\/(?:\?|$)/.test(request.url) ? reply.redirect('../docs', 308) : reference(request, reply),
  )

  const start = page(() => startPage(version))
  const summary = readyContent({
    contentType: 'application/json; charset=utf-8',
    make: async () => JSON.stringify({ ...landing, version }),
  })
  app.get('/', { onRequest: admitUnmatched }, (request, reply) => {
    addToVary(reply, 'accept')
    if (!wantsPage(request)) return summary(request, reply)
    return hasDashboard ? reply.redirect('dashboard') : start(request, reply)
  })
}

const landing = {
  name: 'Botstead',
  status: 'running',
  message:
    'Call the operations of /openapi.json, rendered at /docs, with the token that the first start printed.',
  reference: '/docs',
  openapi: '/openapi.json',
  readiness: '/readyz',
}

function wantsPage({ headers }: FastifyRequest): boolean {
  return negotiate(headers.accept ?? '', ['application/json', 'text/html']) === 'text/html'
}
