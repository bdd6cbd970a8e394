/** Media types that a browser shows without running anything in them. */
const inert =
  /^(?:audio|video)\/|^image\/(?:png|jpeg|gif|webp|avif|bmp)$|^text\/(?:plain|markdown|csv)$|^application\/(?:pdf|json)$/

/**
 * The header `Content-Disposition` of a content. What is active or unknown is saved, never shown: a
 * page with scripts must not run under the address of this server.
 * @param key of the file; its last segment becomes the name to save it under
 */
export function contentDisposition(key: string, contentType: string): string {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  const kind = inert.test(type) ? 'inline' : 'attachment'
  const name = fileNameOf(key)
  const plain = name.replace(/[^ !#-[\]-~]/gu, '_').replaceAll('%', '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`
}

/** The last segment of a key without what file systems and terminals stumble over. */
export function fileNameOf(key: string): string {
  const segment = key.split(/[/\\]/).at(-1) ?? ''
  const name = segment.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').trim()
  // A name of dots alone is a folder.
  return /^\.*$/.test(name) ? 'file' : name
}

/** RFC 8187: `encodeURIComponent` leaves a few characters that the header does not allow. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
