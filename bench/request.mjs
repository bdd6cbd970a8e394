// A call with JSON, as every part makes them before it measures.

/**
 * Each response has some of it.
 * @typedef {object} Answer
 * @property {{ id: string, integrations: Record<string, { webhookUrl: string }> }} bot
 * @property {string} key of a new user
 * @property {{ id: string }} conversation
 * @property {{ id: string, uploadUrl: string, url: string }} file
 */

/**
 * @param {string} url
 * @param {'GET' | 'POST' | 'PUT'} method
 * @param {Record<string, string>} headers
 * @param {unknown} [body]
 * @throws Error if the call does not succeed
 */
export async function request(url, method, headers, body) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return /** @type {Answer} */ (await response.json())
}

export const json = { 'content-type': 'application/json' }

/**
 * Headers of calls to a server as the account of its first start.
 * @param {{ token: string, workspaceId: string }} server
 */
export function adminHeadersOf({ token, workspaceId }) {
  return {
    ...json,
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    'x-multiple-integrations': 'true',
  }
}

/**
 * The chat address of a bot that was just made.
 * @param {Answer['bot']} bot
 */
export function chatOf(bot) {
  const [integration] = Object.values(bot.integrations)
  if (integration === undefined) throw new Error(`The bot ${bot.id} has no chat`)
  return integration.webhookUrl
}
