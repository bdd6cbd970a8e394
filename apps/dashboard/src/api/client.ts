import { ApiError, type Client, createClient } from '@botstead/contract'

/** Path of the dashboard as the server wrote it into the page, without a slash at the end. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '')

/** Address of the server, which is one level above the dashboard. */
export const serverUrl = new URL('..', document.baseURI).href.replace(/\/$/, '')

/** The objects on which the calls of a client act. */
export interface Scope {
  workspaceId?: string | undefined
  botId?: string | undefined
}

// Browsers send no Origin with same-origin reads; this header proves that the page is one of the server.
const pageHeaders = { 'x-requested-with': 'dashboard' }

/** Called with the outcome of every request, for the line that shows a lost connection. */
type ConnectionListener = (isConnected: boolean) => void
let onConnection: ConnectionListener = () => {}

/** Registers a listener that shows whether the newest call reached the server. */
export function watchConnection(listener: ConnectionListener): void {
  onConnection = listener
}

const clients = new Map<string, Client>()

/** The client of the contract for a scope; the session of the browser is its credential. */
export function clientOf({ workspaceId, botId }: Scope): Client {
  const key = `${workspaceId ?? ''} ${botId ?? ''}`
  const known = clients.get(key)
  if (known !== undefined) return known
  const client = createClient({
    baseUrl: serverUrl,
    fetch: fetchFromServer,
    headers: pageHeaders,
    ...(workspaceId !== undefined && { workspaceId }),
    ...(botId !== undefined && { botId }),
  })
  clients.set(key, client)
  return client
}

/** A call that did not reach the server. */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
}

/** `fetch` with the session, for operations that are no JSON: streams, contents, uploads. Rejects like the client. */
export async function fetchFromServer(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, credentials: 'same-origin' })
    onConnection(true)
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    onConnection(false)
    throw new ConnectionError(String(error), { cause: error })
  }
}

/** Headers of a call that is made without the client. */
export function headersOf({ workspaceId, botId }: Scope): Record<string, string> {
  return {
    ...pageHeaders,
    ...(workspaceId !== undefined && { 'x-workspace-id': workspaceId }),
    ...(botId !== undefined && { 'x-bot-id': botId }),
  }
}

/** Whether the caller has to sign in before a repetition of the call can succeed. */
export function isSignedOut(error: unknown): boolean {
  // An error about the body refuses a typed token or code, and not the session.
  return isUnauthorized(error) && !isOfScope(error) && error.metadata?.in !== 'body'
}

/** Whether the caller is known but may not do this, or the workspace or bot is not theirs. */
export function isForbidden(error: unknown): boolean {
  return (
    (error instanceof ApiError && error.status === 403) ||
    (isUnauthorized(error) && isOfScope(error))
  )
}

/** Whether the role of the caller does not include the operation. */
export function isOfRole(error: unknown): boolean {
  return error instanceof ApiError && error.metadata?.role !== undefined
}

function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401
}

/** Whether the workspace or the bot was refused, and not the session. */
function isOfScope({ metadata }: ApiError): boolean {
  return metadata?.in === 'headers'
}

/** Whether the same request would be refused again. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof ApiError && error.status < 500 && error.status !== 429 && !isSignedOut(error)
  )
}
