import { isStopword } from '@botstead/documents/text'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../../platform/db/schema.js'
import { findModel } from '../space-store.js'

/** Makes vectors of texts: a direction for each term, scaled by the significance of the term. */
export interface LsaModel {
  dimensions: number
  /** Row of each term in `directions`. */
  rows: ReadonlyMap<string, number>
  /** The rarity of each term, from 0. */
  rarity: Float32Array
  /** One row of `dimensions` numbers per term, of length 1 over each column. */
  directions: Float32Array
}

/** The vector of a text. */
export interface LsaVector {
  /** Of length 1, or all 0 if the model knows none of the words. */
  values: Float32Array
  /** Share of the weight of the text that the model knows, from 0 to 1; unknown words count as rare. */
  known: number
}

/**
 * The vector of a text in the space of the passages from which the model was made. The vectors of those passages
 * are made in the same way, so that new passages and questions are comparable with them.
 *
 * @param text in the form of `toIndexText`
 */
export function toLsaVector(model: LsaModel, text: string): LsaVector {
  const { dimensions, rows, rarity, directions } = model
  const values = new Float32Array(dimensions)
  const rarest = rarestOf(rarity)
  let total = 0
  for (const [term, count] of countTerms(text)) {
    const row = rows.get(term)
    const weight = termWeight(count) * (row === undefined ? rarest : (rarity[row] ?? 0))
    total += weight ** 2
    // Its meaning is unknown, which reduces `known`.
    if (row === undefined) continue
    for (let at = 0; at < dimensions; at++) {
      values[at] = (values[at] ?? 0) + weight * (directions[row * dimensions + at] ?? 0)
    }
  }
  const length = Math.hypot(...values)
  if (length === 0) return { values, known: 0 }
  for (let at = 0; at < dimensions; at++) values[at] = (values[at] ?? 0) / length
  return { values, known: Math.min(1, length / Math.sqrt(total)) }
}

const rarestByModel = new WeakMap<Float32Array, number>()

/** The highest rarity of a model, computed once: a model has tens of thousands of terms. */
function rarestOf(rarity: Float32Array): number {
  const known = rarestByModel.get(rarity)
  if (known !== undefined) return known
  const rarest = rarity.reduce((most, value) => Math.max(most, value), 0)
  rarestByModel.set(rarity, rarest)
  return rarest
}

/** Repeated occurrences of a term count less than the first. */
export function termWeight(count: number): number {
  return 1 + Math.log(count)
}

/** Letters of a word that count; the rest is mostly inflection. */
const stemLength = 6
/** Shorter tokens, which are single ASCII characters, are not terms. */
const shortest = 2
const hasDigit = /\p{N}/u

/**
 * The terms of a text with their frequencies. Words with the same beginning are one term: a stemmer for
 * every alphabetic language.
 *
 * @param text in the form of `toIndexText`
 */
export function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const token of text.split(' ')) {
    const term = toTerm(token)
    if (term !== undefined) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  return counts
}

function toTerm(token: string): string | undefined {
  if (token === '' || isStopword(token)) return undefined
  const isAscii = token.charCodeAt(0) < 128
  if (isAscii && token.length < shortest) return undefined
  // Numbers and codes with the same beginning have different meanings.
  return token.length > stemLength && !hasDigit.test(token) ? token.slice(0, stemLength) : token
}

/** The version of tokenization and of the model format; models of another version are made again. */
export const lsaEmbedder = 'lsa-1'

interface Header {
  dimensions: number
  terms: number
  /** Bytes of the terms, which are separated by line breaks. */
  termBytes: number
}

const headerBytes = 12

/**
 * Encodes a model as bytes, the same on every machine: the sizes, the rarity of each term, the scale and the
 * bytes of each direction, the terms. A direction takes one byte per number.
 */
export function encodeModel(model: LsaModel): Uint8Array {
  const terms = Buffer.from([...model.rows.keys()].join('\n'))
  const { dimensions } = model
  const amount = model.rows.size
  const bytes = Buffer.alloc(headerBytes + amount * (8 + dimensions) + terms.length)
  bytes.writeUInt32LE(dimensions, 0)
  bytes.writeUInt32LE(amount, 4)
  bytes.writeUInt32LE(terms.length, 8)
  let at = headerBytes
  for (let row = 0; row < amount; row++) {
    const direction = model.directions.subarray(row * dimensions, (row + 1) * dimensions)
    const largest = direction.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    bytes.writeFloatLE(model.rarity[row] ?? 0, at)
    bytes.writeFloatLE(largest / 127, at + 4)
    at += 8
    for (const value of direction) {
      bytes.writeInt8(largest === 0 ? 0 : Math.round((value / largest) * 127), at)
      at += 1
    }
  }
  terms.copy(bytes, at)
  return bytes
}

/** @throws if the bytes are not a complete model */
export function decodeModel(encoded: Uint8Array): LsaModel {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  const { dimensions, terms, termBytes } = readHeader(bytes)
  const rarity = new Float32Array(terms)
  const directions = new Float32Array(terms * dimensions)
  let at = headerBytes
  for (let row = 0; row < terms; row++) {
    rarity[row] = bytes.readFloatLE(at)
    const scale = bytes.readFloatLE(at + 4)
    at += 8
    for (let column = 0; column < dimensions; column++) {
      directions[row * dimensions + column] = bytes.readInt8(at) * scale
      at += 1
    }
  }
  const list = terms === 0 ? [] : bytes.toString('utf8', at, at + termBytes).split('\n')
  return { dimensions, rarity, directions, rows: new Map(list.map((term, row) => [term, row])) }
}

function readHeader(bytes: Buffer): Header {
  if (bytes.length < headerBytes) throw new Error('The model has no header')
  const header = {
    dimensions: bytes.readUInt32LE(0),
    terms: bytes.readUInt32LE(4),
    termBytes: bytes.readUInt32LE(8),
  }
  const size = headerBytes + header.terms * (8 + header.dimensions) + header.termBytes
  if (bytes.length !== size) throw new Error(`The model has ${bytes.length} bytes, not ${size}`)
  return header
}

/** Memory for the models of one process or thread. */
const maxBytes = 64 * 1024 * 1024
/** Bytes of a term in a map, besides its direction. */
const bytesPerTerm = 100

/** Decoded models in the memory of a process or thread. */
export interface ModelCache {
  /** The model of a space; undefined if the space was deleted. A model never changes. */
  get(db: Db, space: number): Promise<LsaModel | undefined>
}

/** Makes an empty cache of decoded models, at most 64 MiB. */
export function createModelCache(): ModelCache {
  const models = new LRUCache<number, LsaModel>({
    maxSize: maxBytes,
    sizeCalculation: ({ rows, directions }) => 1 + directions.byteLength + rows.size * bytesPerTerm,
  })
  return {
    async get(db, space) {
      const known = models.get(space)
      if (known !== undefined) return known
      const encoded = await findModel(db, space)
      if (encoded === undefined) return undefined
      const model = decodeModel(encoded)
      models.set(space, model)
      return model
    },
  }
}
