import { on } from 'node:events'

/** Addresses that the code may connect to. */
export interface NetworkRules {
  /** Networks such as `10.0.0.0/8` that are refused. */
  refused: readonly string[]
  /** Networks that are permitted although a refused one contains them. */
  permitted: readonly string[]
  /** Host and port of the server's interface, which may always be called. */
  api: { host: string; port: number }
}

/** The start message, which the server sends to the standard input of this program. */
export interface Order {
  /** The program: one CommonJS file. */
  code: string
  /** Compiled code, which this program returned for the same code before. */
  compiled?: Buffer
  /** The whole environment of the code. */
  environment: Readonly<Record<string, string>>
  /** Limits of the reports of the code. */
  reports: { linesPerMinute: number; issuesPerMinute: number }
  /** Undefined if any address may be called. */
  network?: NetworkRules
}

/** The first line of the input, as JSON. So many bytes of code and of compiled code follow it, as they are. */
interface OrderHead extends Omit<Order, 'code' | 'compiled'> {
  codeBytes: number
  compiledBytes: number
}

/**
 * Reads the order. Ends this process when the input ends, because then the server has ended and nothing
 * else would stop the process.
 */
export async function readOrder(): Promise<Order> {
  const pieces: Buffer[] = []
  let size = 0
  let head: OrderHead | undefined
  let start = 0
  let wanted = Number.POSITIVE_INFINITY
  for await (const [piece] of on(process.stdin, 'data', { close: ['end'] })) {
    pieces.push(piece)
    size += piece.length
    if (head === undefined) {
      const begin = Buffer.concat(pieces)
      const end = begin.indexOf('\n')
      if (end === -1) continue
      head = JSON.parse(begin.toString('utf8', 0, end)) as OrderHead
      start = end + 1
      wanted = start + head.codeBytes + head.compiledBytes
    }
    if (size >= wanted) break
  }
  process.stdin.on('end', () => process.exit(0)).resume()
  // The input ended before the order did.
  if (head === undefined || size < wanted) process.exit(0)
  const { codeBytes, compiledBytes, ...rest } = head
  const all = Buffer.concat(pieces)
  const codeEnd = start + codeBytes
  return {
    ...rest,
    code: all.toString('utf8', start, codeEnd),
    ...(compiledBytes > 0 && { compiled: all.subarray(codeEnd, codeEnd + compiledBytes) }),
  }
}
