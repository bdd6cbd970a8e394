import { showable } from './storable.js'

/** A place in a document where something was not read. */
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
 * Kind of content that was not read. For each kind, `omissionTexts` has the reason and the advice.
 */
export type OmissionKind = keyof typeof omissionTexts

/** Something of a document that was not read, or that may have been read wrongly. */
export interface Omission {
  kind: OmissionKind
  /** Number of occurrences, at least 1. */
  count: number
  /** The first places where it occurs, each once; at most `maxPlaces`. */
  places: OmissionPlace[]
  /** Whether it occurs at more places. */
  hasMorePlaces?: boolean
  /** Detail of the first occurrence, such as the name of an encoding or the type of a part. */
  detail?: string
}

/** Places that are kept of one kind; `count` counts all occurrences. */
export const maxPlaces = 20

/** The words of each kind for people: its name in singular and plural, the reason, and advice for the author. */
export const omissionTexts = {
  picture_without_text: {
    one: 'picture without a description',
    many: 'pictures without a description',
    why: 'The text in pictures is not read, and these have no description.',
    advice:
      'Add alternative text in the program that created the document. ' +
      'If the picture shows text, upload the text as a file too.',
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
    why: 'The font does not map its glyphs to characters.',
    advice:
      'Export the document again, or run text recognition (OCR) on it, and upload the result.',
  },
  unknown_part: {
    one: 'part of an unknown type',
    many: 'parts of unknown types',
    why: 'Parts of this type are not read.',
    advice: 'If the part has text, copy it into the document.',
  },
  missing_part: {
    one: 'missing part',
    many: 'missing parts',
    why: 'The document refers to a part that is not in the file.',
    advice: 'Open the document in the program that created it, save it and upload it again.',
  },
  embedded_file: {
    one: 'embedded file',
    many: 'embedded files',
    why: 'Embedded files are read only if their type is supported and they are within the limits.',
    advice: 'Upload them separately in a format that is read; unpack archives first.',
  },
  hidden_sheet: {
    one: 'hidden sheet',
    many: 'hidden sheets',
    why: 'Sheets that the author has hidden are not read.',
    advice:
      'To make a sheet searchable, unhide it in the spreadsheet program and upload the file again.',
  },
  formula_without_value: {
    one: 'formula without a value',
    many: 'formulas without a value',
    why: 'The file contains the formula but not its result.',
    advice:
      'Open the file in a spreadsheet program, which calculates the results, save it and upload it again.',
  },
  other_direction: {
    one: 'apparent watermark',
    many: 'apparent watermarks',
    why: 'Large diagonal text and decorative text behind pages are not read.',
    advice: 'If it is content, write it as ordinary text.',
  },
  encoding_in_doubt: {
    one: 'encoding in doubt',
    many: 'encodings in doubt',
    why: 'The file states no encoding, or one that does not fit, so the encoding was guessed.',
    advice: 'Save the file as UTF-8, or state the encoding as `charset` in the content type.',
  },
  hidden_text: {
    one: 'hidden text',
    many: 'hidden texts',
    why: 'Text that the document hides from its readers is not read.',
    advice: 'To make it searchable, unhide it and upload the file again.',
  },
  unknown_symbol: {
    one: 'unknown symbol',
    many: 'unknown symbols',
    why: 'The character of a symbol font has no known equivalent in Unicode.',
    advice: 'Insert the symbol as a Unicode character, or write what it means.',
  },
  text_cut: {
    one: 'text cut at a limit',
    many: 'texts cut at a limit',
    why: 'The text exceeds a limit of its format.',
    advice: 'Split it into several parts or files.',
  },
} as const satisfies Record<string, { one: string; many: string; why: string; advice: string }>

/** The omissions of a document, and the share of its parts that they concern. */
export interface Reading {
  /** One of each kind. */
  omissions: readonly Omission[]
  /** Number of pages, slides, sheets or chapters, and of those of which nothing could be read. */
  parts?: { count: number; unread: number }
}

/** Collects the omissions of a reader. */
export interface Omissions {
  /** @param count how often it occurs at this place, 1 unless stated */
  add(kind: OmissionKind, place?: OmissionPlace, rest?: { count?: number; detail?: string }): void
  /**
   * Adds those of a document inside of this one, or of another reader of it.
   *
   * @param part replaces the places of a document inside of this one
   */
  include(others: readonly Omission[], part?: string): void
  /** One of each kind, in the order in which they occurred first. */
  list(): Omission[]
}

/** Characters of a name or a detail that are kept; names in files may have megabytes. */
const maxNameLength = 200

/** A name from a file in a form that can be stored and shown. */
function toName(text: string): string {
  const name = showable(text.slice(0, maxNameLength)).replace(/\s+/g, ' ').trim()
  return text.length > maxNameLength ? `${name}…` : name
}

function toPlace({ sheet, part, ...numbers }: OmissionPlace): OmissionPlace {
  return {
    ...numbers,
    ...(sheet !== undefined && { sheet: toName(sheet) }),
    ...(part !== undefined && { part: toName(part) }),
  }
}

function isSamePlace(one: OmissionPlace, other: OmissionPlace | undefined): boolean {
  return (
    other !== undefined &&
    one.page === other.page &&
    one.slide === other.slide &&
    one.sheet === other.sheet &&
    one.part === other.part &&
    one.line === other.line
  )
}

export function createOmissions(): Omissions {
  const found = new Map<OmissionKind, Omission>()
  /** The places of each kind as text, to name each once. */
  const named = new Map<OmissionKind, Set<string>>()
  /** The place that was stated last for each kind: a sheet may have millions of formulas at one. */
  const last = new Map<OmissionKind, OmissionPlace>()
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
  const locate = (omission: Omission, stated: OmissionPlace) => {
    const { kind, places } = omission
    if (omission.hasMorePlaces || isSamePlace(stated, last.get(kind))) return
    last.set(kind, stated)
    const place = toPlace(stated)
    const keys = named.get(kind) ?? new Set()
    named.set(kind, keys)
    if (places.length >= maxPlaces) omission.hasMorePlaces = !keys.has(JSON.stringify(place))
    else if (keys.size < keys.add(JSON.stringify(place)).size) places.push(place)
  }
  return {
    add(kind, place, { count = 1, detail } = {}) {
      const known = open(kind, detail)
      known.count += count
      if (place !== undefined) locate(known, place)
    },
    include(others, part) {
      for (const { kind, count, places, detail, hasMorePlaces } of others) {
        const known = open(kind, detail)
        known.count += count
        for (const place of part === undefined ? places : [{ part }]) locate(known, place)
        if (hasMorePlaces && part === undefined) known.hasMorePlaces = true
      }
    },
    list: () => [...found.values()],
  }
}
