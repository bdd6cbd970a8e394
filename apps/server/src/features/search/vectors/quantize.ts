import { createRandom } from '../lsa/random.js'

/** Signatures of shorter vectors have this many bits; longer vectors have one per number. */
const fewestBits = 256

/**
 * A vector in one byte per number. Each vector has a scale of its own, which the angle between two does
 * not feel.
 */
export function toBytes(vector: Float32Array): Uint8Array {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = largest === 0 ? 0 : 127 / largest
  const bytes = Int8Array.from(vector, (value) => Math.round(value * scale))
  return new Uint8Array(bytes.buffer)
}

/**
 * On which side of many planes a vector lies, a bit each: vectors that point the same way differ in few
 * bits. Good enough to choose those that are worth an exact look.
 */
export function toSignature(vector: Float32Array): Uint8Array {
  const signature = new Uint8Array(signatureBytes(vector.length))
  for (let bit = 0; bit < signature.length * 8; bit++) {
    if (side(vector, bit) > 0) signature[bit >> 3] = (signature[bit >> 3] ?? 0) | (1 << (bit & 7))
  }
  return signature
}

function signatureBytes(dimensions: number): number {
  return Math.floor(Math.max(dimensions, fewestBits) / 8)
}

function side(vector: Float32Array, bit: number): number {
  if (vector.length >= fewestBits) return vector[bit] ?? 0
  const normals = planes(vector.length)
  const from = bit * vector.length
  let product = 0
  for (let at = 0; at < vector.length; at++) {
    product += (vector[at] ?? 0) * (normals[from + at] ?? 0)
  }
  return product
}

const planesByDimensions = new Map<number, Float32Array>()

/** The planes are the same in every process, because signatures of all of them meet in one table. */
function planes(dimensions: number): Float32Array {
  const known = planesByDimensions.get(dimensions)
  if (known !== undefined) return known
  const random = createRandom(dimensions)
  const made = Float32Array.from({ length: fewestBits * dimensions }, random.normal)
  planesByDimensions.set(dimensions, made)
  return made
}
