// #region client
import { Client } from '@botpress/client'
// #endregion

export async function list({ apiUrl, token, workspaceId, botId }) {
  // #region client
  const client = new Client({ apiUrl, token, workspaceId, botId })
  const { bots } = await client.listBots({})
  // #endregion
  return bots
}
