import { toBlocks } from '../../src/features/search/chunk/blocks.js'
import { chunkDocument } from '../../src/features/search/chunk/chunk-document.js'
import { DEFAULT_CHUNK_OPTIONS, type Passage } from '../../src/features/search/chunk/passage.js'
import type { Extraction } from '../../src/features/search/extract/extractor.js'
import { extract } from '../../src/features/search/extract/registry.js'

/** Reads a file that is known by the extension of its name alone. */
export async function readFile(key: string, content: string | Uint8Array): Promise<Extraction> {
  return await extract({ bytes: Buffer.from(content), contentType: '', key })
}

/** The Markdown of every block of a file. */
export async function blocksOf(key: string, content: string | Uint8Array): Promise<string[]> {
  return toBlocks(await readFile(key, content)).map((block) => block.text)
}

/** The passages of a file. */
export async function passagesOf(
  key: string,
  content: string | Uint8Array,
  maximumLength = DEFAULT_CHUNK_OPTIONS.maximumLength,
): Promise<Passage[]> {
  const options = { ...DEFAULT_CHUNK_OPTIONS, maximumLength }
  return chunkDocument(await readFile(key, content), options)
}
