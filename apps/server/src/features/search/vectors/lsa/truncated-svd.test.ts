import { array, assert, double, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../random.js'
import {
  type DenseMatrix,
  orthonormalize,
  type SparseMatrix,
  symmetricEigen,
  truncatedSvd,
} from './truncated-svd.js'

function toSparse(rows: readonly (readonly number[])[]): SparseMatrix {
  const starts = new Uint32Array(rows.length + 1)
  const indices: number[] = []
  const values: number[] = []
  for (const [row, cells] of rows.entries()) {
    for (const [column, value] of cells.entries()) {
      if (value === 0) continue
      indices.push(column)
      values.push(value)
    }
    starts[row + 1] = values.length
  }
  return {
    rows: rows.length,
    columns: rows[0]?.length ?? 0,
    starts,
    indices: Uint32Array.from(indices),
    values: Float32Array.from(values),
  }
}

/** Products of the columns with each other: the identity if they are orthonormal. */
function productsOf({ rows, width, values }: DenseMatrix): number[][] {
  return Array.from({ length: width }, (_, left) =>
    Array.from({ length: width }, (_, right) => {
      let sum = 0
      for (let row = 0; row < rows; row++) {
        sum += (values[row * width + left] ?? 0) * (values[row * width + right] ?? 0)
      }
      return sum
    }),
  )
}

function expectIdentity(products: readonly (readonly number[])[]): void {
  for (const [row, cells] of products.entries()) {
    for (const [column, value] of cells.entries()) {
      expect(value).toBeCloseTo(row === column ? 1 : 0, 4)
    }
  }
}

/** A matrix of a given rank: the product of two random ones. */
function matrixOfRank(rank: number, rows: number, columns: number): number[][] {
  const { normal } = createRandom(rank)
  const draw = (count: number) => Array.from({ length: count }, normal)
  const left = Array.from({ length: rows }, () => draw(rank))
  const right = Array.from({ length: rank }, () => draw(columns))
  return left.map((factors) =>
    Array.from({ length: columns }, (_, column) =>
      factors.reduce((sum, factor, at) => sum + factor * (right[at]?.[column] ?? 0), 0),
    ),
  )
}

describe('the truncated decomposition', () => {
  it('finds the singular values of a matrix whose values are known', () => {
    // The columns are orthogonal, so their lengths are the singular values.
    const { singularValues } = truncatedSvd(
      toSparse([
        [3, 0, 0],
        [0, -5, 0],
        [0, 0, 1],
        [4, 0, 0],
      ]),
      3,
    )
    expect(singularValues[0]).toBeCloseTo(5, 4)
    expect(singularValues[1]).toBeCloseTo(5, 4)
    expect(singularValues[2]).toBeCloseTo(1, 4)
  })

  it('has orthonormal directions that reconstruct a matrix of low rank', () => {
    const cells = matrixOfRank(6, 60, 40)
    const { right, singularValues } = truncatedSvd(toSparse(cells), 10)
    expect(singularValues).toHaveLength(6)
    expectIdentity(productsOf(right))
    for (const row of cells) {
      const coordinates = Array.from({ length: right.width }, (_, direction) =>
        row.reduce(
          (sum, value, at) => sum + value * (right.values[at * right.width + direction] ?? 0),
          0,
        ),
      )
      for (const [column, value] of row.entries()) {
        const rebuilt = coordinates.reduce(
          (sum, part, direction) =>
            sum + part * (right.values[column * right.width + direction] ?? 0),
          0,
        )
        expect(rebuilt).toBeCloseTo(value, 3)
      }
    }
  })

  it('keeps the strongest directions, largest first', () => {
    const cells = Array.from({ length: 50 }, (_, row) =>
      Array.from({ length: 50 }, (_, column) => (row === column ? 50 - row : 0)),
    )
    const { singularValues } = truncatedSvd(toSparse(cells), 5)
    for (const [at, value] of singularValues.entries()) expect(value).toBeCloseTo(50 - at, 0)
  })

  it('gives the same result each time', () => {
    const matrix = toSparse(matrixOfRank(4, 30, 20))
    expect(truncatedSvd(matrix, 4)).toEqual(truncatedSvd(matrix, 4))
  })

  it('orthonormalizes any columns, fewer where they are linearly dependent', () => {
    const numbers = array(double({ min: -100, max: 100, noNaN: true }), {
      minLength: 24,
      maxLength: 24,
    })
    assert(
      property(numbers, (values) => {
        const matrix = { rows: 8, width: 3, values: Float32Array.from(values) }
        const basis = orthonormalize(matrix)
        expect(basis.width).toBeLessThanOrEqual(3)
        expectIdentity(productsOf(basis))
      }),
      { seed: 7 },
    )
    const doubled = { rows: 2, width: 2, values: Float32Array.of(1, 2, 3, 6) }
    expect(orthonormalize(doubled).width).toBe(1)
  })

  it('finds the eigenvalues of a symmetric matrix', () => {
    const { values, vectors } = symmetricEigen(Float64Array.of(2, 1, 1, 2), 2)
    expect([...values]).toEqual([expect.closeTo(3), expect.closeTo(1)])
    expect(Math.abs(vectors[0] ?? 0)).toBeCloseTo(Math.SQRT1_2)
  })
})
