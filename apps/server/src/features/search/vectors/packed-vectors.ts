import { createVectorTable, type VectorTable } from './dot-products.js'
import { createRandom } from './random.js'
import type { Neighbour } from './vector-index.js'

/** Many vectors of one byte per number in one buffer, so that all are compared in one pass. */
export interface PackedVectors {
  /** Memory in bytes. */
  readonly bytes: number
  readonly size: number
  /** Adds a vector, or replaces it. */
  set(number: number, vector: Uint8Array): void
  /** The vectors with the highest cosine, nearest first. */
  nearest(vector: Uint8Array, limit: number): Neighbour[]
}

/** Additional bytes per vector: its number, its length, and its entry in a map. */
export const bytesPerEntry = 64
const minVectors = 64

/** Number of vectors from which the speed of their comparison matters. */
export const manyVectors = 4096

/**
 * @param dimensions numbers of each vector
 * @param expected vectors for which there is room from the beginning
 */
export function createPackedVectors(dimensions: number, expected = 0): PackedVectors {
  const slots = new Map<number, number>()
  let table = toTable(dimensions, Math.max(minVectors, expected))
  let numbers = new Float64Array(Math.max(minVectors, expected))
  /** The reciprocal length of each vector; 0 for a zero vector. */
  let scales = new Float64Array(numbers.length)

  function reserve(amount: number): void {
    if (amount <= numbers.length) return
    const capacity = Math.ceil(amount * 1.25)
    const larger = toTable(dimensions, capacity)
    copyVectors(table, larger, slots.size)
    table = larger
    numbers = grown(numbers, new Float64Array(capacity))
    scales = grown(scales, new Float64Array(capacity))
  }

  return {
    get bytes() {
      return numbers.length * (table.stride + bytesPerEntry)
    },
    get size() {
      return slots.size
    },
    set(number, vector) {
      const slot = slots.get(number) ?? slots.size
      reserve(slot + 1)
      slots.set(number, slot)
      const signed = new Int8Array(vector.buffer, vector.byteOffset, vector.length)
      table.values.set(signed, slot * table.stride)
      numbers[slot] = number
      scales[slot] = scaleOf(signed)
    },
    nearest(vector, limit) {
      const amount = slots.size
      const question = new Int8Array(vector.buffer, vector.byteOffset, vector.length)
      const products = table.multiply(question, amount)
      return largest({ products, scales, numbers, amount }, scaleOf(question), limit)
    },
  }
}

function toTable(dimensions: number, capacity: number): VectorTable {
  const fast = capacity < manyVectors ? undefined : createVectorTable(dimensions, capacity)
  if (fast !== undefined) return fast
  const values = new Int8Array(capacity * dimensions)
  const products = new Int32Array(capacity)
  return {
    values,
    stride: dimensions,
    multiply(vector, amount) {
      multiply(values, vector, products, amount)
      return products
    },
  }
}

function copyVectors(from: VectorTable, to: VectorTable, amount: number): void {
  if (from.stride === to.stride) {
    to.values.set(from.values.subarray(0, amount * from.stride))
    return
  }
  const width = Math.min(from.stride, to.stride)
  for (let slot = 0; slot < amount; slot++) {
    const begin = slot * from.stride
    to.values.set(from.values.subarray(begin, begin + width), slot * to.stride)
  }
}

/** The inner products of one vector with many: whole numbers, each factor read once for four vectors. */
function multiply(many: Int8Array, one: Int8Array, products: Int32Array, amount: number): void {
  const width = one.length
  const factors = Int32Array.from(one)
  const inFours = amount - (amount % 4)
  let row = 0
  for (; row < inFours; row += 4) {
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    let at = row * width
    for (let column = 0; column < width; column++, at++) {
      const factor = factors[column] ?? 0
      // Without "or 0" the sums would be floating-point numbers, which are slower.
      a = (a + Math.imul(many[at] ?? 0, factor)) | 0
      b = (b + Math.imul(many[at + width] ?? 0, factor)) | 0
      c = (c + Math.imul(many[at + 2 * width] ?? 0, factor)) | 0
      d = (d + Math.imul(many[at + 3 * width] ?? 0, factor)) | 0
    }
    products[row] = a
    products[row + 1] = b
    products[row + 2] = c
    products[row + 3] = d
  }
  for (; row < amount; row++) {
    let sum = 0
    for (let column = 0; column < width; column++) {
      sum += Math.imul(many[row * width + column] ?? 0, factors[column] ?? 0)
    }
    products[row] = sum
  }
}

interface Products {
  products: Int32Array
  /** The reciprocal length of each vector. */
  scales: Float64Array
  numbers: Float64Array
  amount: number
}

/** The highest cosines with their numbers, sorted; those that cannot be among them are not sorted. */
function largest(
  { products, scales, numbers, amount }: Products,
  scale: number,
  limit: number,
): Neighbour[] {
  const kept: Neighbour[] = []
  let least = Number.NEGATIVE_INFINITY
  const cut = () => {
    kept.sort((a, b) => b.similarity - a.similarity || a.number - b.number)
    kept.length = Math.min(kept.length, limit)
    if (kept.length === limit) least = kept.at(-1)?.similarity ?? least
  }
  for (let slot = 0; slot < amount; slot++) {
    const similarity = (products[slot] ?? 0) * (scales[slot] ?? 0) * scale
    if (similarity < least) continue
    kept.push({ number: numbers[slot] ?? 0, similarity })
    if (kept.length >= limit * 4) cut()
  }
  cut()
  return kept
}

function scaleOf(vector: Int8Array): number {
  let sum = 0
  for (const value of vector) sum += value * value
  return sum === 0 ? 0 : 1 / Math.sqrt(sum)
}

function grown(
  old: Float64Array<ArrayBuffer>,
  larger: Float64Array<ArrayBuffer>,
): Float64Array<ArrayBuffer> {
  larger.set(old)
  return larger
}

/** Signatures of shorter vectors have this many bits; longer vectors have one bit per number. */
const minBits = 256

/**
 * A vector with one byte per number. Each vector has a scale of its own, which does not affect
 * cosines.
 */
export function toBytes(vector: Float32Array): Uint8Array {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = largest === 0 ? 0 : 127 / largest
  const bytes = Int8Array.from(vector, (value) => Math.round(value * scale))
  return new Uint8Array(bytes.buffer)
}

/**
 * The side of many planes on which a vector lies, one bit each: vectors with a similar direction differ in few
 * bits. Precise enough to select candidates for an exact comparison.
 */
export function toSignature(vector: Float32Array): Uint8Array {
  const signature = new Uint8Array(signatureBytes(vector.length))
  for (let bit = 0; bit < signature.length * 8; bit++) {
    if (side(vector, bit) > 0) signature[bit >> 3] = (signature[bit >> 3] ?? 0) | (1 << (bit & 7))
  }
  return signature
}

function signatureBytes(dimensions: number): number {
  return Math.floor(Math.max(dimensions, minBits) / 8)
}

function side(vector: Float32Array, bit: number): number {
  if (vector.length >= minBits) return vector[bit] ?? 0
  const normals = planes(vector.length)
  const from = bit * vector.length
  let product = 0
  for (let at = 0; at < vector.length; at++) {
    product += (vector[at] ?? 0) * (normals[from + at] ?? 0)
  }
  return product
}

const planesByDimensions = new Map<number, Float32Array>()

/** The planes are the same in every process, because all processes write signatures to the same table. */
function planes(dimensions: number): Float32Array {
  const known = planesByDimensions.get(dimensions)
  if (known !== undefined) return known
  const random = createRandom(dimensions)
  const made = Float32Array.from({ length: minBits * dimensions }, random.normal)
  planesByDimensions.set(dimensions, made)
  return made
}
