import { encodeQuery } from '@botstead/contract'
import { serverUrl } from '../api/client.js'

// Every command that the dashboard prints or copies is made here, because others name bots and write messages: nothing
// that they wrote may be more than a word of it to the shell or the terminal of the reader.

/** Stands for the variable `$BOT` of the reader in a command that needs a bot while none is open. No other text has this character. */
export const anyBot = '\u0000'

/** The bot in code that is shown, where the reader puts the id of theirs. */
export function botInCode(botId: string): string {
  return botId === anyBot ? '$BOT' : botId
}

/**
 * A call of the command, for a POSIX shell.
 * @param botId adds `--bot` with this id: names can be the same, and the ids of this server cannot be taken for an option
 */
export function botstead(words: readonly string[], botId?: string): string {
  const bot = botId === undefined || botId === '' ? [] : ['--bot', botId]
  return ['npx', 'botstead', ...words, ...bot].map(quote).join(' ')
}

/** A call of npm, for a POSIX shell. */
export function npm(words: readonly string[]): string {
  return ['npm', ...words].map(quote).join(' ')
}

/** Sends a file as a content to the address in the variable `$UPLOAD_URL` of the reader. */
export function curlOfContent(file: string): string {
  return `curl -T ${quote(file)} "$UPLOAD_URL"`
}

interface CurlCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below the address of the server. */
  path: string
  query?: Record<string, unknown>
  workspaceId?: string | undefined
  /** For an operation of a bot. */
  botId?: string | undefined
  body?: object
}

/** A call of this server as a command; the token is that of the reader's environment. */
export function curlOf(call: CurlCall): string {
  const { method = 'GET', path, query = {}, workspaceId, botId, body } = call
  const text = encodeQuery(query)
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(`${serverUrl}${path}${text && `?${text}`}`)}`,
    `-H "Authorization: Bearer $BOTSTEAD_TOKEN"`,
    `-H ${quote(botId === undefined ? `x-workspace-id: ${workspaceId}` : `x-bot-id: ${botId}`)}`,
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json'`, `--data-raw ${quote(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

/** Any request as a command. Values that the server hides are `***` in it. */
export function curlOfRequest(
  { method, url, headers }: { method: string; url?: string; headers: Record<string, string> },
  body: string | undefined,
): string {
  return [
    // Braces and brackets in the address are no pattern.
    `curl --globoff -X ${quote(method)} --url ${quote(url ?? 'URL')}`,
    // Without a value, curl would leave a header out; a semicolon sends it.
    ...Object.entries(headers).map(
      ([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
    ),
    // Not `-d`, which reads a file after an @.
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
}

/** Characters that act on a terminal when they are pasted, other than the end of a line. */
const control = /((?:(?!\n)\p{Cc})+)/u

/** A text as one word of a shell, whatever is in it. */
function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  const ofReader = text.split(anyBot).map((literal) => {
    const parts = literal.split(control)
    return parts.map((part, at) => (at % 2 === 1 ? printed(part) : quoted(part))).join('')
  })
  return ofReader.join('"$BOT"') || "''"
}

function quoted(text: string): string {
  return text === '' ? '' : `'${text.replaceAll("'", `'\\''`)}'`
}

function printed(text: string): string {
  const bytes = [...new TextEncoder().encode(text)]
  return `"$(printf '${bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}')"`
}
