export interface Eigen {
  /** Largest first. */
  values: Float64Array
  /** Row by row; the columns are the vectors, in the order of the values. */
  vectors: Float64Array
}

const maximumSweeps = 30
const accuracy = 1e-14

/**
 * Eigenvalues and vectors of a symmetric matrix, by Jacobi's rotations: slow for large matrices, exact
 * for those of a few hundred rows.
 *
 * @param matrix `size` times `size` numbers, row by row
 */
export function symmetricEigen(matrix: Float64Array, size: number): Eigen {
  const a = matrix.slice()
  const vectors = new Float64Array(size * size)
  for (let at = 0; at < size; at++) vectors[at * size + at] = 1
  const scale = Math.hypot(...a)
  for (let sweep = 0; sweep < maximumSweeps; sweep++) {
    if (offDiagonal(a, size) <= accuracy * scale) break
    for (let p = 0; p < size - 1; p++) {
      for (let q = p + 1; q < size; q++) rotate(a, vectors, size, p, q)
    }
  }
  return sorted(a, vectors, size)
}

function offDiagonal(a: Float64Array, size: number): number {
  let sum = 0
  for (let row = 0; row < size; row++) {
    for (let column = row + 1; column < size; column++) sum += (a[row * size + column] ?? 0) ** 2
  }
  return Math.sqrt(2 * sum)
}

/** Turns the plane of the axes `p` and `q` so that the element between them becomes 0. */
function rotate(a: Float64Array, vectors: Float64Array, size: number, p: number, q: number): void {
  const apq = a[p * size + q] ?? 0
  if (apq === 0) return
  const theta = ((a[q * size + q] ?? 0) - (a[p * size + p] ?? 0)) / (2 * apq)
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1))
  const cosine = 1 / Math.hypot(t, 1)
  const sine = t * cosine
  for (let row = 0; row < size; row++) mix(a, row * size + p, row * size + q, cosine, sine)
  for (let column = 0; column < size; column++) {
    mix(a, p * size + column, q * size + column, cosine, sine)
  }
  for (let row = 0; row < size; row++) mix(vectors, row * size + p, row * size + q, cosine, sine)
  a[p * size + q] = 0
  a[q * size + p] = 0
}

function mix(a: Float64Array, left: number, right: number, cosine: number, sine: number): void {
  const x = a[left] ?? 0
  const y = a[right] ?? 0
  a[left] = cosine * x - sine * y
  a[right] = sine * x + cosine * y
}

function sorted(a: Float64Array, vectors: Float64Array, size: number): Eigen {
  const diagonal = Float64Array.from({ length: size }, (_, at) => a[at * size + at] ?? 0)
  const order = [...diagonal.keys()].sort((x, y) => (diagonal[y] ?? 0) - (diagonal[x] ?? 0))
  const ordered = new Float64Array(size * size)
  for (const [to, from] of order.entries()) {
    for (let row = 0; row < size; row++) ordered[row * size + to] = vectors[row * size + from] ?? 0
  }
  return { values: Float64Array.from(order, (at) => diagonal[at] ?? 0), vectors: ordered }
}
