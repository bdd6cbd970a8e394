import { createHash } from 'node:crypto'
import type { WebchatSettings } from '@botstead/contract'
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../../platform/escape-html.js'

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}html,body{height:100%;margin:0}#chat{height:100%;height:100dvh}.words{max-width:36rem;margin:0 auto;padding:2rem 1rem}`
const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Scripts and styles from here alone. Pictures, recordings and files of messages may be anywhere; they are shown
 * and never read. Uploads go to the address by which callers reach the server, which can be another than that of the page.
 * @param framedBy origins whose pages may show the page in a frame; policies know no numeric addresses of IPv6
 */
export function headersOfPages(
  origin: string,
  framedBy: readonly string[] = [],
): Record<string, string> {
  const ancestors = framedBy.filter((each) => !each.includes('['))
  const isFramed = ancestors.length > 0
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'sha256-${styleHash}'`,
      'img-src * data: blob:',
      'media-src * data: blob:',
      `connect-src 'self' ${origin}`,
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${isFramed ? ancestors.join(' ') : "'none'"}`,
    ].join('; '),
    'referrer-policy': 'no-referrer',
    // The policy is stricter where both are understood; this header cannot name several origins.
    ...(!isFramed && { 'x-frame-options': 'DENY' }),
    'cross-origin-opener-policy': 'same-origin',
  }
}

/**
 * The page of a chat for those who have no page of their own: the script of pages, and the settings.
 * @param path of the chat, as browsers reach it
 * @param widget path of the chat that the script loads
 */
export function sharePage({
  settings,
  path,
  widget,
}: {
  settings: WebchatSettings
  path: string
  widget: string
}): string {
  const { botName, botDescription = '', language = 'en', color } = settings
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="description" content="${escapeHtml(botDescription)}">
<meta name="robots" content="noindex">
<meta name="theme-color" content="${escapeHtml(color)}">
<title>${escapeHtml(botName)}</title>
<link rel="icon" href="data:,">
<link rel="modulepreload" href="${escapeHtml(widget)}">
<style>${style}</style>
</head>
<body>
<div id="chat"></div>
<noscript><p class="words">This chat needs JavaScript.</p></noscript>
<script type="application/json" id="settings">${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>
<script src="${escapeHtml(path)}/inject.js" data-page="#chat"></script>
</body>
</html>
`
}

/** Pages of this server may show the preview in a frame; it connects to nothing. */
export function headersOfPreview(): Record<string, string> {
  return { ...headersOfPages('', ["'self'"]), 'x-frame-options': 'SAMEORIGIN' }
}

/**
 * The page in which the dashboard shows a chat with settings that are not stored yet.
 * @param path of the chat, as browsers reach it
 */
export function previewPage(path: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Preview of a web chat</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="chat"></div>
<script src="${escapeHtml(path)}/preview/preview.js"></script>
</body>
</html>
`
}

/** Sends the page for wrong and outdated links. */
export async function absencePage(reply: FastifyReply): Promise<FastifyReply> {
  return reply
    .code(404)
    .headers({
      ...headersOfPages(''),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>No chat here</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main class="words">
<h1>There is no chat at this address</h1>
<p>The link is incomplete, or the chat was removed or switched off. Ask whoever gave you the link for a new one.</p>
</main>
</body>
</html>
`)
}
