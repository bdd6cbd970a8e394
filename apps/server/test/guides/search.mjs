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

export async function findAnswers({ client, question }) {
  // #region threshold
  const { passages } = await client.searchFiles({ query: question })
  const answers = passages.filter(({ score }) => score >= 0.4)
  // #endregion
  return answers
}
