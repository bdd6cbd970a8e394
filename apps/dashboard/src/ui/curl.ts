import { encodeQuery } from '@botstead/contract'
import { serverUrl } from '../api/client.js'

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
      : [`-H 'content-type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

/** A text as one word of a shell, whatever is in it. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
