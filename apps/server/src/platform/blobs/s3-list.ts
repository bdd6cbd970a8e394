import type { S3Address } from './s3-address.js'
import type { S3Client } from './s3-client.js'
import type { UploadInParts } from './s3-put.js'
import { elementsOf, S3ConnectionError, S3Error, textOf } from './s3-responses.js'

/** An object below the prefix. */
export interface ListedObject {
  /** Without the prefix. */
  key: string
  /** Bytes. */
  size: number
  /** Milliseconds since the Unix epoch. */
  storedAt: number
}

/** An upload in parts that is not complete. */
export interface ListedUpload extends UploadInParts {
  /** Milliseconds since the Unix epoch. */
  begunAt: number
}

interface ListOptions {
  /** Objects of one response, from 1 to 1,000. */
  limit?: number
  attempts?: number
}

/** Pages in a row that may list nothing and announce another one. */
const maxEmptyPages = 100

/** The elements of each page of a list; a list of empty pages without an end would be asked for for ever. */
function pageReader(element: string): (body: string) => string[] {
  let empty = 0
  return (body) => {
    const found = elementsOf(body, element)
    empty = found.length > 0 ? 0 : empty + 1
    if (empty <= maxEmptyPages) return found
    throw new S3ConnectionError('The list of the object store has no end.')
  }
}

/** All objects below the prefix, a page at a time. */
export async function* listObjects(
  client: S3Client,
  { prefix }: S3Address,
  { limit = 1000, attempts }: ListOptions = {},
): AsyncGenerator<ListedObject> {
  const read = pageReader('Contents')
  let next: string | undefined
  do {
    const { body } = await client.send({
      method: 'GET',
      query: {
        'list-type': '2',
        'max-keys': String(limit),
        prefix,
        ...(next !== undefined && { 'continuation-token': next }),
      },
      ...(attempts !== undefined && { attempts }),
    })
    for (const object of read(body)) {
      const key = keyOf(object, prefix)
      if (key === undefined) continue
      yield { key, size: Number(textOf(object, 'Size')), storedAt: timeOf(object, 'LastModified') }
    }
    next = isCut(body) ? textOf(body, 'NextContinuationToken') : undefined
  } while (next !== undefined)
}

/** All uploads in parts below the prefix that were neither completed nor given up. */
export async function* listUploads(
  client: S3Client,
  { prefix }: S3Address,
): AsyncGenerator<ListedUpload> {
  const read = pageReader('Upload')
  let next: Record<string, string> | undefined = {}
  do {
    const { body } = await client.send({
      method: 'GET',
      query: { uploads: '', prefix, ...next },
    })
    for (const upload of read(body)) {
      const key = keyOf(upload, prefix)
      const uploadId = textOf(upload, 'UploadId')
      if (key === undefined || uploadId === undefined) continue
      yield { key, uploadId, begunAt: timeOf(upload, 'Initiated') }
    }
    const keyMarker = textOf(body, 'NextKeyMarker')
    const uploadIdMarker = textOf(body, 'NextUploadIdMarker')
    next =
      isCut(body) && keyMarker !== undefined
        ? { 'key-marker': keyMarker, ...(uploadIdMarker && { 'upload-id-marker': uploadIdMarker }) }
        : undefined
  } while (next !== undefined)
}

/** Returns when the latest part of an upload arrived, in milliseconds since the Unix epoch; 0 without parts. */
export async function lastWriteOf(client: S3Client, upload: UploadInParts): Promise<number> {
  const { key, uploadId } = upload
  const read = pageReader('Part')
  let latest = 0
  let next: string | undefined = '0'
  do {
    const response: string | undefined = await partsFrom(client, key, {
      uploadId,
      'part-number-marker': next,
    })
    // It was completed or given up since it was listed.
    if (response === undefined) return Number.POSITIVE_INFINITY
    for (const part of read(response)) {
      latest = Math.max(latest, timeOf(part, 'LastModified'))
    }
    next = isCut(response) ? textOf(response, 'NextPartNumberMarker') : undefined
  } while (next !== undefined)
  return latest
}

async function partsFrom(client: S3Client, key: string, query: Record<string, string>) {
  try {
    return (await client.send({ method: 'GET', key, query })).body
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return undefined
    throw error
  }
}

function keyOf(xml: string, prefix: string): string | undefined {
  const key = textOf(xml, 'Key')
  return key?.startsWith(prefix) ? key.slice(prefix.length) : undefined
}

function timeOf(xml: string, element: string): number {
  return Date.parse(textOf(xml, element) ?? '')
}

function isCut(body: string): boolean {
  return textOf(body, 'IsTruncated') === 'true'
}
