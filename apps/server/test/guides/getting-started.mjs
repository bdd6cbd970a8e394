// #region client
import { Client } from '@botpress/client'
// #endregion

export async function search({ apiUrl, token, botId }) {
  // #region client
  const client = new Client({ apiUrl, token, botId })
  const { passages } = await client.searchFiles({ query: 'How does the server stop?' })
  // #endregion
  return passages
}
