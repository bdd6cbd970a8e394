import { constants, inflateSync } from 'node:zlib'
import { type PdfDictionary, type PdfValue, toPdfValue } from './syntax.js'

/** Bytes of a file, of its packed objects and of its drawings that are searched. */
const maxFileLength = 48 * 1024 * 1024
const maxUnpackedLength = 96 * 1024 * 1024
const maxDrawnLength = 512 * 1024 * 1024
/** Bytes of one stream, and of one object. */
const maxPackedLength = 8 * 1024 * 1024
const maxObjectLength = 256 * 1024
/** References that are followed to a value. */
const maxReferences = 10

/** The objects of a file as they are in it, for what the parser does not expose. */
export interface RawObjects {
  /** Whether strings and contents are encrypted, so that only numbers and names can be read. */
  isEncrypted: boolean
  /** Whether the file has pictures that are objects. */
  hasPictures: boolean
  /** Texts of all objects by their numbers; of two with one number, the later one counts. */
  texts: ReadonlyMap<number, string>
  /** The value behind references. */
  resolve(value: PdfValue | undefined): PdfValue | undefined
  /** The dictionary behind references; that of a stream too. */
  dictionaryOf(value: PdfValue | undefined): PdfDictionary | undefined
  /** The unpacked bytes of the stream of an object, one a character; undefined if they cannot be read. */
  streamOf(number: number): string | undefined
}

/** The place of the bytes of a stream in the file. */
interface Place {
  from: number
  to: number
}

/** Finds the objects of a file. In damaged files some or all may be missing. */
export function readRawObjects(bytes: Uint8Array): RawObjects {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isEncrypted = file.includes('/Encrypt', 0, 'latin1')
  const texts = new Map<number, string>()
  const places = new Map<number, Place>()
  const values = new Map<number, PdfValue | undefined>()
  const left = { objects: maxUnpackedLength, drawings: maxDrawnLength }
  let hasPictures = false
  const unpackWithin = (place: Place, kind: keyof typeof left) => {
    const unpacked = left[kind] > 0 ? unpack(file.subarray(place.from, place.to)) : undefined
    left[kind] -= unpacked?.length ?? maxPackedLength
    return unpacked
  }

  if (file.length <= maxFileLength) {
    for (const { number, text, place } of objectsOf(file)) {
      values.delete(number)
      places.delete(number)
      texts.set(number, text)
      if (place === undefined) continue
      places.set(number, place)
      hasPictures ||= /\/Subtype\s*\/Image\b/.test(text)
      if (!/\/ObjStm\b/.test(text)) continue
      for (const [inner, object] of packedObjects(text, unpackWithin(place, 'objects') ?? '')) {
        texts.set(inner, object)
        places.delete(inner)
      }
    }
  }

  function objectOf(number: number): PdfValue | undefined {
    if (!values.has(number)) {
      const text = texts.get(number)
      values.set(number, text === undefined ? undefined : toPdfValue(text))
    }
    return values.get(number)
  }

  function resolve(value: PdfValue | undefined): PdfValue | undefined {
    let found = value
    for (let count = 0; count < maxReferences; count += 1) {
      if (typeof found !== 'object' || !('reference' in found)) return found
      found = objectOf(found.reference)
    }
    return undefined
  }

  return {
    isEncrypted,
    hasPictures,
    texts,
    resolve,
    dictionaryOf: (value) => {
      const found = resolve(value)
      return found instanceof Map ? found : undefined
    },
    streamOf: (number) => {
      const [place, dictionary] = [places.get(number), objectOf(number)]
      if (place === undefined || isEncrypted || !(dictionary instanceof Map)) return undefined
      const filters = [resolve(dictionary.get('Filter')) ?? []].flat()
      if (filters.length === 0) return file.toString('latin1', place.from, place.to)
      const [filter, other] = filters
      const isKnown =
        typeof filter === 'object' && 'name' in filter && filter.name === 'FlateDecode'
      if (!isKnown || other !== undefined || dictionary.has('DecodeParms')) return undefined
      return unpackWithin(place, 'drawings')
    },
  }
}

interface FoundObject {
  number: number
  text: string
  place?: Place
}

/** Objects in their order in the file; of those that share an end, because some have none, the first. */
function* objectsOf(file: Buffer): Generator<FoundObject> {
  const endFrom = createFinder(file, 'endobj')
  const streamFrom = createFinder(file, 'stream')
  const endStreamFrom = createFinder(file, 'endstream')
  for (let at = file.indexOf(' obj', 0, 'latin1'); at !== -1; ) {
    const start = at + 4
    const number = numberBefore(file, at)
    if (number === undefined) {
      at = file.indexOf(' obj', start, 'latin1')
      continue
    }
    const [end, stream] = [endFrom(start), streamFrom(start)]
    const stop = Math.min(end, stream, file.length)
    const text = file.toString('latin1', start, Math.min(stop, start + maxObjectLength))
    if (end < stream) yield { number, text }
    let next = stop
    if (stream < end) {
      const from = stream + (file[stream + 6] === 0x0d && file[stream + 7] === 0x0a ? 8 : 7)
      const stated = from + Number(/\/Length\s+(\d{1,9})\b(?!\s+\d+\s+R)/.exec(text)?.[1])
      const isRight = file
        .toString('latin1', stated, stated + 12)
        .trimStart()
        .startsWith('endstream')
      const to = isRight ? stated : Math.min(endStreamFrom(from), file.length)
      yield { number, text, place: { from, to } }
      next = to
    }
    at = file.indexOf(' obj', Math.max(next, start), 'latin1')
  }
}

/** The number of an object whose generation ends at an offset; undefined if there is none. */
function numberBefore(file: Buffer, end: number): number | undefined {
  const found = /(?:^|\D)(\d{1,8})\s+\d{1,5}$/.exec(
    file.toString('latin1', Math.max(0, end - 16), end),
  )
  return found === null ? undefined : Number(found[1])
}

/** Returns a function that finds the next place of a word from ever later places on; infinite if there is none. */
function createFinder(file: Buffer, word: string): (from: number) => number {
  let next = -1
  return (from) => {
    if (next < from) {
      const found = file.indexOf(word, from, 'latin1')
      next = found === -1 ? Number.POSITIVE_INFINITY : found
    }
    return next
  }
}

function unpack(bytes: Buffer): string | undefined {
  try {
    // Some programs write streams without their end.
    const options = { maxOutputLength: maxPackedLength, finishFlush: constants.Z_SYNC_FLUSH }
    return inflateSync(bytes, options).toString('latin1')
  } catch {
    return undefined
  }
}

/** The objects in a stream of objects, which begins with the number and the place of each. */
function packedObjects(dictionary: string, text: string): [number, string][] {
  const first = Number(/\/First\s+(\d+)/.exec(dictionary)?.[1])
  if (!(first <= text.length)) return []
  const numbers = text.slice(0, first).trim().split(/\s+/).map(Number)
  const objects: [number, string][] = []
  // Places in order divide the text; others could name it again and again.
  let left = text.length
  for (let at = 0; at + 1 < numbers.length && left >= 0; at += 2) {
    const [number = 0, from = 0] = numbers.slice(at, at + 2)
    const next = numbers[at + 3]
    const object = text.slice(first + from, next === undefined ? undefined : first + next)
    left -= object.length
    if (left >= 0) objects.push([number, object])
  }
  return objects
}
