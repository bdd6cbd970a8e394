import { toBlocks } from '../src/chunking/blocks.js'
import { chunkDocument } from '../src/chunking/chunk-document.js'
import { defaultChunkOptions, type Passage } from '../src/chunking/passage.js'
import type { Extraction } from '../src/document/extraction.js'
import { extract } from '../src/read-document.js'

/** Reads a file whose format is known by the extension of its name only. */
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
  maxLength = defaultChunkOptions.maxLength,
): Promise<Passage[]> {
  const options = { ...defaultChunkOptions, maxLength }
  return chunkDocument(await readFile(key, content), options)
}
