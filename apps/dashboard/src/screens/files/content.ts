import { toApiError } from '@botstead/contract'
import { fetchFromServer, serverUrl } from '../../api/client.js'
import type { File } from './queries.js'

/**
 * The address of the content below the address that this page came from, because the policy of the page permits
 * no other.
 */
export function contentUrl({ url }: Pick<File, 'url'>): string {
  return serverUrl + url.slice(url.lastIndexOf('/content/'))
}

/** The display of a content. */
type Kind = 'pdf' | 'image' | 'audio' | 'video' | 'markdown' | 'text' | 'none'

const texts =
  /^text\/|^application\/(?:json|x-ndjson|jsonl|xml|yaml|x-yaml|javascript|sql|toml)$|\+(?:json|xml)$/
const images = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/

/** @param contentType media type, with or without parameters */
export function kindOf(contentType: string, key: string): Kind {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (type === 'application/pdf') return 'pdf'
  // An image element runs no scripts of SVG and loads nothing for it.
  if (images.test(type)) return 'image'
  if (type.startsWith('audio/')) return 'audio'
  if (type.startsWith('video/')) return 'video'
  if (type === 'text/markdown' || /\.(?:md|markdown)$/i.test(key)) return 'markdown'
  return texts.test(type) ? 'text' : 'none'
}

/** Maximum number of bytes of a text that are shown. */
const shownBytes = 500_000
/** Maximum number of bytes of a PDF that are loaded into the page. */
export const pdfMaximum = 100_000_000

/** The beginning of a content as text, and whether there is more. */
export async function readText(
  file: File,
  signal: AbortSignal,
): Promise<{ text: string; isCut: boolean }> {
  const size = file.size ?? 0
  const response = await load(file, signal, {
    ...(size > shownBytes && { range: `bytes=0-${shownBytes - 1}` }),
  })
  const bytes = await response.arrayBuffer()
  return { text: new TextDecoder().decode(bytes), isCut: size > shownBytes }
}

/** A content as a blob of exactly this type; the type in the response is ignored. */
export async function readBlob(file: File, type: string, signal: AbortSignal): Promise<Blob> {
  const response = await load(file, signal)
  return new Blob([await response.arrayBuffer()], { type })
}

async function load(
  file: File,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetchFromServer(contentUrl(file), { headers, signal })
  if (!response.ok) throw toApiError(response.status, await response.text())
  return response
}
