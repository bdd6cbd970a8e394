/** A transformation of coordinates, as PDF writes it. */
export type Matrix = readonly [number, number, number, number, number, number]

export const identity: Matrix = [1, 0, 0, 1, 0, 0]

/** The transformation by `n` and then by `m`. */
export function multiply(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[2] * n[1],
    m[1] * n[0] + m[3] * n[1],
    m[0] * n[2] + m[2] * n[3],
    m[1] * n[2] + m[3] * n[3],
    m[0] * n[4] + m[2] * n[5] + m[4],
    m[1] * n[4] + m[3] * n[5] + m[5],
  ]
}

/** A transformation of six numbers; undefined if they are not. */
export function toMatrix(values: readonly unknown[]): Matrix | undefined {
  const [a, b, c, d, e, f] = values.map(Number)
  const numbers = [a, b, c, d, e, f]
  if (!numbers.every((each) => Number.isFinite(each))) return undefined
  return [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0]
}
