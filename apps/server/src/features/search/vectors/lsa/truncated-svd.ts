import { createRandom } from '../random.js'

/** The strongest directions of a matrix. */
export interface TruncatedSvd {
  /** Largest first; fewer than requested if the matrix has a lower rank. */
  singularValues: Float64Array
  /** One row per column of the matrix: the right singular vectors are its columns. */
  right: DenseMatrix
}

/** Additional directions, which improve the accuracy of the last wanted ones. */
const oversampling = 16
/** Iterations that pull the sample towards the strong directions. */
const powerIterations = 2
/** Below this share of the strongest direction, values are rounding errors. */
const negligible = 1e-6

/**
 * The strongest directions of a large sparse matrix, by random projection (Halko, Martinsson and Tropp).
 * The same matrix always gives the same result.
 */
export function truncatedSvd(matrix: SparseMatrix, rank: number): TruncatedSvd {
  const width = Math.min(rank + oversampling, matrix.rows, matrix.columns)
  let sample = multiply(matrix, randomMatrix(matrix.columns, width))
  for (let round = 0; round < powerIterations; round++) {
    const back = orthonormalize(multiplyTransposed(matrix, orthonormalize(sample)))
    sample = multiply(matrix, back)
  }
  // transpose(matrix) * basis has the singular values of the matrix, and few enough columns for
  // an exact decomposition through the small matrix of their products.
  const projected = multiplyTransposed(matrix, orthonormalize(sample))
  const { values, vectors } = symmetricEigen(gram(projected), projected.width)
  const kept = Math.min(rank, countSignificant(values))
  const turn = columnsScaled(vectors, projected.width, kept, (at) => 1 / Math.sqrt(values[at] ?? 1))
  return {
    singularValues: values.slice(0, kept).map((value) => Math.sqrt(value)),
    right: multiplyDense(projected, turn, kept),
  }
}

/** An orthonormal basis of the space that the columns span; fewer columns if they are linearly dependent. */
export function orthonormalize(matrix: DenseMatrix): DenseMatrix {
  // The second pass corrects the rounding errors of the first.
  return halfOrthonormalize(halfOrthonormalize(matrix))
}

function halfOrthonormalize(matrix: DenseMatrix): DenseMatrix {
  const { values, vectors } = symmetricEigen(gram(matrix), matrix.width)
  const kept = countSignificant(values)
  const turn = columnsScaled(vectors, matrix.width, kept, (at) => 1 / Math.sqrt(values[at] ?? 1))
  return multiplyDense(matrix, turn, kept)
}

/** The number of squared singular values, largest first, that exceed rounding errors. */
function countSignificant(squares: Float64Array): number {
  const floor = (squares[0] ?? 0) * negligible ** 2
  return squares.filter((value) => value > 0 && value > floor).length
}

function columnsScaled(
  vectors: Float64Array,
  size: number,
  count: number,
  scale: (column: number) => number,
): Float64Array {
  const scaled = new Float64Array(size * count)
  for (let column = 0; column < count; column++) {
    const factor = scale(column)
    for (let row = 0; row < size; row++) {
      scaled[row * count + column] = (vectors[row * size + column] ?? 0) * factor
    }
  }
  return scaled
}

function randomMatrix(rows: number, width: number): DenseMatrix {
  const random = createRandom(0x5eed)
  return { rows, width, values: Float32Array.from({ length: rows * width }, random.normal) }
}

/** Eigenvalues with their eigenvectors. */
export interface Eigen {
  /** Largest first. */
  values: Float64Array
  /** Row by row; the columns are the vectors, in the order of the values. */
  vectors: Float64Array
}

const maxSweeps = 30
const accuracy = 1e-14

/**
 * Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi rotations: slow for large matrices, exact
 * for those of a few hundred rows.
 *
 * @param matrix `size` times `size` numbers, row by row
 */
export function symmetricEigen(matrix: Float64Array, size: number): Eigen {
  const a = matrix.slice()
  const vectors = new Float64Array(size * size)
  for (let at = 0; at < size; at++) vectors[at * size + at] = 1
  const scale = Math.hypot(...a)
  for (let sweep = 0; sweep < maxSweeps; sweep++) {
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

/** Rotates the plane of the axes `p` and `q` so that the element between them becomes 0. */
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

/** Rows of weighted columns, compressed: row `r` has the entries `starts[r]` to `starts[r + 1]`. */
export interface SparseMatrix {
  rows: number
  columns: number
  starts: Uint32Array
  /** Column of each entry; no column twice in a row. */
  indices: Uint32Array
  values: Float32Array
}

/** Rows of `width` numbers each, one after the other. */
export interface DenseMatrix {
  rows: number
  width: number
  values: Float32Array
}

/** `matrix * right` */
function multiply(matrix: SparseMatrix, right: DenseMatrix): DenseMatrix {
  const { width } = right
  const product = zeros(matrix.rows, width)
  for (let row = 0; row < matrix.rows; row++) {
    const to = row * width
    for (let at = start(matrix, row); at < start(matrix, row + 1); at++) {
      addScaled(
        product.values,
        to,
        right.values,
        columnOf(matrix, at) * width,
        entryOf(matrix, at),
        width,
      )
    }
  }
  return product
}

/** `transpose(matrix) * right` */
function multiplyTransposed(matrix: SparseMatrix, right: DenseMatrix): DenseMatrix {
  const { width } = right
  const product = zeros(matrix.columns, width)
  for (let row = 0; row < matrix.rows; row++) {
    const from = row * width
    for (let at = start(matrix, row); at < start(matrix, row + 1); at++) {
      addScaled(
        product.values,
        columnOf(matrix, at) * width,
        right.values,
        from,
        entryOf(matrix, at),
        width,
      )
    }
  }
  return product
}

/** `matrix * right` for a right side of `width` times `count` numbers, row by row. */
function multiplyDense(matrix: DenseMatrix, right: Float64Array, count: number): DenseMatrix {
  const { width } = matrix
  const product = zeros(matrix.rows, count)
  const sums = new Float64Array(count)
  for (let row = 0; row < matrix.rows; row++) {
    sums.fill(0)
    for (let inner = 0; inner < width; inner++) {
      const factor = matrix.values[row * width + inner] ?? 0
      const from = inner * count
      for (let column = 0; column < count; column++) {
        sums[column] = (sums[column] ?? 0) + factor * (right[from + column] ?? 0)
      }
    }
    product.values.set(sums, row * count)
  }
  return product
}

/** `transpose(matrix) * matrix`: the products of the columns, row by row. */
function gram(matrix: DenseMatrix): Float64Array {
  const { width } = matrix
  const product = new Float64Array(width * width)
  for (let row = 0; row < matrix.rows; row++) {
    const from = row * width
    for (let left = 0; left < width; left++) {
      const factor = matrix.values[from + left] ?? 0
      if (factor === 0) continue
      for (let right = left; right < width; right++) {
        const at = left * width + right
        product[at] = (product[at] ?? 0) + factor * (matrix.values[from + right] ?? 0)
      }
    }
  }
  for (let left = 1; left < width; left++) {
    for (let right = 0; right < left; right++) {
      product[left * width + right] = product[right * width + left] ?? 0
    }
  }
  return product
}

function zeros(rows: number, width: number): DenseMatrix {
  return { rows, width, values: new Float32Array(rows * width) }
}

/** The inner loop of everything: `target += factor * source` for `width` numbers. */
function addScaled(
  target: Float32Array,
  to: number,
  source: Float32Array,
  from: number,
  factor: number,
  width: number,
): void {
  for (let at = 0; at < width; at++) {
    target[to + at] = (target[to + at] ?? 0) + factor * (source[from + at] ?? 0)
  }
}

function start({ starts }: SparseMatrix, row: number): number {
  return starts[row] ?? 0
}

function columnOf({ indices }: SparseMatrix, at: number): number {
  return indices[at] ?? 0
}

function entryOf({ values }: SparseMatrix, at: number): number {
  return values[at] ?? 0
}
