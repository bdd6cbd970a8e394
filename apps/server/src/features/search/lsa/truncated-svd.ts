import { createRandom } from './random.js'
import {
  type DenseMatrix,
  gram,
  multiply,
  multiplyDense,
  multiplyTransposed,
  type SparseMatrix,
} from './sparse-matrix.js'
import { symmetricEigen } from './symmetric-eigen.js'

export interface TruncatedSvd {
  /** Largest first; fewer than asked for if the matrix has a lower rank. */
  singularValues: Float64Array
  /** One row per column of the matrix: the right singular vectors are its columns. */
  right: DenseMatrix
}

/** Directions beyond those wanted, which catch what would otherwise be lost at the edge. */
const oversampling = 16
/** Rounds that pull the sample towards the strong directions. */
const powerIterations = 2
/** Below this share of the strongest direction, what is left is rounding. */
const negligible = 1e-6

/**
 * The strongest directions of a large sparse matrix, by random projection (Halko, Martinsson and Tropp).
 * The same matrix always gives the same answer.
 */
export function truncatedSvd(matrix: SparseMatrix, rank: number): TruncatedSvd {
  const width = Math.min(rank + oversampling, matrix.rows, matrix.columns)
  let sample = multiply(matrix, randomMatrix(matrix.columns, width))
  for (let round = 0; round < powerIterations; round++) {
    const back = orthonormalize(multiplyTransposed(matrix, orthonormalize(sample)))
    sample = multiply(matrix, back)
  }
  // transpose(matrix) * basis has the singular values of the matrix, and few enough columns for
  // its own decomposition by way of the small matrix of their products.
  const projected = multiplyTransposed(matrix, orthonormalize(sample))
  const { values, vectors } = symmetricEigen(gram(projected), projected.width)
  const kept = Math.min(rank, countSignificant(values))
  const turn = columnsScaled(vectors, projected.width, kept, (at) => 1 / Math.sqrt(values[at] ?? 1))
  return {
    singularValues: values.slice(0, kept).map((value) => Math.sqrt(value)),
    right: multiplyDense(projected, turn, kept),
  }
}

/** An orthonormal basis of the space that the columns span; narrower if they depend on each other. */
export function orthonormalize(matrix: DenseMatrix): DenseMatrix {
  // The second round mends what the first one lost to rounding.
  return halfOrthonormalize(halfOrthonormalize(matrix))
}

function halfOrthonormalize(matrix: DenseMatrix): DenseMatrix {
  const { values, vectors } = symmetricEigen(gram(matrix), matrix.width)
  const kept = countSignificant(values)
  const turn = columnsScaled(vectors, matrix.width, kept, (at) => 1 / Math.sqrt(values[at] ?? 1))
  return multiplyDense(matrix, turn, kept)
}

/** How many of the squared strengths, strongest first, are more than rounding. */
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
