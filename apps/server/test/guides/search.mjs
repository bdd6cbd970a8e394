// #region wait
import { setTimeout } from 'node:timers/promises'
// #endregion

export async function uploadAndWait({ client, key, content }) {
  // #region wait
  let { file } = await client.uploadFile({ key, content, index: true })
  while (file.status.endsWith('_pending')) {
    await setTimeout(500)
    file = (await client.getFile({ id: file.id })).file
  }
  if (file.status === 'indexing_failed') throw new Error(file.failedStatusReason)
  // #endregion
  return file
}
