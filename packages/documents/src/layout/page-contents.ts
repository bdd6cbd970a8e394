import { ExtractionError } from '../document/extraction.js'
import { identity, type Matrix, multiply, toMatrix } from './matrix.js'
import type { Picture } from './pictures.js'
import type { RawObjects } from './raw-objects.js'
import {
  createPdfReader,
  isName,
  isReference,
  type PdfDictionary,
  type PdfReader,
  type PdfValue,
  toText,
} from './syntax.js'

/** A marked part of the drawing of a page, in the order in which they begin. */
export interface Mark {
  tag: string | undefined
  /** Number of the content on its page (`MCID`). */
  content?: number
  /** Text that stands for what is drawn in it (`ActualText`). */
  text?: string
  /** Long form of the abbreviation in it (`E`). */
  expansion?: string
  /** Description of the pictures in it. */
  alt?: string
  /** The first picture in it, or a shape of a part with a text. */
  picture?: Matrix
}

/** Content of a page besides text. */
export interface PageContents {
  marks: Mark[]
  pictures: Picture[]
  /** Whether text that is not shown is drawn, such as that of a text recognition. */
  hasInvisibleText: boolean
}

/**
 * Forms within each other, forms that a page draws, and characters of all drawings: beyond, the parser would take
 * minutes, because it follows all of them.
 */
const maxDepth = 50
const maxForms = 50_000
const maxLength = 256 * 1024 * 1024
/** Levels of nodes of the page tree that a page inherits resources from. */
const maxParents = 20
/** States of drawing that are kept, and pictures of a page. */
const maxStates = 1000
const maxPictures = 2000
/** Marked parts around a picture or a shape that get it. */
const maxAround = 100
/** Operands of an operator that are kept. */
const maxOperands = 40
const invisible = 3
/** Text that is shown and written in digits, most of a drawing: a pattern passes it faster than a reader. */
const shownDigits = /(?:(?:[-\d.]{1,12} [-\d.]{1,12} Td )?<[\da-fA-F]*> T[jJ]\s){1,1000}/g
/** The operators around the properties of a picture in a drawing, whose bytes follow. */
const pictureBegins = /(?:^|[\s\]>)])BI[\s/]/
const picturePixels = /\sID\s/

/** Returns a function that reads the contents of pages by the numbers of their objects; undefined if they have neither marks with texts nor pictures, or cannot be read. */
export function createContentsReader(objects: RawObjects) {
  const hasTexts = createPropertiesCheck(objects)
  return (page: number, number: number): PageContents | undefined => {
    const dictionary = objects.dictionaryOf({ reference: page })
    if (dictionary === undefined || objects.isEncrypted) return undefined
    const parts = [objects.resolve(dictionary.get('Contents')) ?? []].flat()
    const stated = dictionary.get('Contents')
    const streams = (
      Array.isArray(parts) && parts.every(isReference) && parts.length > 0 ? parts : [stated]
    ).map((part) => textOf(objects, part))
    if (!streams.every((text) => text !== undefined)) return undefined
    const text = streams.length === 1 ? (streams[0] ?? '') : streams.join('\n')
    const resources = inherited(objects, dictionary, 'Resources')
    if (!isOfInterest(objects, text, resources, hasTexts)) return undefined
    const walk = createWalk(objects, number)
    walk.draw(text, { resources, matrix: identity, mode: 0, depth: 0 })
    return walk.contents
  }
}

function textOf(objects: RawObjects, value: PdfValue | undefined): string | undefined {
  return value !== undefined && isReference(value) ? objects.streamOf(value.reference) : undefined
}

function inherited(
  objects: RawObjects,
  page: PdfDictionary,
  key: string,
): PdfDictionary | undefined {
  let node: PdfDictionary | undefined = page
  for (let level = 0; node !== undefined && level < maxParents; level += 1) {
    const found = objects.dictionaryOf(node.get(key))
    if (found !== undefined) return found
    node = objects.dictionaryOf(node.get('Parent'))
  }
  return undefined
}

/** Most pages draw text only, and are not looked at any further. */
function isOfInterest(
  objects: RawObjects,
  text: string,
  resources: PdfDictionary | undefined,
  hasTexts: (properties: PdfDictionary) => boolean,
): boolean {
  if (text.includes('/ActualText') || text.includes('/E(') || text.includes('/E (')) return true
  if (text.includes('Do') && objects.dictionaryOf(resources?.get('XObject')) !== undefined)
    return true
  const properties = objects.dictionaryOf(resources?.get('Properties'))
  if (properties !== undefined && hasTexts(properties)) return true
  return pictureBegins.test(text) && picturePixels.test(text)
}

/** Returns a function that tests whether named properties have texts; those that pages share are looked at once. */
function createPropertiesCheck({ dictionaryOf }: RawObjects) {
  const known = new WeakMap<PdfDictionary, boolean>()
  return (named: PdfDictionary): boolean => {
    const before = known.get(named)
    if (before !== undefined) return before
    const found = [...named.values()].some((value) => {
      const properties = dictionaryOf(value)
      return properties?.has('ActualText') === true || properties?.has('E') === true
    })
    known.set(named, found)
    return found
  }
}

interface State {
  resources: PdfDictionary | undefined
  matrix: Matrix
  /** Rendering mode of text. */
  mode: number
  /** Number of forms around. */
  depth: number
}

/** Follows the drawing of a page. */
function createWalk(objects: RawObjects, page: number) {
  const contents: PageContents = { marks: [], pictures: [], hasInvisibleText: false }
  const open: Mark[] = []
  /** Numbers of the forms around: one that contains itself is drawn once. */
  const around = new Set<number>()
  let [forms, length] = [0, 0]

  function draw(source: string, start: State): void {
    const text = source.replace(shownDigits, '()Tj ')
    length += source.length
    if (length > maxLength) throw tooMany(page)
    const reader = createPdfReader(text, { skipsText: true })
    const saved: State[] = []
    const opened = open.length
    let state = start
    let operands: PdfValue[] = []
    for (let value = reader.next(); value !== undefined; value = reader.next()) {
      if (typeof value !== 'object' || !('word' in value)) {
        if (operands.length < maxOperands) operands.push(value)
        continue
      }
      switch (value.word) {
        case 'q':
          if (saved.length < maxStates) saved.push(state)
          break
        case 'Q':
          state = saved.pop() ?? state
          break
        case 'cm': {
          const own = toMatrix(operands)
          if (own !== undefined) state = { ...state, matrix: multiply(state.matrix, own) }
          break
        }
        case 'Tr':
          state = { ...state, mode: Number(operands[0]) }
          break
        case 'Tj':
        case 'TJ':
        case "'":
        case '"':
          if (state.mode === invisible) contents.hasInvisibleText = true
          break
        case 'BMC':
        case 'BDC':
          begin(operands, state.resources)
          break
        case 'EMC':
          if (open.length > opened) open.pop()
          break
        case 'Do':
          paint(operands[0], state)
          break
        case 're':
        case 'm':
          if (open.length > 0) addShape(operands, state.matrix)
          break
        case 'BI':
          addPicture(readInline(reader, text), undefined, state.matrix)
          break
      }
      operands = []
    }
    open.length = Math.min(open.length, opened)
  }

  function begin([tag, properties]: readonly PdfValue[], resources: PdfDictionary | undefined) {
    const named = objects.dictionaryOf(resources?.get('Properties'))
    const list = objects.dictionaryOf(isName(properties) ? named?.get(properties.name) : properties)
    const content = objects.resolve(list?.get('MCID'))
    const stringOf = (key: string) => {
      const value = objects.resolve(list?.get(key))
      return typeof value === 'object' && 'bytes' in value ? toText(value.bytes) : undefined
    }
    const [text, expansion, alt] = [stringOf('ActualText'), stringOf('E'), stringOf('Alt')]
    const mark: Mark = {
      tag: isName(tag) ? tag.name : undefined,
      ...(typeof content === 'number' && { content }),
      ...(text !== undefined && { text }),
      ...(expansion !== undefined && { expansion }),
      ...(alt !== undefined && { alt }),
    }
    contents.marks.push(mark)
    open.push(mark)
  }

  /** A shape may be a sign that the mark has a text for. */
  function addShape(operands: readonly PdfValue[], matrix: Matrix): void {
    const [x, y, width = 1, height = 1] = operands.map(Number)
    const own = toMatrix([width, 0, 0, height, x, y])
    if (own === undefined) return
    for (const mark of open.slice(-maxAround))
      if (mark.text !== undefined) mark.picture ??= multiply(matrix, own)
  }

  function paint(name: PdfValue | undefined, state: State): void {
    const known = objects.dictionaryOf(state.resources?.get('XObject'))
    const reference = isName(name) ? known?.get(name.name) : undefined
    const dictionary = objects.dictionaryOf(reference)
    if (reference === undefined || dictionary === undefined) return
    const kind = objects.resolve(dictionary.get('Subtype'))
    if (isName(kind) && kind.name === 'Image') {
      const object = isReference(reference) ? reference.reference : undefined
      addPicture(dictionary, object, state.matrix)
      return
    }
    const object = isReference(reference) ? reference.reference : -1
    if (around.has(object)) return
    forms += 1
    if (forms > maxForms || state.depth >= maxDepth) throw tooMany(page)
    const text = objects.streamOf(object)
    if (text === undefined) return
    const own = toMatrix([objects.resolve(dictionary.get('Matrix')) ?? []].flat())
    around.add(object)
    draw(text, {
      ...state,
      matrix: own === undefined ? state.matrix : multiply(state.matrix, own),
      resources: objects.dictionaryOf(dictionary.get('Resources')) ?? state.resources,
      depth: state.depth + 1,
    })
    around.delete(object)
  }

  function addPicture(dictionary: PdfDictionary, object: number | undefined, matrix: Matrix): void {
    const pixels = pixelsOf(objects, dictionary)
    const near = open.slice(-maxAround)
    for (const mark of near) mark.picture ??= matrix
    if (contents.pictures.length >= maxPictures) return
    const isDescribed = near.some(
      ({ tag, text, alt }) => tag === 'Artifact' || text !== undefined || alt !== undefined,
    )
    contents.pictures.push({ matrix, pixels, object, isDescribed })
  }

  return { contents, draw }
}

/** Number of the pixels of a picture. */
function pixelsOf({ resolve }: RawObjects, dictionary: PdfDictionary): number {
  const sides = [
    ['Width', 'W'],
    ['Height', 'H'],
  ].map(([long = '', short = '']) => Number(resolve(dictionary.get(long) ?? dictionary.get(short))))
  return (sides[0] ?? 0) * (sides[1] ?? 0)
}

/** Properties of a picture within a drawing, behind whose bytes the reader continues. */
function readInline(reader: PdfReader, text: string): PdfDictionary {
  const properties: PdfDictionary = new Map()
  for (let key = reader.next(); isName(key); key = reader.next()) {
    const value = reader.next()
    if (value !== undefined) properties.set(key.name, value)
  }
  // The bytes may contain anything, also what looks like their end.
  const ending = /\sEI(?=\s)(?![^\n]{0,10}[^\t\n\r -~])/g
  ending.lastIndex = reader.at()
  reader.seek(ending.exec(text) === null ? text.length : ending.lastIndex)
  return properties
}

function tooMany(page: number): ExtractionError {
  return new ExtractionError(
    'too_large',
    `Page ${page} has more than ${maxForms.toLocaleString('en')} drawings, or drawings nested more than ${maxDepth} levels deep. ` +
      'Print the document to a new PDF file and upload that.',
  )
}
