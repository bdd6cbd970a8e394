// #region missing
import { isApiError } from '@botpress/client'
// #endregion

export async function find({ client }) {
  // #region missing
  try {
    await client.getFile({ id: 'missing.txt' })
  } catch (error) {
    if (!isApiError(error) || error.type !== 'ResourceNotFound') throw error
  }
  // #endregion
}
