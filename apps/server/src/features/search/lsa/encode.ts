import type { LsaModel } from './model.js'

/** Which reading of texts and which form of models this is; models of another one are made anew. */
export const lsaEmbedder = 'lsa-1'

interface Header {
  dimensions: number
  terms: number
  /** Bytes of the terms, which are separated by line breaks. */
  termBytes: number
}

const headerBytes = 12

/**
 * A model as bytes, the same on every machine: the sizes, the rarity of each term, the scale and the
 * bytes of each direction, the terms. A direction takes a byte per number.
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

/** @throws if the bytes are not a whole model */
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
