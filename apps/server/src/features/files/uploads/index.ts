import type { IncomingMessage } from 'node:http'
import { ApiError, contract, type Headers, tus } from '@botstead/contract'
import { ContinueAt, type Route, route } from '../../../http/mount.js'
import type { FileAddresses } from '../addresses.js'
import type { Generations } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import { assembleJob } from '../jobs.js'
import { createDirectUploads } from './direct.js'
import { createUploadGate } from './gate.js'
import { createUploadLocks } from './locks.js'
import { createAssembly } from './parts.js'
import { createResumableUploads, type UploadState } from './resumable.js'
import { createWholeUploads } from './whole.js'

export { isStaged } from './direct.js'

/**
 * The kinds of uploads: as a whole, in parts, or directly to the store. Their addresses carry their own
 * permission.
 */
export function createUploads(
  deps: FilesDeps & { generations: Generations; addresses: FileAddresses },
) {
  const gate = createUploadGate(deps)
  const locks = createUploadLocks()
  const whole = createWholeUploads({ ...deps, gate, locks })
  const resumable = createResumableUploads({ ...deps, gate, locks })
  const direct = createDirectUploads({ ...deps, gate })

  async function append(
    token: string,
    headers: Headers<typeof contract.resumable.create>,
    stream: IncomingMessage,
  ) {
    requireMediaType(headers['content-type'])
    return await resumable.append({
      token,
      offset: headers['upload-offset'] ?? 0,
      length: headers['content-length'],
      tagging: headers['x-amz-tagging'],
      checksum: headers['upload-checksum'],
      stream,
      received: receivedBy(stream),
    })
  }

  const routes: Route[] = [
    route(contract.content.put, async ({ params, query, headers, stream }) => {
      if (query.direct) {
        const location = await direct.addressFor(params.token, headers['x-amz-tagging'])
        if (location !== undefined) return new ContinueAt(location)
      }
      await whole.receive({
        token: params.token,
        tagging: headers['x-amz-tagging'],
        digest: headers['content-digest'],
        length: headers['content-length'],
        stream,
        received: receivedBy(stream),
      })
      return {}
    }),

    route(contract.resumable.create, async ({ params: { token }, headers, stream }) => {
      requireVersion(headers)
      switch (headers['x-http-method-override']?.toUpperCase()) {
        case 'PATCH':
          return { status: 204, headers: toHeaders(await append(token, headers, stream)) }
        case 'DELETE':
          await resumable.terminate(token)
          return { status: 204, headers: {} }
      }
      const created = await resumable.create(token, headers['upload-length'])
      const hasBytes = headers['content-type'] !== undefined && headers['content-length'] !== 0
      const state = hasBytes
        ? await append(token, { ...headers, 'upload-offset': 0 }, stream)
        : created
      return {
        status: 201,
        headers: { ...toHeaders(state), location: deps.addresses.uploadWith(token) },
      }
    }),

    route(contract.resumable.state, async ({ params, headers }) => {
      requireVersion(headers)
      const state = await resumable.state(params.token)
      return {
        status: 200,
        headers: {
          ...toHeaders(state),
          'upload-length': state.length,
          'cache-control': 'no-store',
        },
      }
    }),

    route(contract.resumable.append, async ({ params, headers, stream }) => {
      requireVersion(headers)
      return { status: 204, headers: toHeaders(await append(params.token, headers, stream)) }
    }),

    route(contract.resumable.terminate, async ({ params, headers }) => {
      requireVersion(headers)
      await resumable.terminate(params.token)
      return { status: 204, headers: {} }
    }),
  ]

  return { routes, jobs: { ...direct.jobs, [assembleJob]: createAssembly(deps) } }
}

function receivedBy({ socket }: IncomingMessage): () => number {
  return () => socket.bytesRead
}

function toHeaders({ offset, expiresAt }: UploadState): Record<string, string | number> {
  return { 'upload-offset': offset, 'upload-expires': new Date(expiresAt).toUTCString() }
}

function requireVersion(headers: { 'tus-resumable'?: string }): void {
  const version = headers['tus-resumable']
  if (version === tus.version) return
  const rule = `headers.tus-resumable must be ${tus.version}.`
  const advice = version === undefined ? ' Without it, send the whole content with PUT.' : ''
  throw new ApiError('InvalidPayload', `${rule}${advice}`, {
    status: 412,
    metadata: { in: 'headers', field: 'tus-resumable' },
  })
}

function requireMediaType(given: string | undefined): void {
  if (given?.toLowerCase() === tus.mediaType) return
  throw new ApiError('UnsupportedMediaType', `headers.content-type must be ${tus.mediaType}.`)
}
