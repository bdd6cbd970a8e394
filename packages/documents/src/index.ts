export { chunkDocument } from './chunking/chunk-document.js'
export {
  type ChunkOptions,
  defaultChunkOptions,
  minPassageLimit,
  type Passage,
  type PassageKind,
} from './chunking/passage.js'
export { describeOmission } from './document/describe-omission.js'
export {
  type Extraction,
  ExtractionError,
  type ExtractionFailure,
  extractionFailures,
  type Source,
} from './document/extraction.js'
export {
  maxPlaces,
  type Omission,
  type OmissionKind,
  type OmissionPlace,
  omissionTexts,
  type Reading,
} from './document/omissions.js'
export { showable } from './document/storable.js'
export { extract, type ReadDocument, readDocument, toRefusal } from './read-document.js'
