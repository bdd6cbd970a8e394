export { chunkDocument } from './chunking/chunk-document.js'
export {
  type ChunkOptions,
  defaultChunkOptions,
  type Passage,
  type PassageKind,
  smallestMaximumLength,
} from './chunking/passage.js'
export { ExtractionError, type ExtractionFailure } from './formats/extraction-error.js'
export type { Extraction, Source } from './formats/extractor.js'
export { extract } from './formats/registry.js'
