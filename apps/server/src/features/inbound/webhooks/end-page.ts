import { createHash } from 'node:crypto'
import type { RawResponse } from '../../../http/raw-routes.js'
import { escapeHtml } from '../../../platform/escape-html.js'

/** Maximum length of a reason that is shown, in characters: it comes from the address, which anybody can make. */
const maxReasonLength = 500

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0; min-height: 100vh; display: grid; place-items: center }
main { max-width: 34rem; padding: 2rem }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
blockquote { margin: 1rem 0; padding: .25rem 1rem; border-left: .25rem solid; overflow-wrap: anywhere }
`
const styleHash = createHash('sha256').update(style).digest('base64')

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

/** The path of the page at which a setup ends, below the base address of the server. */
const endPath = '/oauth/interstitial'

/** The outcome of a setup. */
interface SetUpEnd {
  success: boolean
  /** The reason of the failure, in the words of the integration. */
  errorMessage?: string
}

/** The address of the page at which a setup ends. */
export function endAddressOf(base: string, { success, errorMessage }: SetUpEnd): string {
  const query = new URLSearchParams({ success: String(success) })
  if (errorMessage !== undefined) query.set('errorMessage', errorMessage.slice(0, maxReasonLength))
  return `${base}${endPath}?${query}`
}

/** The page at which the setup of an integration ends, for a person in a browser. */
export function endPage(query: string): RawResponse {
  const parameters = new URLSearchParams(query)
  const isDone = parameters.get('success') === 'true'
  const reason = (parameters.get('errorMessage') ?? '').trim().slice(0, maxReasonLength)
  const title = isDone ? 'The setup has ended' : 'The setup did not succeed'
  const advice = isDone
    ? 'The integration reports that it succeeded. You can close this window; the installation shows whether it has its account.'
    : 'Close this window, and begin the setup again; the log of the integration may have more about it.'
  const quote =
    isDone || reason === ''
      ? ''
      : `<p>The integration reports:</p><blockquote>${escapeHtml(reason)}</blockquote>`
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body><main><h1>${title}</h1>${quote}<p>${advice}</p></main></body>
</html>
`
  return { status: 200, headers, body: Buffer.from(html) }
}
