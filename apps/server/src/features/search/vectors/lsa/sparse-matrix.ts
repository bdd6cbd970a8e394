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
export function multiply(matrix: SparseMatrix, right: DenseMatrix): DenseMatrix {
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
export function multiplyTransposed(matrix: SparseMatrix, right: DenseMatrix): DenseMatrix {
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
export function multiplyDense(
  matrix: DenseMatrix,
  right: Float64Array,
  count: number,
): DenseMatrix {
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
export function gram(matrix: DenseMatrix): Float64Array {
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
