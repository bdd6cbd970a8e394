import { on } from 'node:events'

/** Which addresses the code may connect to. */
export interface NetworkRules {
  /** Networks such as `10.0.0.0/8` that are refused. */
  refused: readonly string[]
  /** Networks that are permitted although a refused one contains them. */
  permitted: readonly string[]
  /** Host and port of the server's interface, which may always be called. */
  api: { host: string; port: number }
}

/** What the server sends to the standard input of this program, as one line of JSON. */
export interface Order {
  /** The program: one CommonJS file. */
  code: string
  /** Compiled code, in base64, which this program returned for the same code before. */
  compiled?: string
  /** The whole environment of the code. */
  environment: Readonly<Record<string, string>>
  /** Limits of the reports of the code. */
  reports: { linesPerMinute: number; issuesPerMinute: number }
  /** Undefined if any address may be called. */
  network?: NetworkRules
}

/**
 * Reads the order. Ends this process when the input ends, because then the server has ended and nothing
 * else would stop the process.
 */
export async function readOrder(): Promise<Order> {
  process.stdin.setEncoding('utf8')
  const pieces: string[] = []
  for await (const [piece] of on(process.stdin, 'data', { close: ['end'] })) {
    const text = String(piece)
    const end = text.indexOf('\n')
    pieces.push(end === -1 ? text : text.slice(0, end))
    if (end !== -1) break
  }
  process.stdin.on('end', () => process.exit(0)).resume()
  const order: Order = JSON.parse(pieces.join(''))
  return order
}
