// #region resumable
import { Upload } from 'tus-js-client'
// #endregion

export async function uploadFilm({ client, film, onProgress, onSuccess, onError }) {
  // #region resumable
  const { file } = await client.upsertFile({ key: 'films/tour.mp4', size: film.size })
  new Upload(film, { uploadUrl: file.uploadUrl, onProgress, onSuccess, onError }).start()
  // #endregion
  return file
}

export async function uploadFromPage({ uploadUrl, input }) {
  // #region page
  await fetch(uploadUrl, { method: 'PUT', body: input.files[0] })
  // #endregion
}

export async function read({ client }) {
  // #region read
  const { file } = await client.getFile({ id: 'handbook/travel.txt' })
  const content = await (await fetch(file.url)).arrayBuffer()
  // #endregion
  return content
}
