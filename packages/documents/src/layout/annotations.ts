import type { Omissions } from '../document/omissions.js'
import { type Annotation, annotationTypes, type PdfDocument } from './parser.js'
import type { RawObjects } from './raw-objects.js'
import { isSigned, readSignature } from './signers.js'

/** Texts that somebody wrote into a form or onto a page. */
export interface Annotations {
  /** Values of fields and free texts, which are read where they stand. */
  filled: FilledIn[]
  /** Comments and notes, which stand beside the text. */
  comments: Comment[]
  /** Stamps and signatures by id: their text is in their drawing. */
  drawn: Map<string, Drawn>
}

interface Drawn {
  rect: readonly number[]
  isSignature: boolean
  /** Lines of text about the signature in a field. */
  lines: readonly string[]
}

/** A value of a form, or a text that somebody typed onto a page. */
export interface FilledIn {
  lines: string[]
  /** Left, bottom, right and top, in the coordinates of the page. */
  rect: readonly number[]
  /** Name of the field for readers of the form; missing in typed texts and fields without a label. */
  label?: string
  /** Name of the field for programs, used if neither a label nor the page names the field; missing in typed texts. */
  name?: string
  /** Whether it is a box that is marked or not, whose text is its label. */
  isBox: boolean
}

interface Comment {
  text: string
  rect: readonly number[]
}

/** Annotations of a document that are read. */
const maxAnnotations = 20_000
/** Bits of `annotationFlags`: hidden, and not shown on screens. */
const hiddenFlags = 2 | 32
const checked = '\u2612'
const unchecked = '\u2610'
/** Names that programs give to the state of a box. */
const meaninglessState = /^(?:on|off|yes|no|true|false|\W*|\d+|choice\s*\d+)$/i

/** Reads the annotations of all pages, by page from 1. A broken one is ignored. */
export async function readAnnotations(
  document: PdfDocument,
  objects: RawObjects,
  omissions: Omissions,
): Promise<Map<number, Annotations>> {
  const { comment, freeText, firstShape, lastShape, stamp, caret, file, field } = annotationTypes
  const shapes = Array.from({ length: lastShape - firstShape + 1 }, (_, at) => firstShape + at)
  const types = new Set([comment, freeText, ...shapes, stamp, caret, file, field])
  const found = await document.getAnnotationsByType(types, new Set()).catch(() => null)
  const pages = new Map<number, Annotations>()
  const all = (found ?? []).filter(isAnnotation)
  for (const annotation of all.slice(0, maxAnnotations)) {
    const page = annotation.pageIndex + 1
    const own = pages.get(page) ?? { filled: [], comments: [], drawn: new Map() }
    pages.set(page, own)
    if (annotation.fieldType === 'Sig') {
      addSignature(own, annotation, objects, (part) => {
        omissions.add('unknown_part', { page, part }, { detail: 'signature' })
      })
    } else {
      addAnnotation(own, annotation, () => {
        omissions.add('embedded_file', { page, part: annotation.file?.filename ?? 'unnamed' })
      })
    }
  }
  const rest = all.length - maxAnnotations
  if (rest > 0) omissions.add('text_cut', undefined, { count: rest, detail: 'form fields' })
  return pages
}

function isAnnotation(value: object): value is Annotation {
  return 'annotationType' in value && 'pageIndex' in value
}

function addAnnotation(own: Annotations, annotation: Annotation, onFile: () => void): void {
  const { annotationType: type, annotationFlags, rect, id } = annotation
  const isHidden = (annotationFlags & hiddenFlags) !== 0 || annotation.hidden === true
  if (isHidden || !isRectangle(rect)) return
  const said = annotation.contentsObj?.str.trim() ?? ''
  if (type === annotationTypes.field) {
    const filled = toFilledIn(annotation, rect)
    if (filled !== undefined) own.filled.push(filled)
  } else if (type === annotationTypes.freeText) {
    const lines = linesOf(annotation, said)
    if (lines.length > 0) own.filled.push({ lines, rect, isBox: false })
  } else if (type === annotationTypes.file) onFile()
  else if (type === annotationTypes.stamp && annotation.hasAppearance === true) {
    own.drawn.set(id, { rect, isSignature: false, lines: [] })
  }
  const isComment = type !== annotationTypes.field && type !== annotationTypes.freeText
  if (!isComment || said === '') return
  const author = annotation.titleObj?.str.trim() ?? ''
  own.comments.push({ text: author === '' ? said : `${author}: ${said}`, rect })
}

/** Signatures are often not shown on the page: then they are read after its text. */
function addSignature(
  own: Annotations,
  { id, rect, fieldName }: Annotation,
  objects: RawObjects,
  onUnread: (name: string) => void,
): void {
  const field = Number.parseInt(id, 10)
  const lines = readSignature(objects, field)
  if (lines.length === 0 && isSigned(objects, field)) onUnread(fieldName ?? 'signature')
  const place = isRectangle(rect) ? rect : [0, 0, 0, 0]
  own.drawn.set(id, { rect: place, isSignature: true, lines })
}

function isRectangle(rect: Annotation['rect']): rect is readonly number[] {
  return rect?.length === 4 && rect.every(Number.isFinite)
}

function toFilledIn(field: Annotation, rect: readonly number[]): FilledIn | undefined {
  if (field.password === true || field.pushButton === true) return undefined
  const label = oneLine(field.alternativeText ?? '')
  const name = oneLine(
    field.fieldName
      ?.split('.')
      .at(-1)
      ?.replace(/[_\W]+/g, ' ') ?? '',
  )
  const names = { ...(label !== '' && { label }), ...(name !== '' && { name }) }
  if (field.checkBox === true || field.radioButton === true) {
    const state = (field.checkBox === true ? field.exportValue : field.buttonValue) ?? ''
    // A box without a drawing of its own does not name its state.
    const isOn =
      state === '' ? field.checkBox === true && isChosen(field) : field.fieldValue === state
    const own = meaninglessState.test(state) ? {} : { label: oneLine(state) }
    return { lines: [isOn ? checked : unchecked], rect, ...names, ...own, isBox: true }
  }
  const lines = linesOf(field, shownValue(field))
  return lines.length === 0 ? undefined : { lines, rect, ...names, isBox: false }
}

function isChosen({ fieldValue }: Annotation): boolean {
  return typeof fieldValue === 'string' && fieldValue !== '' && fieldValue !== 'Off'
}

/** The value of a field as its reader sees it. */
function shownValue({ fieldValue, options = [] }: Annotation): string {
  const values = typeof fieldValue === 'string' ? [fieldValue] : (fieldValue ?? [])
  const shown = new Map<string | null, string | null>()
  for (const { exportValue, displayValue } of options) {
    if (!shown.has(exportValue)) shown.set(exportValue, displayValue)
  }
  return values.map((value) => shown.get(value) ?? value).join(', ')
}

/** Lines as they are shown, if they have the text of the value. */
function linesOf({ textContent }: Annotation, value: string): string[] {
  const letters = (text: string) => text.replace(/\s+/g, '')
  const shown = textContent ?? []
  const isWhole = shown.length > 0 && letters(shown.join('')) === letters(value)
  const lines = isWhole || value === '' ? shown : value.split(/\r\n?|\n/)
  return lines.map(oneLine).filter((line) => line !== '')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
