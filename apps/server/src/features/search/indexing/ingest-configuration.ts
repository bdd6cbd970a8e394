import { type ChunkOptions, defaultChunkOptions, smallestMaximumLength } from '@botstead/documents'
import type { ContextOptions } from '@botstead/documents/text'

/** A passage is displayed and prompted as a whole, so no option makes it longer than this. */
const largestMaximumLength = 20_000

/** The `indexing.configuration` of an upload. Unknown members are ignored. */
export interface IngestConfiguration {
  parsing?: {
    /** `agent` requests a language model to read the document. */
    mode?: string
    /** UTF-16 units; shorter stand-alone paragraphs are merged with the following one. */
    minimumParagraphLength?: number
    /** Requests a language model to clean up the text of a PDF. */
    smartCleanup?: boolean
  }
  chunking?: ContextOptions & {
    /** UTF-16 units that no passage exceeds; from 64, at most 20,000. */
    maximumChunkLength?: number
  }
  summarization?: { enable?: boolean; generateMasterSummary?: boolean }
  vision?: { transcribePages?: unknown; indexPages?: unknown }
}

/** The chunking options of a document, from its configuration and the limits of the server. */
export function toChunkOptions(
  configuration: IngestConfiguration,
  maximumPassages = defaultChunkOptions.maximumPassages,
): ChunkOptions {
  const { parsing, chunking } = configuration
  const wanted = chunking?.maximumChunkLength ?? defaultChunkOptions.maximumLength
  const maximumLength = Math.min(Math.max(wanted, smallestMaximumLength), largestMaximumLength)
  return {
    maximumLength: Math.trunc(maximumLength),
    minimumParagraphLength:
      parsing?.minimumParagraphLength ?? defaultChunkOptions.minimumParagraphLength,
    // An explicit minimum is followed exactly.
    packsShort: parsing?.minimumParagraphLength === undefined,
    maximumPassages,
  }
}

/**
 * The options of a configuration that are not applied because they require a language or vision model: the
 * paths of the members, such as `parsing.smartCleanup`. Options that are turned off are not listed.
 */
export function listNotApplied(configuration: IngestConfiguration): string[] {
  const { parsing, summarization, vision } = configuration
  const options = {
    'parsing.mode': parsing?.mode === 'agent',
    'parsing.smartCleanup': parsing?.smartCleanup === true,
    'summarization.enable': summarization?.enable === true,
    'summarization.generateMasterSummary': summarization?.generateMasterSummary === true,
    'vision.transcribePages': asksForPages(vision?.transcribePages),
    'vision.indexPages': asksForPages(vision?.indexPages),
  }
  return Object.entries(options).flatMap(([path, isSet]) => (isSet ? [path] : []))
}

/** `true` or a list of page numbers. */
function asksForPages(pages: unknown): boolean {
  return pages === true || (Array.isArray(pages) && pages.length > 0)
}
