import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, type WebchatSettings } from '@botstead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../domain/refusals.js'
import type { Awaitable } from '../../platform/awaitable.js'
import { createLruCache } from '../../platform/lru-cache.js'
import { packageFile } from '../../platform/package-files.js'
import { assets, createBuiltFiles } from '../built-files.js'
import type { HttpContext } from '../context.js'
import { readyContent } from '../ready-content.js'
import { absencePage, headersOfPages, headersOfPreview, previewPage, sharePage } from './pages.js'

/** Folder of the built web chat, which is inside of the package for sources and for builds. */
const built = packageFile('dist/webchat')

/** The chat that the script loads; its name changes with its content. */
const widget = /^assets\/widget-[\w-]+\.js$/

/** Scripts and pages that are kept with their compressed forms. */
const keptContents = 200

interface WebchatInForce {
  settings: WebchatSettings
  /** Web sites whose pages may use the chat; empty allows all. */
  allowedOrigins: readonly string[]
}

interface WebchatOptions {
  /** Returns the settings of the chat at a webhook id; throws `ResourceNotFound` if there is none. */
  readSettings(webhookId: string): Awaitable<WebchatInForce>
  /** Base address as callers reach the server, without a trailing slash. */
  baseUrl(): string
}

/**
 * Serves what puts a web chat on a page, below the address of the chat: a script for pages, the files
 * that it loads, the settings, and a page of its own for those who have none. All other addresses there are operations.
 */
export function mountWebchat(
  app: FastifyInstance,
  { admitUnmatched }: Pick<HttpContext, 'admitUnmatched'>,
  { readSettings, baseUrl }: WebchatOptions,
): void {
  const files = createBuiltFiles(built)
  const contents = createLruCache<string, ReturnType<typeof readyContent>>(keptContents)
  /** Content that follows from a text: made and compressed once for as long as the text is the same. */
  const contentOf = (text: string, options: () => Parameters<typeof readyContent>[0]) => {
    const known = contents.get(text)
    if (known !== undefined) return known
    const made = readyContent(options())
    contents.set(text, made)
    return made
  }

  const findSettings = async (webhookId: string): Promise<WebchatInForce | undefined> => {
    try {
      return await readSettings(webhookId)
    } catch (error) {
      if (error instanceof ApiError && error.type === 'ResourceNotFound') return undefined
      throw error
    }
  }

  /** Path of a chat as browsers reach it. */
  const pathOf = (webhookId: string): string =>
    `${new URL(baseUrl()).pathname.replace(/\/$/, '')}/webchat/${encodeURIComponent(webhookId)}`

  const get = (path: string, respond: Respond) =>
    app.get(`/webchat/:webhookId${path}`, { onRequest: admitUnmatched }, (request, reply) => {
      const { webhookId, '*': rest = '' } = request.params as { webhookId: string; '*'?: string }
      return respond({ webhookId, rest, request, reply })
    })

  get('', async ({ webhookId, request, reply }) => {
    const found = await findSettings(webhookId)
    if (found === undefined) return absencePage(reply)
    const { settings, allowedOrigins } = found
    const base = baseUrl()
    const path = pathOf(webhookId)
    const file = await files.match(widget).catch((cause: unknown) => {
      throw notBuilt(cause)
    })
    if (file === undefined) throw notBuilt()
    const html = sharePage({ settings, path, widget: `${path}/${file}` })
    const respond = contentOf(`page ${base} ${allowedOrigins} ${html}`, () => ({
      contentType: 'text/html; charset=utf-8',
      make: async () => html,
      headers: headersOfPages(new URL(base).origin, allowedOrigins),
    }))
    return respond(request, reply)
  })

  // The preview in the dashboard: what it loads is below its own address, so that it shares no storage with the chat.
  get('/preview', async ({ webhookId, request, reply }) => {
    if ((await findSettings(webhookId)) === undefined) return absencePage(reply)
    const html = previewPage(pathOf(webhookId))
    const respond = contentOf(`preview ${html}`, () => ({
      contentType: 'text/html; charset=utf-8',
      make: async () => html,
      headers: headersOfPreview(),
    }))
    return respond(request, reply)
  })

  get('/preview/preview.js', async ({ request, reply }) => {
    const respond = contentOf('preview.js', () => ({
      contentType: 'text/javascript; charset=utf-8',
      make: () => readBuilt('preview.js'),
    }))
    return respond(request, reply)
  })

  const sendScript: Respond = async ({ webhookId, request, reply }) => {
    const { botName, color, position, language } = (await readSettings(webhookId)).settings
    const known = JSON.stringify({ botName, color, position, language })
    const respond = contentOf(`script ${known}`, () => ({
      contentType: 'text/javascript; charset=utf-8',
      make: async () => `(function(served){${await readBuilt('inject.js')}})(${known})\n`,
      caching: 'minutes',
    }))
    return respond(request, reply)
  }
  get('/inject.js', sendScript)
  get('/preview/inject.js', sendScript)

  get('/config', async ({ webhookId, request, reply }) => {
    const text = JSON.stringify((await readSettings(webhookId)).settings)
    const respond = contentOf(`settings ${text}`, () => ({
      contentType: 'application/json; charset=utf-8',
      make: async () => text,
    }))
    return respond(request, reply)
  })

  const sendAsset: Respond = async ({ rest, request, reply }) => {
    const path = `${assets}${rest}`
    const file = await files.find(path)
    if (file !== undefined) return file(request, reply)
    // A script of an earlier version, from a cache, asks for the chat of that version.
    const current = widget.test(path) ? await files.match(widget) : undefined
    if (current === undefined) throw notFound('file', path)
    return reply.header('cache-control', 'no-cache').redirect(current.slice(assets.length), 302)
  }
  get('/assets/*', sendAsset)
  get('/preview/assets/*', sendAsset)
}

type Respond = (call: {
  webhookId: string
  /** The part of the path after the webhook id. */
  rest: string
  request: FastifyRequest
  reply: FastifyReply
}) => Promise<FastifyReply>

async function readBuilt(name: string): Promise<string> {
  return await readFile(join(built, name), 'utf8').catch((cause) => {
    throw notBuilt(cause)
  })
}

function notBuilt(cause?: unknown): ApiError {
  return new ApiError(
    'ResourceNotFound',
    'The web chat is not built: run "npm run build" in the checkout.',
    { cause },
  )
}
