export { chunkDocument } from './chunking/chunk-document.js'
export {
  type ChunkOptions,
  defaultChunkOptions,
  type Passage,
  type PassageKind,
  smallestMaximumLength,
} from './chunking/passage.js'
export type { Extraction, Source } from './document/extraction.js'
export { ExtractionError, type ExtractionFailure } from './document/extraction-error.js'
export { extract } from './extract.js'
export { type ReadDocument, readDocument, toRefusal } from './read-document.js'
