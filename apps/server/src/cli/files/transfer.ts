import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type Body,
  type Client,
  type contract,
  errorCatalogue,
  toApiError,
} from '@botstead/contract'
import type { RemoteFile } from './remote.js'

const lostStatus = errorCatalogue.ResourceGone.status

type Upsert = Body<typeof contract.files.upsert>

/** The description of an uploaded file. */
export interface Description
  extends Pick<Upsert, 'accessPolicies' | 'contentType' | 'expiresAt' | 'metadata'> {
  index: boolean
  tags: Record<string, string>
  /** Whether to index a document although more than half of it cannot be read. */
  allowPartial?: boolean
  /** Further options of indexing. */
  configuration?: NonNullable<Upsert['indexing']>['configuration'] | undefined
}

/**
 * A description that keeps what it does not name: an upload describes the file as a whole, and replaces what others said
 * of it.
 *
 * @param former the file that is replaced
 */
export function withFormer(description: Description, former: RemoteFile | undefined): Description {
  if (former === undefined) return description
  const { accessPolicies, contentType, expiresAt } = former
  const { indexing, ...rest } = former.metadata
  const configuration = configurationOf(indexing)
  return {
    contentType,
    accessPolicies,
    ...description,
    tags: { ...former.tags, ...description.tags },
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: configuration === undefined ? former.metadata : rest,
    ...(configuration !== undefined && { configuration }),
  }
}

/**
 * Options of indexing, which the server keeps in the metadata of a file; undefined if there are none. A member of that
 * name may also be the author's own.
 */
function configurationOf(indexing: unknown): Description['configuration'] {
  if (typeof indexing !== 'object' || indexing === null) return undefined
  const found = 'configuration' in indexing ? indexing.configuration : undefined
  return typeof found === 'object' && found !== null ? found : undefined
}

/** A file on this machine. */
export interface LocalFile {
  path: string
  /** Bytes. */
  size: number
  /** Hex. */
  sha256: string
}

/** Measures and hashes a file in one pass. */
export async function measure(path: string, signal: AbortSignal): Promise<LocalFile> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(path, { signal })) {
    hash.update(chunk)
    size += chunk.length
  }
  return { path, size, sha256: hash.digest('hex') }
}

interface SendOptions {
  client: Client
  key: string
  file: LocalFile
  description: Description
  signal: AbortSignal
  onBytes?: (bytes: number) => void
}

/**
 * Describes a file and uploads its content. The server compares the hash with what it receives.
 * @returns the file, as it was before the content arrived
 */
export async function sendFile(options: SendOptions): Promise<RemoteFile> {
  const { client, key, file, description, signal, onBytes } = options
  const { allowPartial = false, configuration, ...described } = description
  const parsing = allowPartial ? { ...configuration?.parsing, allowPartial } : undefined
  const indexing = { configuration: { ...configuration, ...(parsing && { parsing }) } }
  const isConfigured = configuration !== undefined || parsing !== undefined
  const { file: announced } = await client.upsertFile(
    { ...described, key, size: file.size, ...(isConfigured && { indexing }) },
    { signal },
  )
  const stream = createReadStream(file.path, { signal })
  if (onBytes) stream.on('data', (chunk) => onBytes(chunk.length))
  const digest = Buffer.from(file.sha256, 'hex').toString('base64')
  const init: RequestInit & { duplex: 'half' } = {
    method: 'PUT',
    body: Readable.toWeb(stream) as ReadableStream,
    headers: {
      'content-type': announced.contentType,
      'content-length': String(file.size),
      'content-digest': `sha-256=:${digest}:`,
    },
    duplex: 'half',
    signal,
  }
  try {
    const response = await fetch(announced.uploadUrl, init)
    if (!response.ok) throw await refusalOf(response)
    await response.body?.cancel()
    return announced
  } finally {
    stream.destroy()
  }
}

/**
 * Whether the storage of the server has lost a content whose hash it knows.
 * @param file as it was listed, possibly so long ago that its address has expired
 */
export async function isLost(
  client: Client,
  file: RemoteFile,
  signal: AbortSignal,
): Promise<boolean> {
  const statusOf = async (url: string) => (await fetch(url, { method: 'HEAD', signal })).status
  const status = await statusOf(file.url)
  if (status !== errorCatalogue.Forbidden.status) return status === lostStatus
  const { file: again } = await client.getFile({ id: file.id }, { signal })
  return (await statusOf(again.url)) === lostStatus
}

/** Downloads the content of a file into a new file, which appears once it is complete. */
export async function receiveFile(url: string, path: string, signal: AbortSignal): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.part`
  try {
    await pipeline(await openContent(url, signal), createWriteStream(draft, { flags: 'wx' }), {
      signal,
    })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** The content of a file. */
export async function openContent(url: string, signal: AbortSignal): Promise<Readable> {
  const response = await fetch(url, { signal })
  if (!response.ok) throw await refusalOf(response)
  return Readable.from(response.body ?? [])
}

/** Whether a path exists. */
export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

async function refusalOf(response: Response): Promise<Error> {
  return toApiError(response.status, await response.text())
}
