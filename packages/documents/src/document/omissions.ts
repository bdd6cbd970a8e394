import { storable } from './storable.js'

/** Where in a document something was not read. */
export interface OmissionPlace {
  /** From 1. */
  page?: number
  /** From 1. */
  slide?: number
  /** Name of a sheet. */
  sheet?: string
  /** Name of a part: a file inside of a package, an attachment, a chapter. */
  part?: string
  /** Line of a text, from 1. */
  line?: number
}

/**
 * What kind of text was not read. For each kind, `omissionTexts` says why and what to do.
 */
export type OmissionKind = keyof typeof omissionTexts

/** Something of a document that was not read, or that may have been read wrongly. */
export interface Omission {
  kind: OmissionKind
  /** How often it occurs, at least 1. */
  count: number
  /** The first places where it occurs, each once; at most `maxPlaces`. */
  places: OmissionPlace[]
  /** What the text of the kind cannot say: the name of an encoding, the type of a part. Of its first occurrence. */
  detail?: string
}

/** Most places of one kind that are kept; `count` counts the others. */
export const maxPlaces = 20

/** What was not read, as one and as several; why, and what its author can do. */
export const omissionTexts = {
  picture_without_text: {
    one: 'picture without a description',
    many: 'pictures without a description',
    why: 'Pictures are not read, and these have no description.',
    advice: 'Describe them in the program that made the document (alternative text).',
  },
  scanned_page: {
    one: 'scanned page',
    many: 'scanned pages',
    why: 'The page is a picture of text.',
    advice:
      'Run text recognition (OCR) on the document, for example with OCRmyPDF, and upload it again.',
  },
  unreadable_font: {
    one: 'text in an unreadable font',
    many: 'texts in unreadable fonts',
    why: 'The font does not define its characters.',
    advice: 'Export the document again, or run text recognition (OCR) on it.',
  },
  unknown_part: {
    one: 'part of an unknown type',
    many: 'parts of unknown types',
    why: 'A part of the document is of a type that is not read.',
    advice: 'Copy its text into the document.',
  },
  missing_part: {
    one: 'missing part',
    many: 'missing parts',
    why: 'A part that the document refers to is not in the file.',
    advice: 'Open the document in the program that made it, save it again and upload that.',
  },
  embedded_file: {
    one: 'file inside',
    many: 'files inside',
    why: 'Files inside of a document are not read where their type is not supported.',
    advice: 'Upload them by themselves.',
  },
  hidden_sheet: {
    one: 'hidden sheet',
    many: 'hidden sheets',
    why: 'Sheets that their author has hidden are not read.',
    advice: 'Show the sheet in the spreadsheet program if readers may know what is on it.',
  },
  formula_without_value: {
    one: 'formula without a value',
    many: 'formulas without a value',
    why: 'The file has a formula without its result.',
    advice:
      'Open the file in a spreadsheet program, which calculates it, save it and upload it again.',
  },
  other_direction: {
    one: 'text across the page',
    many: 'texts across the page',
    why: 'Text across the page looks like a watermark.',
    advice: 'If it is not, write it in the direction of the other text.',
  },
  encoding_in_doubt: {
    one: 'encoding in doubt',
    many: 'encodings in doubt',
    why: 'The file does not say in which encoding its text is.',
    advice: 'Save it as UTF-8, or state the encoding as `charset` in the content type.',
  },
  hidden_text: {
    one: 'hidden text',
    many: 'hidden texts',
    why: 'The document hides this text from its readers.',
    advice: 'Show it, if it should be found.',
  },
  unknown_symbol: {
    one: 'unknown symbol',
    many: 'unknown symbols',
    why: 'A character of a symbol font is not known.',
    advice: 'Insert the symbol as a character of Unicode, or write what it means.',
  },
  text_cut: {
    one: 'text cut at a limit',
    many: 'texts cut at a limit',
    why: 'The text is longer than the limit for it.',
    advice: 'Divide it.',
  },
} as const satisfies Record<string, { one: string; many: string; why: string; advice: string }>

/** What reading a document left out. */
export interface Reading {
  /** One of each kind. */
  omissions: readonly Omission[]
  /** Pages, slides, sheets or chapters: how many the document has, and of how many nothing could be read. */
  parts?: { count: number; unread: number }
}

/** Collects what a reader leaves out. */
export interface Omissions {
  /** @param count how often it occurs at this place, 1 unless stated */
  add(kind: OmissionKind, place?: OmissionPlace, rest?: { count?: number; detail?: string }): void
  /**
   * Adds those of a document inside of this one, or of another reader of it.
   *
   * @param part where they are instead of where the other document says, if it is not this one
   */
  include(others: readonly Omission[], part?: string): void
  /** One of each kind, in the order in which they occurred first. */
  list(): Omission[]
}

/** Characters of a name or a detail; names in files may have megabytes. */
const maxNameLength = 200

/** A name from a file as it is told: it may be shown and stored. */
function toName(text: string): string {
  const name = storable(text.slice(0, maxNameLength)).replace(/\s+/g, ' ').trim()
  return text.length > maxNameLength ? `${name}…` : name
}

function toPlace({ sheet, part, ...numbers }: OmissionPlace): OmissionPlace {
  return {
    ...numbers,
    ...(sheet !== undefined && { sheet: toName(sheet) }),
    ...(part !== undefined && { part: toName(part) }),
  }
}

export function createOmissions(): Omissions {
  const found = new Map<OmissionKind, Omission>()
  const open = (kind: OmissionKind, detail: string | undefined) => {
    const known = found.get(kind) ?? {
      kind,
      count: 0,
      places: [],
      ...(detail && { detail: toName(detail) }),
    }
    found.set(kind, known)
    return known
  }
  const locate = ({ places }: Omission, stated: OmissionPlace) => {
    if (places.length >= maxPlaces) return
    const place = toPlace(stated)
    const key = JSON.stringify(place)
    if (!places.some((other) => JSON.stringify(other) === key)) places.push(place)
  }
  return {
    add(kind, place, { count = 1, detail } = {}) {
      const known = open(kind, detail)
      known.count += count
      if (place !== undefined) locate(known, place)
    },
    include(others, part) {
      for (const { kind, count, places, detail } of others) {
        const known = open(kind, detail)
        known.count += count
        for (const place of part === undefined ? places : [{ part }]) locate(known, place)
      }
    },
    list: () => [...found.values()],
  }
}
