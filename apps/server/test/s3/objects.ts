import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** A response of the store. */
export interface StoreResponse {
  status: number
  headers?: Record<string, string | number>
  body?: string | Buffer
}

interface StoredObject {
  content: Buffer
  etag: string
  modified: Date
}

interface Upload {
  key: string
  begun: Date
  parts: Map<number, StoredObject>
}

/** A request to the store, with its whole body. */
export interface StoreRequest {
  method: string
  /** Object key, empty for the bucket. */
  key: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Buffer
}

const pageSize = 1000
const smallestPart = 5 * 1024 * 1024

/** The objects of one bucket, as Amazon documents S3: only the operations that Botstead uses. */
export function createObjects() {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, Upload>()

  function list(query: URLSearchParams): StoreResponse {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? ''
    const most = Math.min(pageSize, Number(query.get('max-keys') ?? pageSize))
    const found = [...objects]
      .filter(([key]) => key.startsWith(prefix) && key > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const page = found.slice(0, most)
    const contents = page.map(
      ([key, { content, modified }]) =>
        `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${content.length}</Size></Contents>`,
    )
    const more = found.length > page.length
    const next = more ? `<NextContinuationToken>${page.at(-1)?.[0]}</NextContinuationToken>` : ''
    return xml(
      `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    )
  }

  function listUploads(query: URLSearchParams): StoreResponse {
    const prefix = query.get('prefix') ?? ''
    const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix))
    const body = found.map(
      ([id, { key, begun }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun.toISOString()}</Initiated></Upload>`,
    )
    return xml(
      `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${body.join('')}</ListMultipartUploadsResult>`,
    )
  }

  function listParts(upload: Upload, query: URLSearchParams): StoreResponse {
    const after = Number(query.get('part-number-marker'))
    const found = [...upload.parts].filter(([number]) => number > after).sort(([a], [b]) => a - b)
    const body = found.map(
      ([number, { modified }]) =>
        `<Part><PartNumber>${number}</PartNumber><LastModified>${modified.toISOString()}</LastModified></Part>`,
    )
    return xml(
      `<ListPartsResult><IsTruncated>false</IsTruncated>${body.join('')}</ListPartsResult>`,
    )
  }

  function complete(id: string, upload: Upload, body: string): StoreResponse {
    const asked = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
    const parts = asked.map(([, number, tag]) => ({ part: upload.parts.get(Number(number)), tag }))
    if (parts.length === 0 || parts.some(({ part, tag }) => part?.etag !== tag)) {
      return refused(400, 'InvalidPart')
    }
    const contents = parts.flatMap(({ part }) => (part ? [part.content] : []))
    if (contents.slice(0, -1).some(({ length }) => length < smallestPart)) {
      return refused(400, 'EntityTooSmall')
    }
    objects.set(upload.key, toObject(Buffer.concat(contents)))
    uploads.delete(id)
    return xml('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }

  function inUpload(id: string, request: StoreRequest): StoreResponse {
    const upload = uploads.get(id)
    if (upload === undefined || upload.key !== request.key) return refused(404, 'NoSuchUpload')
    switch (request.method) {
      case 'PUT': {
        const part = toObject(request.body)
        upload.parts.set(Number(request.query.get('partNumber')), part)
        return { status: 200, headers: { etag: part.etag } }
      }
      case 'POST':
        return complete(id, upload, request.body.toString())
      case 'DELETE':
        uploads.delete(id)
        return { status: 204 }
      default:
        return listParts(upload, request.query)
    }
  }

  function read({ key, headers, query, method }: StoreRequest): StoreResponse {
    const object = objects.get(key)
    if (object === undefined) return method === 'HEAD' ? { status: 404 } : refused(404, 'NoSuchKey')
    const { content, etag, modified } = object
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) {
      return refused(412, 'PreconditionFailed')
    }
    const overridden = [...query]
      .filter(([name]) => name.startsWith('response-'))
      .map(([name, value]): [string, string] => [name.slice('response-'.length), value])
    const common = {
      etag,
      'last-modified': modified.toUTCString(),
      'accept-ranges': 'bytes',
      ...Object.fromEntries(overridden),
    }
    const [, start, end = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
    if (start === undefined) return { status: 200, headers: common, body: content }
    if (Number(start) >= content.length) return refused(416, 'InvalidRange')
    const last = Math.min(content.length - 1, end === '' ? content.length : Number(end))
    return {
      status: 206,
      headers: { ...common, 'content-range': `bytes ${start}-${last}/${content.length}` },
      body: content.subarray(Number(start), last + 1),
    }
  }

  return {
    /** Ids of multipart uploads that were neither completed nor aborted. */
    openUploads: () => [...uploads.keys()],

    /** Moves the start of multipart uploads back by some milliseconds; their parts are unchanged. */
    backdateUploads: (milliseconds: number) => {
      for (const upload of uploads.values()) {
        upload.begun = new Date(upload.begun.getTime() - milliseconds)
      }
    },

    /** Keys of all objects. */
    keys: () => [...objects.keys()],

    handle(request: StoreRequest): StoreResponse {
      const { method, key, query, body } = request
      const id = query.get('uploadId')
      if (key === '') return query.has('uploads') ? listUploads(query) : list(query)
      if (id !== null) return inUpload(id, request)
      switch (method) {
        case 'GET':
        case 'HEAD':
          return read(request)
        case 'PUT': {
          const object = toObject(body)
          objects.set(key, object)
          return { status: 200, headers: { etag: object.etag } }
        }
        case 'POST': {
          const made = randomUUID()
          uploads.set(made, { key, begun: new Date(), parts: new Map() })
          return xml(
            `<InitiateMultipartUploadResult><UploadId>${made}</UploadId></InitiateMultipartUploadResult>`,
          )
        }
        case 'DELETE':
          objects.delete(key)
          return { status: 204 }
        default:
          return refused(405, 'MethodNotAllowed')
      }
    },
  }
}

function toObject(content: Buffer): StoredObject {
  const etag = `"${createHash('md5').update(content).digest('hex')}"`
  return { content, etag, modified: new Date() }
}

function xml(body: string): StoreResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
  }
}

/** A refusal in the format of S3. */
export function refused(status: number, code: string): StoreResponse {
  return {
    ...xml(`<Error><Code>${code}</Code><Message>Refused by the test.</Message></Error>`),
    status,
  }
}
