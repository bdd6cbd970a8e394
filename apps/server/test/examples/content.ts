import { type Example, type Examples, own } from './example.js'

/** Upload addresses carry their own permission, so a foreign one can only be made up. */
const atForgedUpload: Example = {
  request: () => ({ params: { token: 'nonsense' } }),
  headers: { 'tus-resumable': '1.0.0' },
  foreign: 'Forbidden',
}

/** Contents of files, and the server itself. */
export const contentExamples: Examples = {
  putContent: atForgedUpload,
  createResumableUpload: atForgedUpload,
  getResumableUpload: atForgedUpload,
  appendToResumableUpload: {
    ...atForgedUpload,
    headers: {
      ...atForgedUpload.headers,
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
    },
  },
  terminateResumableUpload: atForgedUpload,
  getContent: {
    request: ({ fileId }) => ({ params: { fileId } }),
    foreign: 'ResourceNotFound',
  },

  downloadBotVersion: {
    request: () => ({ params: { versionId: 'botver_none' }, query: { signature: 'nonsense' } }),
    foreign: 'Forbidden',
  },

  getHealth: own(),
  getReadiness: own(),
}
