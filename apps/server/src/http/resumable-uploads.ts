import { tus } from '@botstead/contract'
import type { FastifyInstance } from 'fastify'

/** Headers of answers that a script on a web page must be able to read. */
export const resumableUploadHeaders = [
  'location',
  'tus-resumable',
  'tus-version',
  'tus-extension',
  'tus-checksum-algorithm',
  'upload-offset',
  'upload-length',
  'upload-expires',
]

/**
 * Says on every answer at an upload address, also on refusals, which version of the tus protocol is
 * spoken there, and to `OPTIONS` what of it. Must be called before other hooks answer `OPTIONS`.
 */
export function announceResumableUploads(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith('/uploads/')) {
      reply.header('tus-resumable', tus.version)
      if (request.method === 'OPTIONS' || request.headers['tus-resumable'] !== undefined) {
        reply.header('tus-version', tus.version)
      }
      if (request.method === 'OPTIONS') {
        reply.header('tus-extension', tus.extensions.join(','))
        reply.header('tus-checksum-algorithm', tus.checksumAlgorithms.join(','))
      }
    }
    done()
  })
}
